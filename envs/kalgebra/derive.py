"""Numerical derivatives."""

from __future__ import annotations

from collections.abc import Callable

STEP = 0.02
SHRINK = 1.6
LEVELS = 8


def derivative(function: Callable[[float], float], at: float) -> float:
    """The slope of a function at a point, by Ridders' extrapolation of central differences.

    Source: C. Ridders, Accurate computation of F'(x), Advances in Engineering Software 4 (1982).
    """
    step = STEP * max(1.0, abs(at))
    best, least = 0.0, float("inf")
    previous: list[float] = []
    for _ in range(LEVELS):
        row = [(function(at + step) - function(at - step)) / (2 * step)]
        factor = SHRINK * SHRINK
        for older in previous:
            row.append((factor * row[-1] - older) / (factor - 1))
            factor *= SHRINK * SHRINK
            error = max(abs(row[-1] - row[-2]), abs(row[-1] - older))
            if error <= least:
                best, least = row[-1], error
        previous = row
        step /= SHRINK
    return best
