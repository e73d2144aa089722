"""What does a clone of a virtual machine cost: start, screenshot, step, memory; alone and in a crowd?"""

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

_CROWD = 8
_SPEC = MachineSpec(memory_bytes=2**30)
_SANDBOX = "a new sandbox"
_CALL_S = 120.0
_WHAT = {"start": "ms", "first screenshot": "ms", "step that moves the pointer": "ms", "memory (PSS)": "MiB"}


def run(plan: Plan) -> list[Row]:
    """Measure one clone after the other beside a sandbox, then clones that run together."""
    plan.tell("the machine that clones go on from")
    first = LibvirtMachine(_SPEC)
    try:
        first.start()
    finally:
        first.stop()
    return [*_alone(plan), *_crowd(plan)]


def _alone(plan: Plan) -> list[Row]:
    ours, theirs = ({what: list[float]() for what in _WHAT} for _ in range(2))
    for _ in range(plan.times):
        for machine, samples in ((LibvirtMachine(_SPEC), ours), (SandboxMachine(_SPEC), theirs)):
            plan.tell(f"one {machine.title}")
            with contextlib.closing(_Desktop(machine)) as desktop:
                desktop.measure(samples)
    return [
        make_row(f"clone of a virtual machine: {what}", unit, ours[what], Peers({_SANDBOX: theirs[what]}))
        for what, unit in _WHAT.items()
    ]


def _crowd(plan: Plan) -> list[Row]:
    samples: dict[str, list[float]] = {what: [] for what in _WHAT}
    with contextlib.ExitStack() as stack:
        for number in range(1, _CROWD + 1):
            plan.tell(f"clone {number} of {_CROWD} beside each other")
            stack.enter_context(contextlib.closing(_Desktop(LibvirtMachine(_SPEC)))).measure(samples)
    return [
        make_row(f"{_CROWD} clones of a virtual machine: {what} of each", unit, samples[what])
        for what, unit in _WHAT.items()
    ]


class _Desktop:
    """A machine with its client."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._client: VMAgentClient | None = None

    def measure(self, samples: dict[str, list[float]]) -> None:
        """Start it, and take a sample of each of `_WHAT`."""
        for what, value in zip(_WHAT, self._values(), strict=True):
            samples[what].append(value)

    def _values(self) -> Iterator[float]:
        yield timed(self._start)[0]
        assert self._client is not None  # _start has made it
        desk = Desk(self._client, self._machine.spec)
        yield timed(desk.frame)[0]
        yield timed(lambda: desk.act(Action.move_to(9, 9)))[0]
        yield self._machine.held_bytes() / 2**20

    def _start(self) -> None:
        self._client = VMAgentClient(self._machine.start(), _CALL_S)
        self._client.hello()

    def close(self) -> None:
        """End both."""
        if self._client is not None:
            self._client.close()
        self._machine.stop()


QUESTION = Question("fork", __doc__, (_SANDBOX,), 5, run)
