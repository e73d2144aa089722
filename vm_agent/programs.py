"""Programs: launched in cells, checked for registration with the accessibility bus, ended and reaped."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import socket
from typing import Mapping, Optional

from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_vm_agent.accessibility import Accessibility, Applications
from sci_gym_vm_agent.cells import Cell, CellPlan, check_command, exit_code, start_cell
from sci_gym_vm_agent.errors import InvalidArgument, LimitExceeded, NotFound, PartUnavailable
from sci_gym_vm_agent.preloads import Preloads, check_preload
from sci_gym_vm_agent.settle import Activity
from sci_gym_vm_agent.tree import Root, Roots
from sci_gym_vm_agent.witness import VARIABLE, Witness

MAX_PROGRAMS = 32
_STDERR_BYTES = 4096
_STATE_SUBJECTS = 1000
_STATE_LINE_BYTES = 65_536
_CHECK_S = 0.25
_NAME = re.compile(r"[\w .+-]{1,64}", re.ASCII)  # it stands in metadata when the program fails


class RunningProgram:
    """One launched program and what it has reported."""

    def __init__(self, program_id: int, request: pb.LaunchRequest) -> None:
        """Remember what was asked for; `start` starts it."""
        self.id = program_id
        self.request = request
        self.cell: Optional[Cell] = None
        self._main_pid = 0
        self.launches = 0
        self.note = ""
        self.state: dict[str, str] = {}
        self._stderr = bytearray()
        self._witness: Optional[Witness] = None
        self._readers: list[asyncio.Task[None]] = []

    @property
    def running(self) -> bool:
        """Whether its main process lives."""
        return self.cell is not None and self.cell.running

    @property
    def main_pid(self) -> int:
        """The process id of its main process, 0 before that starts."""
        if not self._main_pid and self.cell is not None:
            self._main_pid = self.cell.main_pid() or 0
        return self._main_pid

    @property
    def item_changes(self) -> Optional[int]:
        """How often what its lists and tables hold has changed; None where it does not count that."""
        return self._witness.count if self._witness is not None else None

    async def start(self, plan: CellPlan, preload: Mapping[str, str]) -> None:
        """Start it in a new cell, with what it loads first and the channels of that."""
        self.launches += 1
        self._main_pid = 0
        self.state.clear()
        # Sockets, which unlike a pipe cannot be opened anew below /proc by what else runs in the cell.
        read_end, write_end = (end.detach() for end in socket.socketpair())
        witness = Witness()
        env = {**self.request.env, **preload, VARIABLE: str(witness.descriptor)}
        if self.request.preload_c or self.request.preload_py:
            env["SCI_GYM_STATE_FD"] = str(write_end)
        try:
            self.cell = await start_cell(
                plan, self.request.argv, env, stderr=asyncio.subprocess.PIPE,
                pass_fds=(write_end, witness.descriptor),
            )  # fmt: skip
        finally:
            os.close(write_end)
            witness.close()
        self._witness = witness
        self._readers = [
            asyncio.create_task(self._read_state(read_end)),
            asyncio.create_task(self._read_stderr(self.cell)),
        ]

    async def end(self, grace_s: float) -> None:
        """End it with everything it started."""
        if self.cell is not None:
            await self.cell.end(grace_s)
        await asyncio.gather(*self._readers, return_exceptions=True)

    def message(self) -> pb.Program:
        """Describe it."""
        code = self.cell.process.returncode if self.cell else None
        return pb.Program(
            id=self.id,
            name=self.request.name,
            argv=self.request.argv,
            running=self.running,
            exit_code=exit_code(code) if code is not None else 0,
            launches=self.launches,
            state=self.state.values(),
            stderr_tail=self._stderr.decode("utf-8", "replace").replace("\0", "") + self.note,
        )

    async def _read_state(self, descriptor: int) -> None:
        reader = asyncio.StreamReader(limit=_STATE_LINE_BYTES)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", 0)
        )
        try:
            while line := await reader.readline():
                self._keep(line.decode("utf-8", "replace").rstrip("\n").replace("\0", ""))
        except ValueError:
            self.note += (
                f"\nsci_gym: a state line is longer than {_STATE_LINE_BYTES} bytes; the channel is closed"
            )
        finally:
            transport.close()

    def _keep(self, line: str) -> None:
        """Keep a line in place of the last one whose object starts with the same member."""
        subject = line.partition(",")[0]
        self.state.pop(subject, None)
        self.state[subject] = line
        if len(self.state) > _STATE_SUBJECTS:
            del self.state[next(iter(self.state))]

    async def _read_stderr(self, cell: Cell) -> None:
        stream = cell.process.stderr
        assert stream is not None  # asked for in start
        while part := await stream.read(_STDERR_BYTES):
            self._stderr = (self._stderr + part)[-_STDERR_BYTES:]


class Programs:
    """All launched programs of a desktop."""

    def __init__(self, plan: CellPlan, accessibility: Accessibility, activity: Activity) -> None:
        """Launch into cells of `plan`."""
        self._plan = plan
        self._preloads = Preloads(plan.preloads)
        self._accessibility = accessibility
        self._activity = activity
        self._ids = itertools.count(1)
        self._programs: dict[int, RunningProgram] = {}

    def __iter__(self) -> "itertools.chain[RunningProgram]":
        """Every program that was launched and not closed."""
        return itertools.chain(self._programs.values())

    def owner(self, pid: int) -> int:
        """Return the id of the program whose main process has this id, else 0."""
        return next((one.id for one in self if one.running and one.main_pid == pid), 0)

    def roots(self, applications: Applications) -> Roots:
        """What is to be known of registered programs to read their trees."""
        owned = [(key, self._programs.get(self.owner(pid))) for key, pid in applications]
        return [Root(key, one.id if one else 0, one.item_changes if one else None) for key, one in owned]

    def named(self, pid: int) -> Optional[str]:
        """Return the name of the program whose main process has this id."""
        return next((one.request.name for one in self if one.running and one.main_pid == pid), None)

    async def launch(self, request: pb.LaunchRequest) -> pb.Program:
        """Launch a program, again when it does not register in time.

        Raises:
            InvalidArgument: no argv or name, the name is taken, or the start-up module is wrong.
            PartUnavailable: it never registered; the message holds the end of its stderr.
        """
        self._check(request)
        preload = await self._preloads.lay_out(request)
        program = RunningProgram(next(self._ids), request)
        self._programs[program.id] = program
        try:
            for _ in range(max(request.max_launches, 1)):
                await program.start(self._plan, preload)
                if not request.register_ms or await self._registers(program, request.register_ms / 1000):
                    return program.message()
                await program.end(0)
        except BaseException:
            await self._forget(program)
            raise
        await self._forget(program)
        raise PartUnavailable(
            request.name,
            f"did not {_sign(request)} in {program.launches} launches of "
            f"{request.register_ms} ms each; its stderr ends: {program.message().stderr_tail[-500:]!r}",
        )

    async def close(self, request: pb.CloseRequest) -> pb.Program:
        """End a program and forget it."""
        program = self._programs.get(request.id)
        if program is None:
            raise NotFound(f"program {request.id}: no such program")
        await program.end(request.grace_ms / 1000)
        del self._programs[request.id]
        return program.message()

    async def end_all(self) -> None:
        """End every program."""
        await asyncio.gather(*(self._forget(program) for program in list(self)))

    async def answer(self) -> None:
        """Return when the main loop of every registered program has answered."""
        applications = await self._accessibility.applications()
        await self._accessibility.answer([root for root, pid in applications if self.owner(pid)])

    def _check(self, request: pb.LaunchRequest) -> None:
        if not _NAME.fullmatch(request.name):
            raise InvalidArgument(
                "launch.name: 1 to 64 of the letters A to Z, digits, '_', '.', '+', '-', ' '"
            )
        check_command("launch", request.argv, request.env)
        check_preload(request)
        if any(one.running and one.request.name == request.name for one in self):
            raise InvalidArgument(f"launch.name: {request.name!r} is running; close it first")
        if len(self._programs) >= MAX_PROGRAMS:
            raise LimitExceeded(f"launch: {MAX_PROGRAMS} programs are running")

    async def _registers(self, program: RunningProgram, timeout_s: float) -> bool:
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout_s
        while program.running and loop.time() < end:
            known = [pid for _, pid in await self._accessibility.applications()]
            reported = bool(program.state) or not program.request.await_report
            if reported and program.main_pid and program.main_pid in known:
                return True
            await self._activity.next_change(min(_CHECK_S, end - loop.time()))
        return False

    async def _forget(self, program: RunningProgram) -> None:
        await program.end(0)
        self._programs.pop(program.id, None)


def _sign(request: pb.LaunchRequest) -> str:
    report = " and report" if request.await_report else ""
    return f"register with the accessibility bus{report}"
