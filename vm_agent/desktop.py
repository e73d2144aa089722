"""A desktop of its own: X server, session bus, accessibility bus and registry, window manager.

The buses activate no services: a program could otherwise make the bus start a process of its choice beside
the daemon. Programs find the accessibility bus by the root window's AT_SPI_BUS property alone: Qt 5 connects
twice, and half the time fails to register, when it meets org.a11y.Bus on the session bus as well.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, Iterator, Optional, Sequence, TypeVar

from Xlib import error as xerror

from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_vm_agent.accessibility import Accessibility
from sci_gym_vm_agent.cells import RUNTIME, Cell, CellPlan, exit_code, start_cell
from sci_gym_vm_agent.clipboard import Clipboard
from sci_gym_vm_agent.damage import Rectangle
from sci_gym_vm_agent.display import Display
from sci_gym_vm_agent.errors import PartUnavailable
from sci_gym_vm_agent.health import Health
from sci_gym_vm_agent.programs import Programs
from sci_gym_vm_agent.rest import Rest
from sci_gym_vm_agent.screen import Screen
from sci_gym_vm_agent.settle import Activity, DamageWatch, cells

T = TypeVar("T")
START_S = 20.0
_DISPLAY_CALL_S = 8.0
_SCREEN_DEPTH = 24
_REGISTRYD = ("/usr/libexec/at-spi2-registryd", "/usr/lib/at-spi2-core/at-spi2-registryd")
_BUS_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type><listen>unix:path={path}</listen><auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/><allow user="*"/>
  </policy>
  <limit name="max_incoming_bytes">1000000000</limit><limit name="max_outgoing_bytes">1000000000</limit>
  <limit name="max_message_size">100000000</limit><limit name="max_replies_per_connection">50000</limit>
  <limit name="max_match_rules_per_connection">50000</limit>
  <limit name="max_completed_connections">10000</limit>
</busconfig>
"""
_WINDOW_MANAGER_CONFIG = """<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
  <focus><focusNew>yes</focusNew></focus>
  <theme><name>Clearlooks</name><animateIconify>no</animateIconify></theme>
  <desktops><number>1</number></desktops>
  <keyboard><keybind key="A-F4"><action name="Close"/></keybind>
    <keybind key="A-Tab"><action name="NextWindow"/></keybind></keyboard>
  <mouse>
    <context name="Titlebar">
      <mousebind button="Left" action="Drag"><action name="Move"/></mousebind></context>
    <context name="Client">
      <mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
    </context>
    <context name="Close">
      <mousebind button="Left" action="Click"><action name="Close"/></mousebind></context>
    <context name="Maximize">
      <mousebind button="Left" action="Click"><action name="ToggleMaximize"/></mousebind></context>
  </mouse>
  <applications><application type="normal"><maximized>yes</maximized></application></applications>
</openbox_config>
"""

# A steady caret: the same state gives the same pixels, and an idle screen is at rest.
_SETTINGS = {
    "openbox/rc.xml": _WINDOW_MANAGER_CONFIG,
    "openbox/menu.xml": '<openbox_menu xmlns="http://openbox.org/3.4/menu"/>\n',
    "kdeglobals": "[KDE]\nCursorBlinkRate=0\n",
    "gtk-3.0/settings.ini": "[Settings]\ngtk-cursor-blink=false\ngtk-enable-animations=false\n",
}


class Desktop:
    """The desktop's parts, and the thread that talks to its X server."""

    def __init__(
        self, root: Path, width: int, height: int, max_processes: int, frame_fd: Optional[int] = None
    ) -> None:
        """Plan a desktop whose files live below `root`; `start` brings it up.

        Args:
            root: folder of all its files.
            width: of the screen, in pixels.
            height: of the screen, in pixels.
            max_processes: of each cell, threads included.
            frame_fd: memory for frames that the host maps as well; it is closed once it is mapped.
        """
        self._root, self._size = root, (width, height)
        self.home, self._tmp = root / "home", root / "tmp"
        self._preloads = root / "preloads"
        self._max_processes, self._frame_fd = max_processes, frame_fd
        self.activity = Activity()
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        self._window_manager: Optional[Cell] = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="display")
        self.rest = Rest()
        self.display_lost = False

    async def start(self) -> None:
        """Bring every part up; each is waited for by its own sign of readiness."""
        for folder in (self.home, self._tmp, self._preloads, Path(RUNTIME), Path("/tmp/.X11-unix")):
            folder.mkdir(parents=True, exist_ok=True)
        self.name = await self._start_x()
        session = await self._start_bus("session bus", "bus")
        at_spi = await self._start_bus("accessibility bus", "at-spi")
        self.display: Display = await self.call(Display, self.name)
        self._screen: Screen = await self.call(
            Screen, self.name, self.display.root.id, self.display.width, self.display.height, self._frame_fd
        )
        await self.call(self.display.set_root_text, "AT_SPI_BUS", at_spi)
        self.clipboard = Clipboard(self.name)
        self.accessibility = Accessibility(at_spi, self._changed)
        await self.accessibility.connect()
        await self._start_registry(session, at_spi)
        self._damage = DamageWatch(self.name, self._damaged, self._lost)
        self.plan = self._plan_cells(session, at_spi)
        self.programs = Programs(self.plan, self.accessibility, self.activity)
        await self._start_window_manager()
        self.health = Health(self._parts, self._sockets(), self.accessibility, self.programs)

    async def stop(self) -> None:
        """End every program, then every part."""
        await self.programs.end_all()
        if self._window_manager is not None:
            await self._window_manager.end(0)
        for process in self._processes.values():
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call the X server from its own thread, with a deadline.

        Raises:
            PartUnavailable: the X server is gone or does not answer.
        """
        loop = asyncio.get_running_loop()
        try:
            return await asyncio.wait_for(
                loop.run_in_executor(self._thread, function, *arguments), _DISPLAY_CALL_S
            )
        except asyncio.TimeoutError:
            raise PartUnavailable(
                "display", f"the X server did not answer within {_DISPLAY_CALL_S} s"
            ) from None
        except (xerror.ConnectionClosedError, OSError) as error:
            raise PartUnavailable("display", f"the X server is gone: {error}") from error

    def grab(self, request: pb.ObserveRequest, reply: pb.Observation) -> None:
        """Put the screen, if it is asked for, and the pointer into `reply`; call it through `call`."""
        if request.screenshot:
            self._screen.draw(reply.screenshot, request)
        reply.pointer.CopyFrom(self.display.pointer())

    def _parts(self) -> Iterator[tuple[str, int, Optional[int]]]:
        """Each part's name, process id and exit code, those first without which others die as well."""
        for name, process in self._processes.items():
            yield name, process.pid, process.returncode
        manager = self._window_manager
        if manager is not None:
            code = manager.process.returncode
            yield "window manager", manager.main_pid() or 0, None if code is None else exit_code(code)

    def _sockets(self) -> dict[str, Path]:
        display = Path("/tmp/.X11-unix") / f"X{self.name.lstrip(':')}"
        session, at_spi = self.plan.sockets
        return {"display": display, "session bus": session, "accessibility bus": at_spi}

    async def changed_since_read(self) -> list[Rectangle]:
        """Where pixels changed since this was last called."""
        return await self.call(self._screen.changed_since_read)

    def _changed(self, place: tuple[str, str]) -> None:
        self.activity.notice([place])

    def _damaged(self, area: Rectangle) -> None:
        self.activity.notice(cells(area))

    def _lost(self) -> None:
        self.display_lost = True
        self.activity.notice()

    async def _start_x(self) -> str:
        read_end, write_end = os.pipe()
        width, height = self._size
        screen = ["-screen", "0", f"{width}x{height}x{_SCREEN_DEPTH}", "-nolisten", "tcp", "-noreset", "-ac"]
        await self._spawn("display", ["Xvfb", "-displayfd", str(write_end), *screen], write_end)
        return f":{await _read_line('display', read_end)}"

    async def _start_bus(self, part: str, name: str) -> str:
        path = Path(RUNTIME) / name
        config = self._root / f"{name}.conf"
        config.write_text(_BUS_CONFIG.format(path=path))
        read_end, write_end = os.pipe()
        command = ["dbus-daemon", f"--config-file={config}", "--nofork", f"--print-address={write_end}"]
        await self._spawn(part, command, write_end)
        return (await _read_line(part, read_end)).split(",")[0]

    async def _start_registry(self, session: str, at_spi: str) -> None:
        binary = next((path for path in _REGISTRYD if os.path.exists(path)), _REGISTRYD[0])
        env = {"DBUS_SESSION_BUS_ADDRESS": session, "AT_SPI_BUS_ADDRESS": at_spi, "DISPLAY": self.name}
        await self._spawn("accessibility registry", [binary], None, env)
        await _within("accessibility registry", self.accessibility.wait_for_registry())

    async def _start_window_manager(self) -> None:
        for name, text in _SETTINGS.items():
            path = self.home / ".config" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self._window_manager = await start_cell(self.plan, ["openbox", "--sm-disable"], {})
        loop = asyncio.get_running_loop()
        end = loop.time() + START_S
        while not await self.call(self.display.has_window_manager):
            if loop.time() > end or not self._window_manager.running:
                raise PartUnavailable("window manager", "openbox did not come up; apt-get install openbox")
            await self.activity.next_change(0.02)

    def _plan_cells(self, session: str, at_spi: str) -> CellPlan:
        env = {
            "HOME": "/home/user",
            "USER": "user",
            "LOGNAME": "user",
            "SHELL": "/bin/bash",
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/games",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "DISPLAY": self.name,
            "XDG_RUNTIME_DIR": RUNTIME,
            "DBUS_SESSION_BUS_ADDRESS": session,
            "AT_SPI_BUS_ADDRESS": at_spi,
            "XCURSOR_SIZE": "24",
            "QT_HASH_SEED": "0",  # or lists come in another order each time
            "XDG_CURRENT_DESKTOP": "KDE",
            "KDE_SESSION_VERSION": "5",
        }
        sockets = [Path(RUNTIME) / "bus", Path(RUNTIME) / "at-spi"]
        return CellPlan(self.home, self._tmp, sockets, env, self._max_processes, self._preloads)

    async def _spawn(
        self,
        part: str,
        command: Sequence[str],
        write_end: Optional[int],
        env: Optional[dict[str, str]] = None,
    ) -> None:
        try:
            self._processes[part] = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                env={**os.environ, **(env or {})},
                pass_fds=() if write_end is None else (write_end,),
            )
        except FileNotFoundError as error:
            raise PartUnavailable(part, f"{command[0]} is not installed in the guest") from error
        finally:
            if write_end is not None:
                os.close(write_end)


async def _within(part: str, awaitable: Any) -> Any:
    try:
        return await asyncio.wait_for(awaitable, START_S)
    except asyncio.TimeoutError:
        raise PartUnavailable(part, f"did not come up within {START_S} s") from None


async def _read_line(part: str, descriptor: int) -> str:
    """Read the line that a part writes to a descriptor when it is ready."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", 0)
    )
    try:
        line: bytes = await _within(part, reader.readline())
    finally:
        transport.close()
    if not line:
        raise PartUnavailable(part, "ended before it was ready")
    return line.decode().strip()
