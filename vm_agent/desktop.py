"""A desktop of its own: X server, session bus, accessibility bus and registry, window manager.

The buses activate no services: a program could otherwise make the bus start a process of its choice beside
the daemon. Programs find the accessibility bus by the root window's AT_SPI_BUS property alone: Qt 5 connects
twice, and half the time fails to register, when it meets org.a11y.Bus on the session bus as well.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, Iterator, Optional, Sequence, TypeVar

from Xlib import error as xerror

from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_vm_agent.accessibility import Accessibility
from sci_gym_vm_agent.cells import Cell, CellPlan, exit_code, start_cell
from sci_gym_vm_agent.clipboard import Clipboard
from sci_gym_vm_agent.damage import Rectangle
from sci_gym_vm_agent.display import Display, Window
from sci_gym_vm_agent.errors import PartUnavailable
from sci_gym_vm_agent.health import Health
from sci_gym_vm_agent.parts import RUNTIME, START_S, Parts, within
from sci_gym_vm_agent.programs import Programs
from sci_gym_vm_agent.rest import Rest
from sci_gym_vm_agent.screen import Screen
from sci_gym_vm_agent.settle import Activity, DamageWatch, cells

T = TypeVar("T")
_DISPLAY_CALL_S = 8.0
# Each press brings the next of all windows to the front at once: a list to choose from would wait for Alt to
# be released, which comes too early for openbox when keys are pressed as fast as they are here.
_RING = "<interactive>no</interactive><linear>yes</linear><raise>yes</raise>"
_WINDOW_MANAGER_CONFIG = """<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
  <focus><focusNew>yes</focusNew></focus>
  <theme><name>Clearlooks</name><animateIconify>no</animateIconify></theme>
  <desktops><number>1</number></desktops>
  <keyboard><keybind key="A-F4"><action name="Close"/></keybind>
    <keybind key="A-Tab"><action name="NextWindow">%s</action></keybind>
    <keybind key="A-S-Tab"><action name="PreviousWindow">%s</action></keybind></keyboard>
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
""" % (2 * (_RING,))

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
        self, parts: Parts, root: Path, max_processes: int, *,
        network: bool, frame_fd: Optional[int] = None, shown: Sequence[Path] = (),
    ) -> None:  # fmt: skip
        """Plan a desktop; `start` brings it up.

        Args:
            parts: its X server and buses, started.
            root: folder of all its files.
            max_processes: of each cell, threads included.
            network: cells share this machine's.
            frame_fd: memory for frames that the host maps as well; it is closed once it is mapped.
            shown: folders that cells see beside the distribution's own, read only.
        """
        self._base = parts
        self._processes = parts.processes
        self.home, self._tmp = root / "home", root / "tmp"
        self._preloads = root / "preloads"
        self._max_processes, self._network, self._frame_fd = max_processes, network, frame_fd
        self._shown = shown
        self.activity = Activity()
        self._window_manager: Optional[Cell] = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="display")
        self.rest = Rest()
        self.display_lost = False

    async def start(self) -> None:
        """Bring every part up; each is waited for by its own sign of readiness."""
        for folder in (self.home, self._tmp, self._preloads):
            folder.mkdir(parents=True, exist_ok=True)
        session = await self._base.address("session bus")
        at_spi = await self._base.address("accessibility bus")
        self.name = f":{await self._base.address('display')}"
        self.display: Display = await self.call(Display, self.name)
        self._screen: Screen = await self.call(
            Screen, self.name, self.display.root.id, self.display.width, self.display.height,
            self.display.depth, self._frame_fd,
        )  # fmt: skip
        await self.call(self.display.set_root_text, "AT_SPI_BUS", at_spi)
        self.clipboard = Clipboard(self.name)
        self.accessibility = Accessibility(at_spi, self._changed)
        self._damage = DamageWatch(self.name, self._damaged, self._lost)
        self.plan = self._plan_cells(session, at_spi)
        self.programs = Programs(self.plan, self.accessibility, self.activity)
        await asyncio.gather(self._start_registry(session, at_spi), self._start_window_manager())
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

    def grab(self, request: pb.ObserveRequest, reply: pb.Observation) -> tuple[list[Rectangle], list[Window]]:
        """Put the screen, if it is asked for, and the pointer into `reply`; call it through `call`.

        Returns:
            Where pixels changed since the tree was read, unless the tree is not read or read anew; the
            windows.
        """
        self._screen.look()
        if request.screenshot:
            self._screen.draw(reply.screenshot, request)
        reply.pointer.CopyFrom(self.display.pointer())
        keeps = request.tree != pb.ObserveRequest.TREE_NONE and not request.fresh_tree
        return self._screen.take_unread() if keeps else [], self.display.windows()

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

    def _changed(self, place: tuple[str, str]) -> None:
        self.activity.notice([place])

    def _damaged(self, area: Rectangle) -> None:
        self.activity.notice(cells(area))

    def _lost(self) -> None:
        self.display_lost = True
        self.activity.notice()

    async def _start_registry(self, session: str, at_spi: str) -> None:
        await self.accessibility.connect()
        env = {"DBUS_SESSION_BUS_ADDRESS": session, "AT_SPI_BUS_ADDRESS": at_spi, "DISPLAY": self.name}
        await self._base.start_registry(env)
        await within("accessibility registry", self.accessibility.wait_for_registry())

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
        return CellPlan(
            self.home, self._tmp, sockets, env, self._max_processes, self._preloads, self._network,
            self._shown,
        )  # fmt: skip
