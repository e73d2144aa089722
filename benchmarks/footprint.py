"""What does it cost to have: import, make, and each desktop's memory, processes and CPU at rest?"""

from __future__ import annotations

import contextlib
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable

import psutil

from sci_gym.benchmarks.desk import open_desk
from sci_gym.benchmarks.question import Plan, Question
from sci_gym.benchmarks.rows import Peers, Row, make_row
from sci_gym.benchmarks.subjects import Subject

UNITS = {"memory (PSS)": "MiB", "CPU at rest": "% of a core", "processes": "count", "threads": "count"}
_GYMNASIUM = "gymnasium alone"
_WINDOW_S = 3.0  # of CPU time at rest
_MAKE = """import time, gymnasium, sci_gym
start_s = time.perf_counter(); env = gymnasium.make("SciBoard-KAlgebra-v0"); end_s = time.perf_counter()
env.close(); print(1000 * (end_s - start_s))"""


def run(plan: Plan) -> list[Row]:
    """Measure the host's side, a bare desktop, and one with each program."""
    return [*_host(plan), *_desktops(plan)]


def _host(plan: Plan) -> list[Row]:
    imports = {"sci_gym": "import sci_gym", _GYMNASIUM: "import gymnasium"}
    wall, cpu = ({name: list[float]() for name in imports} for _ in range(2))
    make = []
    for _ in range(plan.times):
        plan.tell("import and make")
        for name, code in imports.items():
            took_ms, used_ms, _ = _python(code)
            wall[name].append(took_ms)
            cpu[name].append(used_ms)
        make.append(float(_python(_MAKE)[2]))
    named = {"import, a new process": wall, "import, a new process, CPU": cpu}
    rows = [
        make_row(name, "ms", samples["sci_gym"], Peers({_GYMNASIUM: samples[_GYMNASIUM]}))
        for name, samples in named.items()
    ]
    return [*rows, make_row("gym.make, the first of a process", "ms", make)]


def _python(code: str) -> tuple[float, float, str]:
    """Run code in a new interpreter: wall and CPU milliseconds, and what it printed."""
    before, start_s = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    took_s, after = time.perf_counter() - start_s, resource.getrusage(resource.RUSAGE_CHILDREN)
    used_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1000 * took_s, 1000 * used_s, done.stdout


def _desktops(plan: Plan) -> list[Row]:
    subjects: list[Subject | None] = [None, *plan.subjects]
    return [row for subject in subjects for row in _desktop(plan, subject)]


def _desktop(plan: Plan, subject: Subject | None) -> list[Row]:
    """A desktop's rows; the peer is the part of it that no desktop can do without."""
    title = subject.app.title if subject else "bare"
    before = _children()
    with open_desk(subject.app if subject else None):
        own = _children() - before
        needed = ["Xvfb", *(program.name for program in subject.app.programs)] if subject else ["Xvfb"]
        ours, theirs = Figures(), Figures()
        for _ in plan.rounds():
            plan.tell(f"a desktop at rest, {title}")
            family = _family(own)
            parts = _family(one for one in family if one.name() in needed)
            used_s = ours.cpu_s(family), theirs.cpu_s(parts)
            time.sleep(_WINDOW_S)  # the window that is measured; nothing is waited for
            ours.add(family, used_s[0])
            theirs.add(parts, used_s[1])
    peer = f"of it, {' and '.join(needed)}"
    return [
        make_row(f"desktop, {title}: {name}", unit, samples, Peers({peer: theirs.samples[name]}))
        for (name, unit), samples in zip(UNITS.items(), ours.samples.values(), strict=True)
    ]


class Figures:
    """Samples of each of `UNITS`, of a set of processes."""

    def __init__(self) -> None:
        """Start with none."""
        self.samples: dict[str, list[float]] = {name: [] for name in UNITS}

    def add(self, family: Collection[psutil.Process], used_s: float) -> None:
        """Take one sample; `used_s` is their CPU time when the window began."""
        values = (
            _total(family, lambda one: one.memory_full_info().pss) / 2**20,
            100 * (self.cpu_s(family) - used_s) / _WINDOW_S,
            len(family),
            _total(family, lambda one: one.num_threads()),
        )
        for samples, value in zip(self.samples.values(), values, strict=True):
            samples.append(value)

    def cpu_s(self, family: Collection[psutil.Process]) -> float:
        """CPU time that processes have used."""
        return _total(family, lambda one: one.cpu_times().user + one.cpu_times().system)


def _total(family: Collection[psutil.Process], value: Callable[[psutil.Process], float]) -> float:
    total = 0.0
    for one in family:
        with contextlib.suppress(psutil.NoSuchProcess):  # it ended while we looked
            total += value(one)
    return total


def _family(roots: Iterable[psutil.Process]) -> set[psutil.Process]:
    return {one for root in roots for one in (root, *root.children(recursive=True))}


def _children() -> set[psutil.Process]:
    return set(psutil.Process().children())


QUESTION = Question("footprint", __doc__, (_GYMNASIUM, "the X server and the program alone"), 5, run)
