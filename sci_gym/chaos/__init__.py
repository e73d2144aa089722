"""Breaks a desktop in every way that we know, and holds it to its promises.

Each fault ends, within its deadline, in a truncated step whose `info["infra_error"]` names the part that was
hit, or in a reset that is tried again; what a policy does to itself is no fault; and the next reset gives a
healthy desktop, with nothing left of the broken one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sci_gym.app import App, ProgramSpec
from sci_gym.chaos.cases import PROGRAM, Case, all_cases
from sci_gym.chaos.stage import Stage, still_alive
from sci_gym.errors import SciGymError, UnknownNameError
from sci_gym.machines import load_machine

__all__ = ["Case", "Outcome", "all_cases", "choose", "run"]


@dataclass
class Outcome:
    """What one case gave.

    Attributes:
        case: its name.
        expected: the part that must be told, or "no fault".
        met: what was told, and by which message.
        seconds: until it was told.
        deadline_s: until when it must have been.
        misses: broken promises, in words; empty when all held.
    """

    case: str
    expected: str
    deadline_s: float
    met: str = ""
    seconds: float = 0.0
    misses: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def choose(names: Sequence[str] | None, machine: str = "sandbox") -> list[Case]:
    """The cases that a machine allows, whose name contains one of `names`; all of them without any.

    Raises:
        UnknownNameError: a name is in none, or there is no such machine.
    """
    visible = load_machine(machine).visible
    cases = [case for case in all_cases() if visible.issuperset(case.needs)]
    for name in names or ():
        if not any(name in case.name for case in cases):
            raise UnknownNameError("case", name, [case.name for case in cases])
    return [case for case in cases if not names or any(name in case.name for name in names)]


def run(
    app: App, machine: str, cases: Sequence[Case], options: Mapping[str, Any] | None = None
) -> Iterator[Outcome]:
    """Run cases one after the other, and yield the outcome of each.

    Args:
        app: whose program is on the desktop.
        machine: a name of `machine_names`.
        cases: see `choose`.
        options: what the machine takes beside its size.
    """
    stage: Stage | None = None
    extra: ProgramSpec | None = None
    try:
        for case in cases:
            if stage is None or case.extra != extra:
                if stage is not None:
                    stage.close()
                extra = case.extra
                stage = Stage(app, machine, [extra] if extra else [], options or {})
                stage.reset()
            yield _run_case(stage, case)
    finally:
        if stage is not None:
            stage.close()


def _run_case(stage: Stage, case: Case) -> Outcome:
    blames = [stage.program.name if part == PROGRAM else part for part in case.blames]
    expected = " or ".join(part or "no fault" for part in blames)
    outcome = Outcome(case.name, expected, case.deadline_s * stage.slowness)
    processes = stage.processes()
    start = time.perf_counter()
    try:
        told = case.do(stage)
        outcome.met = "; ".join(f"{part}: {what.removeprefix(f'{part}: ')}" for part, what in told.items())
        outcome.misses += [f"{part or 'no fault'} is told" for part in told or ("",) if part not in blames]
    except SciGymError as error:
        outcome.misses.append(f"{type(error).__name__}: {error}")
    outcome.seconds = time.perf_counter() - start
    if outcome.seconds > outcome.deadline_s:
        outcome.misses.append(f"took longer than {outcome.deadline_s:.0f} s")
    outcome.misses += _check_next(stage, [*processes, *stage.processes()])
    outcome.met = outcome.met or "no fault"
    return outcome


def _check_next(stage: Stage, processes: Sequence[Any]) -> list[str]:
    """What is wrong with the next episode, or left of this one."""
    try:
        stage.reset()
        stage.check()
    except SciGymError as error:
        return [f"the next desktop: {error}"]
    left = still_alive(processes)
    return [f"left running: {', '.join(left)}"] if left else []
