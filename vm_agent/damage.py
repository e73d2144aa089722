"""Which parts of the screen have changed (XDamage)."""

from __future__ import annotations

from typing import Any, Iterable

from Xlib import display as xdisplay
from Xlib.ext import damage

from sci_gym_vm_agent.xfixes import create_region, fetch_region

Rectangle = tuple[int, int, int, int]
"""x, y, width, height in pixels."""
_MAX_RECTANGLES = 64


class DamageLog:
    """What has changed on screen since it was last asked. Not thread-safe."""

    def __init__(self, name: str) -> None:
        """Watch a display such as ":0"."""
        self._display = xdisplay.Display(name)
        self._display.damage_query_version()
        self._display.xfixes_query_version()
        self._damage = self._display.screen().root.damage_create(damage.DamageReportNonEmpty)
        self._region = create_region(self._display)
        self._display.sync()

    def take(self) -> list[Rectangle]:
        """The rectangles that changed since the last call, without overlap.

        Whatever was drawn before this call is among them; what is drawn later is in the next call's.
        """
        # The server moves the damage to the region in one request: nothing drawn meanwhile falls between.
        self._display.damage_subtract(self._damage, parts=self._region)
        boxes = fetch_region(self._display, self._region)
        for _ in range(self._display.pending_events()):
            self._display.next_event()
        return boxes if len(boxes) <= _MAX_RECTANGLES else [around(boxes)]


def reported(display: Any) -> list[Rectangle]:
    """The rectangles of the reports that have arrived on a connection."""
    events = [display.next_event() for _ in range(display.pending_events())]
    areas = [event.area for event in events if event.type == display.extension_event.DamageNotify]
    return [(int(area.x), int(area.y), int(area.width), int(area.height)) for area in areas]


def disjoint(rectangles: Iterable[Rectangle]) -> list[Rectangle]:
    """Rectangles with an area that do not overlap and cover the given ones; few, where those are many."""
    kept: list[Rectangle] = []
    for grown in rectangles:
        if not grown[2] or not grown[3]:
            continue
        while met := [other for other in kept if overlap(other, grown)]:
            kept = [other for other in kept if other not in met]
            grown = around([grown, *met])
        kept.append(grown)
    return kept if len(kept) <= _MAX_RECTANGLES else [around(kept)]


def around(rectangles: list[Rectangle]) -> Rectangle:
    """The rectangle around one or more others."""
    left, top = min(x for x, _, _, _ in rectangles), min(y for _, y, _, _ in rectangles)
    right = max(x + width for x, _, width, _ in rectangles)
    bottom = max(y + height for _, y, _, height in rectangles)
    return left, top, right - left, bottom - top


def strips(rectangles: Iterable[Rectangle], pixels: int) -> list[Rectangle]:
    """The same area in rectangles of at most about so many pixels each."""
    cut = []
    for x, y, width, height in rectangles:
        rows = max(pixels // width, 1)
        cut += [(x, top, width, min(rows, y + height - top)) for top in range(y, y + height, rows)]
    return cut


def clip(one: Rectangle, width: int, height: int) -> Rectangle:
    """The part of a rectangle that lies on a screen of a size."""
    left, top = min(max(one[0], 0), width), min(max(one[1], 0), height)
    right, bottom = min(one[0] + one[2], width), min(one[1] + one[3], height)
    return left, top, max(right - left, 0), max(bottom - top, 0)


def overlap(one: Rectangle, other: Rectangle) -> bool:
    """Whether two rectangles share a pixel."""
    return (
        one[0] < other[0] + other[2]
        and other[0] < one[0] + one[2]
        and one[1] < other[1] + other[3]
        and other[1] < one[1] + one[3]
    )
