"""Which pixels really differ from before.

Programs that draw through OpenGL, and many others, draw their whole window anew for a caret or a highlighted
button. The X server then reports all of it as changed, and everything in it would be sent and read again.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Iterable, Iterator, Sequence

from sci_gym_vm_agent.capture import BYTES_PER_PIXEL
from sci_gym_vm_agent.damage import Rectangle, around

_BLOCK_ROWS = 16
_CELL_PX = 16
_GAP_ROWS = 8
Rows = tuple[int, int]
"""The first, and one past the last."""
_libc = ctypes.CDLL(None)
_libc.memcmp.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
_libc.memcmp.restype = ctypes.c_int


class Changes:
    """Compares a frame in memory with a copy of how it was when it was last asked."""

    def __init__(self, memory: mmap.mmap, width: int, height: int) -> None:
        """Watch the frame at the start of `memory`: BGRX, rows from the top, without padding."""
        self._width = width
        self._stride = width * BYTES_PER_PIXEL
        self._before = bytearray(self._stride * height)
        self._new = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        self._old = ctypes.addressof(ctypes.c_char.from_buffer(self._before))

    def take(self, bands: Sequence[Rectangle]) -> list[Rectangle]:
        """The rectangles within bands, which share no row, that differ since the last call.

        Outside of the bands nothing may have changed in their rows.
        """
        found = []
        for _, y, _, height in bands:
            for top, bottom in _grouped(self._changed_rows(y, y + height)):
                found.append(self._narrow(top, bottom))
                start = top * self._stride
                ctypes.memmove(self._old + start, self._new + start, (bottom - top) * self._stride)
        return found

    def _changed_rows(self, top: int, bottom: int) -> Iterator[int]:
        for block in range(top, bottom, _BLOCK_ROWS):
            rows = range(block, min(block + _BLOCK_ROWS, bottom))
            if self._differs(block * self._stride, len(rows) * self._stride):
                yield from (row for row in rows if self._differs(row * self._stride, self._stride))

    def _narrow(self, top: int, bottom: int) -> Rectangle:
        """The rectangle around what differs in some rows, to within a cell's width."""
        cells = -(-self._width // _CELL_PX)
        left, right = cells, 0
        for row in range(top, bottom):
            while left and self._cells_differ(row, 0, left):
                left = self._first(row, left)
            while right < cells and self._cells_differ(row, right, cells):
                right = self._last(row, right, cells)
        x = left * _CELL_PX
        return x, top, min(right * _CELL_PX, self._width) - x, bottom - top

    def _first(self, row: int, before: int) -> int:
        """The first cell of a row that differs, known to lie before one."""
        low, high = 0, before
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._cells_differ(row, low, middle) else (middle, high)
        return low

    def _last(self, row: int, start: int, end: int) -> int:
        """One past the last cell of a row that differs, known to lie from `start` on."""
        low, high = start, end
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._cells_differ(row, middle, high) else (low, middle)
        return high

    def _cells_differ(self, row: int, first: int, end: int) -> bool:
        start, stop = first * _CELL_PX, min(end * _CELL_PX, self._width)
        return self._differs(row * self._stride + start * BYTES_PER_PIXEL, (stop - start) * BYTES_PER_PIXEL)

    def _differs(self, start: int, size: int) -> bool:
        return bool(_libc.memcmp(self._new + start, self._old + start, size))


def _grouped(rows: Iterator[int]) -> Iterator[Rows]:
    """Rows that lie close together as (first, one past the last)."""
    first = last = -1
    for row in rows:
        if first < 0:
            first = row
        elif row > last + _GAP_ROWS:
            yield first, last + 1
            first = row
        last = row
    if first >= 0:
        yield first, last + 1


def merge_bands(places: Iterable[Rectangle]) -> list[Rectangle]:
    """Rectangles that share no row and cover the given ones, from the top."""
    merged: list[Rectangle] = []
    for place in sorted(places, key=lambda place: place[1]):
        if merged and place[1] <= merged[-1][1] + merged[-1][3]:
            merged[-1] = around([merged[-1], place])
        else:
            merged.append(place)
    return merged
