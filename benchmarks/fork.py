"""What does a clone of a virtual machine cost beside a sandbox: start, screenshot, step, memory?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from sci_gym.benchmarks.desk import Desk
from sci_gym.benchmarks.question import Plan, Question
from sci_gym.benchmarks.rows import Peers, Row, make_row, timed
from sci_gym.client import VMAgentClient
from sci_gym.machines import Machine, MachineSpec, SandboxMachine
from sci_gym.machines.libvirt import LibvirtMachine
from sci_gym.specs import Action

MACHINE = MachineSpec(memory_bytes=2**30)
_SANDBOX = "a new sandbox"
_CALL_S = 120.0
_WHAT = {"start": "ms", "first screenshot": "ms", "step that moves the pointer": "ms", "memory (PSS)": "MiB"}


class TimedDesktop:
    """A machine with its client, and what it takes: milliseconds, if nothing else is said."""

    def __init__(self, machine: Machine) -> None:
        """Plan it."""
        self._machine = machine
        self._client: VMAgentClient | None = None

    def start(self) -> float:
        """Start it until its daemon answers."""
        return timed(self._start)[0]

    def look(self) -> float:
        """Take a screenshot."""
        return timed(self._desk.frame)[0]

    def step(self) -> float:
        """Move the pointer, and wait until the screen has settled."""
        return timed(lambda: self._desk.act(Action.move_to(9, 9)))[0]

    def held_mib(self) -> float:
        """What it holds of this host's memory."""
        return self._machine.held_bytes() / 2**20

    def close(self) -> None:
        """End both."""
        if self._client is not None:
            self._client.close()
        self._machine.stop()

    @property
    def _desk(self) -> Desk:
        assert self._client is not None  # it was started
        return Desk(self._client, self._machine.spec)

    def _start(self) -> None:
        self._client = VMAgentClient(self._machine.start(), _CALL_S)
        self._client.hello()


def boot_first(plan: Plan) -> None:
    """Boot the machine that all clones go on from, so that no clone waits for it."""
    plan.tell("the machine that clones go on from")
    first = LibvirtMachine(MACHINE)
    try:
        first.start()
    finally:
        first.stop()


def run(plan: Plan) -> list[Row]:
    """Measure one clone after the other, each beside a sandbox."""
    boot_first(plan)
    ours, theirs = ({what: list[float]() for what in _WHAT} for _ in range(2))
    for _ in range(plan.times):
        for machine, samples in ((LibvirtMachine(MACHINE), ours), (SandboxMachine(MACHINE), theirs)):
            plan.tell(f"one {machine.title}")
            for what, value in zip(_WHAT, _values(machine), strict=True):
                samples[what].append(value)
    return [
        make_row(f"clone of a virtual machine: {what}", unit, ours[what], Peers({_SANDBOX: theirs[what]}))
        for what, unit in _WHAT.items()
    ]


def _values(machine: Machine) -> Iterator[float]:
    with contextlib.closing(TimedDesktop(machine)) as desktop:
        yield desktop.start()
        yield desktop.look()
        yield desktop.step()
        yield desktop.held_mib()


QUESTION = Question("fork", __doc__, (_SANDBOX,), 5, run)
