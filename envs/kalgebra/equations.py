"""What an `eqn` item of ScienceBoard asks of a plot: points that it passes or not, and settings."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sci_gym.envs.kalgebra.state import RESOLUTIONS, STYLES_3D
from sci_gym.scienceboard import CannotError

SAMPLES = dict(zip(RESOLUTIONS, (416, 832, 1664, 3328), strict=True))
"""What the entries of the menu set `PlotsModel`'s resolution to."""
STYLE_NUMBERS = {name: number for number, name in enumerate(STYLES_3D, start=1)}
"""`Analitza::PlotStyle`: Dots, Wired (which the menu calls Lines), Solid."""
SETTINGS = {"color": 2, "res": 2, "style": 3}
"""What a plot is asked for beside points, and in how many dimensions."""
_COLOR = re.compile(r"#[0-9a-f]{6}")

Value = Mapping[str, bool | int | str]


def parse_number(text: object) -> float | None:
    """A number as Python's float() reads it, as theirs does; None for anything else, or one without end."""
    try:
        number = float(text) if isinstance(text, str | int | float) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def parse_equation(key: Sequence[Sequence[float | str]], value: Value) -> dict[str, Any]:
    """The arguments of the predicate `scienceboard_eqn`.

    Raises:
        CannotError: it asks for what is not known, or what can never hold.
    """
    known = [_point(point) for point in key]
    if len({len(point) for point in known}) != 1:
        raise CannotError("asks for no points, or for points in the plane and in space at once.")
    dimension = len(known[0])
    points, passed, settings = [], [], {}
    for name, wanted in value.items():
        if name in SETTINGS:
            settings.update(_setting(name, wanted, dimension))
        else:
            points.append(_asked(name, wanted, known))
            passed.append(wanted)
    return {"points": points, "passed": passed, "dimension": dimension, **settings}


def _point(parts: Sequence[float | str]) -> list[float]:
    numbers = [parse_number(part) for part in parts]
    if None in numbers:
        raise CannotError(f"the point {parts!r} has a coordinate that is no number.")
    return [number for number in numbers if number is not None]


def _asked(name: str, wanted: bool | int | str, known: list[list[float]]) -> list[float]:
    """The point that the name of a member of `value` writes out."""
    if not (name.startswith("(") and name.endswith(")")):
        raise CannotError(f"asks for {name!r} of a plot; known are points, {', '.join(SETTINGS)}.")
    point = _point(name[1:-1].split(","))
    if point not in known or not isinstance(wanted, bool):
        raise CannotError(
            f"asks for {name} to be {wanted!r}; it can never hold, since key has no such point."
        )
    return point


def _setting(name: str, wanted: bool | int | str, dimension: int) -> dict[str, str]:
    """A setting as our state names it."""
    if dimension != SETTINGS[name]:
        raise CannotError(f"asks for {name} in {dimension} dimensions; it can never hold there.")
    if name == "color":
        return {"color": _color(wanted)}
    numbers, ours = (SAMPLES, "resolution") if name == "res" else (STYLE_NUMBERS, "style")
    for text, number in numbers.items():
        if number == wanted:
            return {ours: text}
    raise CannotError(f"{name} {wanted!r} is none of KAlgebra's: {numbers}.")


def _color(wanted: bool | int | str) -> str:
    if not isinstance(wanted, str) or not _COLOR.fullmatch(wanted):
        raise CannotError(f"color {wanted!r} is not written as #rrggbb, so that no plot would ever have it.")
    return wanted
