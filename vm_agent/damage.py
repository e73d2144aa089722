"""Which parts of the screen have changed (XDamage)."""

from __future__ import annotations

from typing import Any

from Xlib import display as xdisplay
from Xlib.ext import damage

Rectangle = tuple[int, int, int, int]
"""x, y, width, height in pixels."""
_MAX_RECTANGLES = 64


class DamageLog:
    """What has changed on screen since it was last asked. Not thread-safe."""

    def __init__(self, name: str) -> None:
        """Watch a display such as ":0"."""
        self._display = xdisplay.Display(name)
        self._display.damage_query_version()
        root = self._display.screen().root
        self._damage = root.damage_create(damage.DamageReportDeltaRectangles)
        self._display.sync()

    def take(self) -> list[Rectangle]:
        """The rectangles that changed since the last call; they can overlap.

        Whatever was drawn before this call is among them; what is drawn later is in the next call's.
        """
        self._display.damage_subtract(self._damage)
        self._display.sync()
        return merge(reported(self._display))


def reported(display: Any) -> list[Rectangle]:
    """The rectangles of the reports that have arrived on a connection."""
    events = [display.next_event() for _ in range(display.pending_events())]
    areas = [event.area for event in events if event.type == display.extension_event.DamageNotify]
    return [(int(area.x), int(area.y), int(area.width), int(area.height)) for area in areas]


def merge(rectangles: list[Rectangle]) -> list[Rectangle]:
    """The same rectangles without doubles, or, when there are very many, the one around them."""
    kept = list(dict.fromkeys(rectangles))
    if len(kept) <= _MAX_RECTANGLES:
        return kept
    left, top = min(x for x, _, _, _ in kept), min(y for _, y, _, _ in kept)
    right, bottom = max(x + width for x, _, width, _ in kept), max(y + height for _, y, _, height in kept)
    return [(left, top, right - left, bottom - top)]


def overlap(one: Rectangle, other: Rectangle) -> bool:
    """Whether two rectangles share a pixel."""
    return (
        one[0] < other[0] + other[2]
        and other[0] < one[0] + one[2]
        and one[1] < other[1] + other[3]
        and other[1] < one[1] + one[3]
    )
