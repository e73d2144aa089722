"""What every benchmark prints: rows of ours beside peers, timed in the same run (see DESIGN's row format)."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Console
from rich.table import Table


def summary(samples: Iterable[float]) -> dict[str, float]:
    """Min, median, max and count of samples."""
    values = list(samples)
    return {"min": min(values), "median": statistics.median(values), "max": max(values), "n": len(values)}


def row(name: str, unit: str, ours: list[float], peers: dict[str, list[float]]) -> dict[str, Any]:
    """One benchmark row; `ratio` is the peer's median over ours."""
    mine = summary(ours)
    others = {peer: summary(samples) for peer, samples in peers.items()}
    return {
        "name": name,
        "unit": unit,
        "ours": mine,
        "peers": others,
        "ratio": {peer: round(other["median"] / mine["median"], 2) for peer, other in others.items()},
        "machine": {"cores": os.cpu_count(), "cpu": _cpu(), "python": platform.python_version()},
    }


def timed(function: Callable[[], Any], times: int) -> list[float]:
    """Durations of a call, in milliseconds."""
    samples = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        samples.append((time.perf_counter() - start) * 1000)
    return samples


def arguments(description: str, times: int) -> argparse.Namespace:
    """The command line that all benchmarks share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--times", type=int, default=times, help="samples of each")
    parser.add_argument("--json", action="store_true", help="rows as JSON on standard output")
    return parser.parse_args()


def report(rows: list[dict[str, Any]], as_json: bool) -> None:
    """Print rows as a table, or as JSON."""
    if as_json:
        sys.stdout.write(json.dumps({"rows": rows}, indent=2) + "\n")
        return
    table = Table("what", "who", "min", "median", "max", "n", "ratio")
    for one in rows:
        _add(table, f"{one['name']} ({one['unit']})", "sci_gym", one["ours"], "1")
        for peer, numbers in one["peers"].items():
            _add(table, "", peer, numbers, f"{one['ratio'][peer]}x")
    Console().print(table)


def _add(table: Table, what: str, who: str, numbers: dict[str, float], ratio: str) -> None:
    values = [f"{numbers[key]:.1f}" for key in ("min", "median", "max")]
    table.add_row(what, who, *values, str(numbers["n"]), ratio)


def _cpu() -> str:
    with open("/proc/cpuinfo") as lines:
        return next(
            (line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown"
        )
