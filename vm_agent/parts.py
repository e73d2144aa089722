"""The desktop's own processes. Light to import: they start while the daemon loads the rest of itself."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any, Optional, Sequence

from sci_gym_vm_agent.errors import PartUnavailable

START_S = 20.0
RUNTIME = "/run/user/1000"
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


class Parts:
    """X server, session bus, accessibility bus, and its registry."""

    def __init__(self, root: Path, width: int, height: int) -> None:
        """Plan them; the buses' configuration goes below `root`."""
        self._root, self._size = root, (width, height)
        self._ready: dict[str, int] = {}
        self.processes: dict[str, asyncio.subprocess.Process] = {}

    async def start(self) -> None:
        """Start the X server and the buses, and do not wait for them."""
        for folder in (self._root, Path(RUNTIME), Path("/tmp/.X11-unix")):
            folder.mkdir(parents=True, exist_ok=True)
        width, height = self._size
        screen = ["-screen", "0", f"{width}x{height}x{_SCREEN_DEPTH}", "-nolisten", "tcp", "-noreset", "-ac"]
        await self._announced("display", ["Xvfb", *screen, "-displayfd"], "{}")
        for part, name in (("session bus", "bus"), ("accessibility bus", "at-spi")):
            config = self._root / f"{name}.conf"
            config.write_text(_BUS_CONFIG.format(path=Path(RUNTIME) / name))
            command = ["dbus-daemon", f"--config-file={config}", "--nofork"]
            await self._announced(part, command, "--print-address={}")

    async def address(self, part: str) -> str:
        """What a part says when it is ready: a bus its address, the X server its number.

        Raises:
            PartUnavailable: it ended, or said nothing in time.
        """
        line = await _read_line(part, self._ready.pop(part))
        return line.split(",")[0]

    async def start_registry(self, env: "dict[str, str]") -> None:
        """Start the accessibility registry."""
        binary = next((path for path in _REGISTRYD if os.path.exists(path)), _REGISTRYD[0])
        await self._spawn("accessibility registry", [binary], env=env)

    async def _announced(self, part: str, command: Sequence[str], option: str) -> None:
        """Start a part that writes a line to a descriptor when it is ready."""
        self._ready[part], write_end = os.pipe()
        try:
            await self._spawn(part, [*command, option.format(write_end)], write_end)
        finally:
            os.close(write_end)

    async def _spawn(
        self,
        part: str,
        command: Sequence[str],
        write_end: Optional[int] = None,
        env: "Optional[dict[str, str]]" = None,
    ) -> None:
        try:
            self.processes[part] = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                env={**os.environ, **(env or {})},
                pass_fds=() if write_end is None else (write_end,),
            )
        except FileNotFoundError as error:
            raise PartUnavailable(part, f"{command[0]} is not installed in the guest") from error


async def within(part: str, awaitable: Any) -> Any:
    """Await a part's readiness within its deadline."""
    try:
        return await asyncio.wait_for(awaitable, START_S)
    except asyncio.TimeoutError:
        raise PartUnavailable(part, f"did not come up within {START_S} s") from None


async def _read_line(part: str, descriptor: int) -> str:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", 0)
    )
    try:
        line: bytes = await within(part, reader.readline())
    finally:
        transport.close()
    if not line:
        raise PartUnavailable(part, "ended before it was ready")
    return line.decode().strip()
