"""How many clones of a virtual machine fit on this machine: start, step and memory of each, beside one?"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from sci_gym.benchmarks.fork import MACHINE, TimedDesktop, boot_first
from sci_gym.benchmarks.question import Plan, Question
from sci_gym.benchmarks.rows import Peers, Row, make_row
from sci_gym.machines.libvirt import LibvirtMachine

_CROWDS = (1, 2, 4, 8)
_ALONE = "one clone alone"
_WHAT = {"start, with the others that came at once": "ms", "step, all at once": "ms", "memory (PSS)": "MiB"}

Samples = dict[str, list[float]]


def run(plan: Plan) -> list[Row]:
    """Let clones come until there are eight, and measure whenever their number has doubled."""
    boot_first(plan)
    standing: list[TimedDesktop] = []
    rows: list[Row] = []
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(_CROWDS[-1]) as threads:
        alone: Samples | None = None
        for crowd in _CROWDS:
            plan.tell(f"{crowd} clones at once")
            new = [TimedDesktop(LibvirtMachine(MACHINE)) for _ in range(crowd - len(standing))]
            for one in new:
                stack.enter_context(contextlib.closing(one))
            standing += new
            samples = _measure(new, standing, plan.times, lambda calls: [*threads.map(_call, calls)])
            rows += _rows(crowd, samples, alone)
            alone = alone or samples
    return rows


def _measure(
    new: Sequence[TimedDesktop],
    standing: Sequence[TimedDesktop],
    times: int,
    at_once: Callable[[list[Callable[[], float]]], list[float]],
) -> Samples:
    starts = at_once([one.start for one in new])
    for one in standing:
        one.look()
    steps = [took for _ in range(times) for took in at_once([one.step for one in standing])]
    return dict(zip(_WHAT, (starts, steps, [one.held_mib() for one in standing]), strict=True))


def _rows(crowd: int, samples: Samples, alone: Samples | None) -> list[Row]:
    name = "1 clone" if crowd == 1 else f"each of {crowd} clones"
    return [
        make_row(f"{name}: {what}", unit, samples[what], Peers({_ALONE: alone[what]} if alone else {}))
        for what, unit in _WHAT.items()
    ]


def _call(function: Callable[[], float]) -> float:
    return function()


QUESTION = Question("density", __doc__, (_ALONE,), 3, run)
