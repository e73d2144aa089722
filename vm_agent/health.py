"""Which part of the desktop is dead, stopped or silent.

A dead part tells of itself; a stopped one only lets its callers wait. So while a call is under way, the state
of every part's process is looked at now and then, and a call that fails is explained by asking each part.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path
from typing import Any, Awaitable, Callable, Iterator, Optional, TypeVar

from sci_gym_vm_agent.accessibility import Accessibility
from sci_gym_vm_agent.errors import PartUnavailable, TooLate
from sci_gym_vm_agent.programs import Programs

T = TypeVar("T")
DIAGNOSIS_S = 3.0
_WATCH_S = 0.5
_ANSWER_S = 1.0
_X_HELLO, _X_WELCOME = b"l\0\x0b\0\0\0\0\0\0\0\0\0", b"\1"
_BUS_HELLO, _BUS_WELCOME = b"\0AUTH EXTERNAL %s\r\n", b"OK"
Processes = Callable[[], Iterator[tuple[str, int, Optional[int]]]]


class Health:
    """The health of one desktop's parts."""

    def __init__(
        self,
        processes: Processes,
        sockets: dict[str, Path],
        accessibility: Accessibility,
        programs: Programs,
    ) -> None:
        """Look at a desktop.

        Args:
            processes: name, process id and exit code (None while it runs) of each part.
            sockets: of the parts that greet who connects to them, by name.
            accessibility: asks the registry and the programs.
            programs: those that were launched.
        """
        self._processes, self._sockets = processes, sockets
        self._accessibility, self._programs = accessibility, programs

    def faults(self) -> dict[str, str]:
        """What is wrong with the parts that are dead or stopped, and with programs that are stopped."""
        found = {}
        for name, pid, code in self._processes():
            if code is not None:
                found[name] = f"ended with {code}"
            elif _is_stopped(pid):
                found[name] = "its process is stopped"
        for program in self._programs:
            if program.running and _is_stopped(program.main_pid):
                found[program.request.name] = "its process is stopped"
        return found

    def check(self) -> None:
        """Raise PartUnavailable for the first part that is dead or stopped."""
        for name, what in self.faults().items():
            raise PartUnavailable(name, what)

    async def watch(self) -> PartUnavailable:
        """Return when a part stays dead or stopped."""
        before: dict[str, str] = {}
        while True:
            await asyncio.sleep(_WATCH_S)
            found = self.faults()
            for name, what in found.items():
                if name in before:
                    return PartUnavailable(name, what)
            before = found

    async def diagnose(self) -> Optional[PartUnavailable]:
        """Return what explains a call that failed or did not end; None when every part answers in time."""
        for name, what in (await self.report()).items():
            if what:
                return PartUnavailable(name, what)
        return None

    async def report(self) -> dict[str, str]:
        """Return what is wrong with each part and each program, "" for nothing."""
        report = {name: "" for name, _, _ in self._processes()}
        report.update({one.request.name: "" for one in self._programs if one.running})
        greeted = await asyncio.gather(
            *(_in_time(_greet(name, path)) for name, path in self._sockets.items())
        )
        silent = [name for name, greets in zip(self._sockets, greeted) if not greets]
        report.update(dict.fromkeys(silent or await self._silent_programs(), "does not answer"))
        report.update(self.faults())
        return report

    async def guard(self, left_s: float, function: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        """Call a function while every part is watched.

        Args:
            left_s: until the caller's deadline, the time to find the part that is to blame included.
            function: what to call.
            arguments: of it.

        Raises:
            PartUnavailable: a part is dead, stopped, or does not answer within the deadline.
        """
        task = asyncio.ensure_future(function(*arguments))
        watch = asyncio.ensure_future(self.watch())
        limit = max(left_s - DIAGNOSIS_S, left_s / 2)
        try:
            await asyncio.wait({task, watch}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            if watch.done():
                raise watch.result()
            raise TooLate(f"not done within {limit:.1f} s")
        except (PartUnavailable, TooLate) as error:
            raise (await self.diagnose() or error) from error
        finally:
            task.cancel()
            watch.cancel()

    async def _silent_programs(self) -> list[str]:
        try:
            applications = await asyncio.wait_for(self._accessibility.applications(), _ANSWER_S)
        except (asyncio.TimeoutError, PartUnavailable):
            return ["accessibility registry"]
        names = {root: self._programs.named(pid) for root, pid in applications}
        own = {root: name for root, name in names.items() if name is not None}
        answered = await asyncio.gather(*(_in_time(self._accessibility.answer([root])) for root in own))
        return [name for name, answers in zip(own.values(), answered) if not answers]


def _is_stopped(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] == "T"


async def _greet(part: str, socket: Path) -> None:
    """Connect as a client would, and wait for the first word of the answer."""
    uid = str(os.getuid()).encode().hex().encode()
    hello, welcome = (_X_HELLO, _X_WELCOME) if part == "display" else (_BUS_HELLO % uid, _BUS_WELCOME)
    reader, writer = await asyncio.open_unix_connection(str(socket))
    try:
        writer.write(hello)
        if await reader.readexactly(len(welcome)) != welcome:
            raise OSError(f"{part} refuses connections")
    finally:
        writer.close()


async def _in_time(answer: Awaitable[object]) -> bool:
    with contextlib.suppress(asyncio.TimeoutError, OSError, EOFError, PartUnavailable):
        await asyncio.wait_for(answer, _ANSWER_S)
        return True
    return False
