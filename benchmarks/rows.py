"""Rows of a benchmark: ours beside peers, timed in the same run, with the ratio of the medians."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

Row = dict[str, Any]


class PeerUnavailableError(Exception):
    """A peer cannot be had or cannot do this here; the message says why."""


@dataclass
class Peers:
    """Samples of peers by name, and why others have none."""

    samples: dict[str, list[float]] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)

    def ask(self, name: str, function: Callable[[], Sequence[float]]) -> None:
        """Add what a peer's function measures; one that was unavailable before is not asked again."""
        if name in self.unavailable:
            return
        try:
            self.samples.setdefault(name, []).extend(function())
        except PeerUnavailableError as error:
            self.samples.pop(name, None)
            self.unavailable[name] = str(error)


def make_row(name: str, unit: str, ours: Sequence[float], peers: Peers | None = None, note: str = "") -> Row:
    """One row in the format that `sci-gym bench --json` prints.

    Keys: name, unit; ours and each of peers: min, median, max, n; ratio: each peer's median over ours;
    unavailable: why a peer has no figures; note: what was measured on; machine.
    """
    asked = peers or Peers()
    mine = summarise(ours)
    others = {peer: summarise(samples) for peer, samples in asked.samples.items()}
    return {
        "name": name,
        "unit": unit,
        "ours": mine,
        "peers": others,
        "ratio": {peer: _ratio(other["median"], mine["median"]) for peer, other in others.items()},
        "unavailable": dict(asked.unavailable),
        "note": note,
        "machine": dict(_hardware()),
    }


def summarise(samples: Iterable[float]) -> dict[str, float]:
    """Min, median, max and count."""
    values = list(samples)
    return {
        "min": round(min(values), 4),
        "median": round(statistics.median(values), 4),
        "max": round(max(values), 4),
        "n": len(values),
    }


def timed(function: Callable[[], Any], times: int = 1) -> list[float]:
    """Durations of a call, in milliseconds."""
    samples = []
    for _ in range(times):
        start_s = time.perf_counter()
        function()
        samples.append((time.perf_counter() - start_s) * 1000)
    return samples


def machine_now() -> dict[str, Any]:
    """The hardware, its load average over the last minute, and a warning when others were using it."""
    load = os.getloadavg()[0]
    warning = f"the machine was not idle (load {load:.2f}): expect larger figures" if load > 0.3 else ""
    return {**_hardware(), "load": round(load, 2), "warning": warning}


@cache
def _hardware() -> Mapping[str, Any]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {"cores": os.cpu_count(), "cpu": (models or ["unknown"])[0], "python": platform.python_version()}


def _ratio(theirs: float, ours: float) -> float | None:
    """How many times as much a peer takes; None when ours rounds to nothing."""
    return round(theirs / ours, 2) if ours else None
