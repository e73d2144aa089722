"""Whether two plots draw the same set of points, whatever form they are written in."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping

from sci_gym.envs.kalgebra.compare import agree, seeded
from sci_gym.envs.kalgebra.lexer import AnalitzaError
from sci_gym.envs.kalgebra.plots import SOLVED, Plot, Point, classify

MIN_POINTS = 6
MIN_SHARE = 0.95
WINDOWS = (10.0, 3.0, 30.0, 300.0)
PER_WINDOW = 12
LINES = 24
STEPS = 60
BISECTIONS = 60
NEAR = 1e-5
FLAT = 0.05
HALF_TURNS = 16
T_END = 3.1415 * 5
T_STEPS = 1500
CANDIDATES = 4
SECTIONS = 36
"""KAlgebra draws a parametric plot for t within 5*3.1415 of 0, and a polar one for at least 16 half turns."""


def same_plot(
    actual: str,
    expected: str,
    environment: Mapping[str, str] | None = None,
    dimension: int = 2,
) -> bool:
    """Whether two plots are the same curve or surface: `x->x^2`, `x*x` and `y=x^2` are one.

    Plots of one explicit kind are compared as functions; of others, points of each must lie on the other.
    Spherical and parametric surfaces and space curves are compared as functions only.

    Args:
        actual: text of a plot in the program.
        expected: what should be drawn.
        environment: the program's variables, name to text; they count for `actual` only.
        dimension: 2 for the plane, 3 for space.

    Raises:
        AnalitzaError: `expected` is no plot.
    """
    ours = classify(expected, dimension)
    try:
        theirs = classify(actual, dimension, environment)
    except AnalitzaError:
        return False
    if theirs.kind == ours.kind and not ours.kind.startswith("implicit"):
        if agree(theirs.evaluator, theirs.function, ours.evaluator, ours.function):
            return True
        if ours.kind in SOLVED:
            return False
    if dimension == 3 and not (ours.has_field and theirs.has_field):
        return False
    draw = seeded(actual, expected)
    # A parametric plot ends somewhere, so beside it only the default view counts.
    widest = WINDOWS[0] if "parametric" in (ours.kind, theirs.kind) else math.inf
    return all(_covers(a, _points(b, draw, widest)) for a, b in ((ours, theirs), (theirs, ours)))


def _covers(plot: Plot, points: list[Point]) -> bool:
    if len(points) < MIN_POINTS:
        return False
    contains = membership(plot)
    return sum(contains(point) for point in points) >= MIN_SHARE * len(points)


def _points(plot: Plot, draw: random.Random, widest: float) -> list[Point]:
    """Points that a plot draws, from windows of several sizes."""
    points: list[Point] = []
    for window in WINDOWS:
        find = _lines if plot.kind.startswith("implicit") else _samples
        found = find(plot, draw, window)
        inside = (point for point in found if all(abs(number) <= widest for number in point))
        points += itertools.islice(inside, PER_WINDOW)
    return points


def _samples(plot: Plot, draw: random.Random, window: float) -> Iterator[Point]:
    point: Point | None
    for _ in range(PER_WINDOW * 3):
        if plot.kind == "polar":
            angle = draw.uniform(-HALF_TURNS, HALF_TURNS) * math.pi
            radius = plot.value(angle)
            point = None if radius is None else (radius * math.cos(angle), radius * math.sin(angle))
        elif plot.kind == "parametric":
            point = plot.vector(draw.uniform(-T_END, T_END))
        elif plot.kind == "cylindrical":
            x, y = draw.uniform(-window, window), draw.uniform(-window, window)
            height = plot.value(math.atan2(y, x), math.hypot(x, y))
            point = None if height is None else (x, y, height)
        else:
            point = plot.solve([draw.uniform(-window, window) for _ in plot.function.parameters])
        if point is not None and all(abs(number) < 1e6 for number in point):
            yield point


def _lines(plot: Plot, draw: random.Random, window: float) -> Iterator[Point]:
    """Where straight lines across a window meet a plot that has a field."""
    for line in range(LINES):
        start, end = ([draw.uniform(-window, window) for _ in range(plot.dimension)] for _ in range(2))
        start[line % plot.dimension], end[line % plot.dimension] = -window, window
        places = [_between(tuple(start), tuple(end), step / STEPS) for step in range(STEPS + 1)]
        for (low, below), (high, above) in itertools.pairwise((place, plot.field(place)) for place in places):
            if below is not None and above is not None and (below < 0) != (above < 0):
                crossing = _bisect(plot, low, high, 1e-6 * max(abs(below), abs(above)))
                if crossing is not None:
                    yield crossing


def _between(start: Point, end: Point, at: float) -> Point:
    return tuple(a + (b - a) * at for a, b in zip(start, end, strict=True))


def _bisect(plot: Plot, low: Point, high: Point, limit: float) -> Point | None:
    """Where a field passes through 0 between two points; None where it jumps instead."""
    below = plot.field(low)
    for _ in range(BISECTIONS):
        middle = _between(low, high, 0.5)
        value = plot.field(middle)
        if value is None or below is None:
            return None
        low, high = (middle, high) if (value < 0) == (below < 0) else (low, middle)
    value = plot.field(low)
    return low if value is not None and abs(value) <= limit else None


def membership(plot: Plot) -> Callable[[Point], bool]:
    """A test of whether a point lies on a plot that is polar, parametric in the plane, or has a field."""
    if plot.kind == "polar":
        return lambda point: _on_polar(plot, point)
    if plot.kind == "parametric":
        track = [T_END * (2 * step / T_STEPS - 1) for step in range(T_STEPS + 1)]
        drawn = [(t, plot.vector(t)) for t in track]
        return lambda point: _on_track(plot, drawn, point)
    return lambda point: _on_field(plot, point)


def _on_field(plot: Plot, point: Point) -> bool:
    """Whether the field changes its sign around a point, and is small there beside what it is around."""
    here = plot.field(point)
    if here is None:
        return False
    reach = [NEAR * max(1.0, abs(number)) for number in point]
    around = []
    for direction in itertools.product((-1, 0, 1), repeat=plot.dimension):
        there = tuple(number + way * far for number, way, far in zip(point, direction, reach, strict=True))
        value = plot.field(there)
        if value is not None and any(direction):
            around.append(value)
    if not around or min(around) > 0 or max(around) < 0:
        return False
    return abs(here) <= FLAT * max(abs(value) for value in around)


def _on_polar(plot: Plot, point: Point) -> bool:
    angle, radius = math.atan2(point[1], point[0]), math.hypot(*point)
    for turn in range(-HALF_TURNS, HALF_TURNS + 1):
        there = angle + turn * math.pi
        signed = -radius if turn % 2 else radius
        value = plot.value(there)
        if value is None or abs(there) > HALF_TURNS * math.pi:
            continue
        beside = plot.value(there + NEAR)
        slope = 1.0 if beside is None else 1.0 + abs(beside - value) / NEAR / max(radius, NEAR)
        if abs(value - signed) <= NEAR * max(1.0, radius) * slope:
            return True
    return False


def _on_track(plot: Plot, drawn: list[tuple[float, Point | None]], point: Point) -> bool:
    """Whether a parametric plot passes a point: the nearest places drawn, then a closer look around them."""

    def distance(t: float) -> float:
        there = plot.vector(min(max(t, -T_END), T_END))
        return math.inf if there is None else math.dist(there, point)

    far = [math.inf if there is None else math.dist(there, point) for _, there in drawn]
    for place in sorted(range(1, len(far) - 1), key=far.__getitem__)[:CANDIDATES]:
        gap = abs(far[place + 1] - far[place]) + abs(far[place - 1] - far[place])
        if far[place] <= 2 * gap + NEAR:
            t = _lowest(distance, drawn[place - 1][0], drawn[place + 1][0])
            if distance(t) <= NEAR * max(1.0, math.hypot(*point)):
                return True
    return False


def _lowest(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with one valley is lowest, by golden section."""
    for _ in range(SECTIONS):
        width = (high - low) * 0.381966
        if function(low + width) < function(high - width):
            high -= width
        else:
            low += width
    return (low + high) / 2
