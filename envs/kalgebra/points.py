"""Whether a plot agrees with points, as ScienceBoard's tasks ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sci_gym.envs.kalgebra.curves import membership
from sci_gym.envs.kalgebra.lexer import AnalitzaError
from sci_gym.envs.kalgebra.plots import SOLVED, Plot, Point, classify

TOLERANCE = 1e-4
"""Absolute, between numbers of single precision, as in ScienceBoard's KAlgebra."""


def agrees(
    text: str,
    points: Sequence[tuple[Point, bool]],
    dimension: int,
    environment: Mapping[str, str],
) -> bool:
    """Whether a plot passes all points that it shall pass, and none of those that it shall not.

    Points are (x, y) or (x, y, z); of a polar plot they are (angle, radius), as in ScienceBoard's KAlgebra.
    Surfaces in spherical coordinates, parametric surfaces and curves in space pass no point.

    Args:
        text: the plot, as the program shows it.
        points: each with whether the plot shall pass it.
        dimension: 2 or 3.
        environment: the program's variables, name to text.
    """
    try:
        plot = classify(text, dimension, environment)
    except AnalitzaError:
        return False
    return all(passes(plot, point) is wanted for point, wanted in points)


def passes(plot: Plot, point: Point) -> bool:
    """Whether a plot passes a point: for an equation, whether its sides differ by nothing there."""
    if plot.kind == "polar":
        return _near(plot.value(point[0]), point[1])
    if plot.kind == "implicit":
        return _near(plot.value(*point), 0.0)
    if plot.kind in SOLVED:
        axes = dict(zip("xyz", point, strict=False))
        value = plot.value(*(axes[name] for name in plot.function.parameters))
        return _near(value, axes[SOLVED[plot.kind]])
    return (plot.kind == "parametric" or plot.has_field) and membership(plot)(point)


def _near(value: float | None, wanted: float) -> bool:
    with np.errstate(all="ignore"):
        return value is not None and bool(abs(np.float32(value) - np.float32(wanted)) <= TOLERANCE)
