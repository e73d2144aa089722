"""The screen's geometry: units of coordinates, marks, where the pointer is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sci_gym.errors import ActionError, UnknownNameError
from sci_gym.specs import POINT_KINDS, A11yNode, Action, Kind

COORDINATES: dict[str, Callable[[int], float]] = {
    "pixel": lambda pixels: 1.0,
    "relative": lambda pixels: float(pixels),
    "thousand": lambda pixels: pixels / 1000,
}
"""Units that a dialect counts coordinates in, and the pixels in one such unit on a side of so many pixels."""


@dataclass(slots=True)
class Screen:
    """The screen as a dialect sees it.

    Attributes:
        width: in pixels.
        height: in pixels.
        marks: the nodes with mark ids 1, 2, ...
        coordinates: the unit of the dialect's coordinates, one of `COORDINATES`.
        pointer: where the pointer is, as (x, y) in pixels; None for the middle of the screen.
    """

    width: int
    height: int
    marks: Sequence[A11yNode] = ()
    coordinates: str = "pixel"
    pointer: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        """Refuse an unknown unit, and place the pointer."""
        if self.coordinates not in COORDINATES:
            raise UnknownNameError("coordinates", self.coordinates, COORDINATES)
        if self.pointer is None:
            self.pointer = self.width // 2, self.height // 2

    def point(self, x: object = None, y: object = None) -> tuple[int, int]:
        """Turn the dialect's coordinates into a pixel; both None is where the pointer is."""
        if x is None and y is None and self.pointer is not None:
            return self.pointer
        return self._pixel("x", x, self.width), self._pixel("y", y, self.height)

    def offset(self, dx: object, dy: object) -> tuple[int, int]:
        """Turn the dialect's distances into pixels; farther than the screen is cut to the screen."""
        return self._distance("x offset", dx, self.width), self._distance("y offset", dy, self.height)

    def mark(self, number: int) -> tuple[float, float]:
        """The middle of a marked node, in the dialect's coordinates."""
        if not 1 <= number <= len(self.marks):
            raise ActionError(
                f"there is no mark {number}: this screen has {len(self.marks)} marks, from 1 up"
            )
        box = self.marks[number - 1].box
        if box is None:
            raise ActionError(f"mark {number} has no place on screen")
        x, y = box.clip(self.width, self.height).center
        unit = COORDINATES[self.coordinates]
        return x / unit(self.width), y / unit(self.height)

    def follow(self, action: Action) -> None:
        """Move the pointer as an action would."""
        if action.kind in POINT_KINDS:
            self.pointer = action.x, action.y
        elif self.pointer is not None and action.kind in (Kind.MOVE_REL, Kind.DRAG_REL):
            x, y = self.pointer
            self.pointer = _clamp(x + action.dx, self.width), _clamp(y + action.dy, self.height)

    def _pixel(self, name: str, value: object, side: int) -> int:
        unit = COORDINATES[self.coordinates](side)
        most = side - 1 if self.coordinates == "pixel" else side / unit
        number = as_number(name, value)
        if not 0 <= number <= most:
            raise ActionError(f"{name} = {number:g} is off the screen, which reaches from 0 to {most:g}")
        return _clamp(round(number * unit), side)

    def _distance(self, name: str, value: object, side: int) -> int:
        pixels = round(as_number(name, value) * COORDINATES[self.coordinates](side))
        return max(-side + 1, min(pixels, side - 1))


def _clamp(pixel: int, side: int) -> int:
    return max(0, min(pixel, side - 1))


def as_number(name: str, value: object) -> float:
    """Take a finite number, or say what was given instead."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ActionError(f"{name} must be a number, not {value!r}")
    return value
