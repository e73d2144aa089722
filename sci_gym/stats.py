"""What an environment did and how long it took: counters, and samples of each phase's duration."""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sci_gym.errors import DeadlineError, InfrastructureError

MAX_SAMPLES = 1000
COUNTERS = (
    "resets",  # tries included
    "forks",  # desktops that went on from a snapshot
    "steps",
    "relaunches",  # of programs that did not register with the accessibility bus
    "reset_faults",
    "step_faults",
    "unsettled",  # steps whose screen did not settle within its deadline
    "deadlines_met",  # faults of a part that did not answer within its deadline
    "spares_made",
    "spares_used",
    "spares_refused",  # not made for lack of memory
    "spares_failed",  # could not be made
    "spares_dead",  # went bad while they waited
    "unstoppable",  # machines whose processes could not be killed
)


class Stats:
    """Counters and timings of one environment; safe to use from several threads."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._lock = threading.RLock()  # a collection in the middle of a call may close, and count
        self._counts: Counter[str] = Counter()
        self._parts: Counter[str] = Counter()
        self._samples: dict[str, deque[float]] = {}

    def count(self, counter: str, times: int = 1) -> None:
        """Count one of `COUNTERS` up."""
        with self._lock:
            self._counts[counter] += times

    def fault(self, counter: str, error: InfrastructureError) -> None:
        """Count a fault, the part that failed, and whether it was a deadline."""
        with self._lock:
            self._counts[counter] += 1
            self._parts[error.part] += 1
            self._counts["deadlines_met"] += isinstance(error, DeadlineError)

    def sample(self, phase: str, milliseconds: float) -> None:
        """Keep how long a phase took; the last `MAX_SAMPLES` of each are kept."""
        with self._lock:
            self._samples.setdefault(phase, deque(maxlen=MAX_SAMPLES)).append(milliseconds)

    @contextlib.contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Keep how long the block takes, whether or not it raises."""
        start_s = time.perf_counter()
        try:
            yield
        finally:
            self.sample(phase, 1000 * (time.perf_counter() - start_s))

    def last_ms(self, phases: Iterable[str]) -> dict[str, float]:
        """How long each of these phases took when it was last gone through, in milliseconds."""
        with self._lock:
            return {name: round(self._samples[name][-1], 3) for name in phases if name in self._samples}

    def summary(self) -> dict[str, Any]:
        """All of it as plain data, see `SciEnv.stats`."""
        with self._lock:
            return {
                "counters": {name: self._counts[name] for name in COUNTERS},
                "faults": dict(self._parts),
                "phases_ms": {phase: _describe(samples) for phase, samples in self._samples.items()},
            }


def _describe(samples: deque[float]) -> Mapping[str, float]:
    median = statistics.median(samples)
    values = {"min": min(samples), "median": median, "max": max(samples), "last": samples[-1]}
    return {"n": len(samples), **{name: round(value, 3) for name, value in values.items()}}
