"""Images of the screen: whole ones, and what has changed since one that the caller has."""

from __future__ import annotations

import itertools
from typing import Optional, Sequence

from lz4 import block

from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_vm_agent.capture import Capture
from sci_gym_vm_agent.changes import Changes, merge_bands
from sci_gym_vm_agent.damage import DamageLog, Rectangle, clip, disjoint, strips

_STRIP_PIXELS = 2**16  # compressed, decompressed and drawn while they are in a core's cache


class Screen:
    """The screen of one display. Not thread-safe: all calls come from one thread."""

    def __init__(
        self, display: str, root: int, width: int, height: int, depth: int, frame_fd: Optional[int]
    ) -> None:
        """Watch and capture a display; `frame_fd` is memory for frames that the host maps as well."""
        self._width, self._height = width, height
        self._shared = frame_fd is not None
        self._damage = DamageLog(display)
        self._capture = Capture(display, root, width, height, depth, frame_fd)
        self._changes = Changes(self._capture.memory, width, height)
        self._generations = itertools.count(1)
        self._last = self._base = 0
        self._drawn: list[Rectangle] = []  # changed since the image `_last`
        self._sent: list[Rectangle] = []  # changed between the images `_base` and `_last`
        self._unread: list[Rectangle] = []  # changed since `take_unread`
        self._take_in([(0, 0, width, height)])

    def take_unread(self) -> list[Rectangle]:
        """Where pixels had changed by the last look, since this was last called."""
        changed, self._unread = self._unread, []
        return changed

    def draw(self, image: pb.Image, request: pb.ObserveRequest) -> None:
        """Fill `image` with what had changed by the last look since `request.known_image`, or with all."""
        shared = self._shared and request.shared_memory
        changed = self._since(request.known_image)
        rectangles = changed if shared else strips(changed, _STRIP_PIXELS)
        self._last = next(self._generations)
        self._capture.stamp(self._last)
        encoding, data = pb.Image.ENCODING_SHARED, [b""] * len(rectangles)
        if not shared:
            encoding, data = _pack([self._capture.pixels(place) for place in rectangles])
        image.encoding, image.generation, image.base = encoding, self._last, self._base
        image.width_px, image.height_px = self._width, self._height
        for (x, y, width, height), part in zip(rectangles, data):
            place = pb.Rect(x_px=x, y_px=y, width_px=width, height_px=height)
            image.tiles.add(place=place, data=part)

    def look(self) -> None:
        """Take in what has changed on screen; the memory's pixels are those of this moment."""
        # Taken before the pixels are: what is drawn between is captured now and told again the next time.
        damaged = [clip(one, self._width, self._height) for one in self._damage.take()]
        if damaged:
            self._take_in(damaged)

    def _take_in(self, damaged: Sequence[Rectangle]) -> None:
        bands = merge_bands(damaged)
        self._capture.stamp(0)
        self._capture.copy(bands)
        changed = self._changes.take(bands)
        self._drawn = disjoint([*self._drawn, *changed])
        self._unread = disjoint([*self._unread, *changed])

    def _since(self, known: int) -> list[Rectangle]:
        """Note for which image the caller needs changes, and return them."""
        drawn, self._drawn = self._drawn, []
        if known and known == self._last:
            self._base, self._sent = known, drawn
        elif known and known == self._base:  # it never got the images after that one
            self._sent = disjoint([*self._sent, *drawn])
        else:
            self._base = 0
        whole = (0, 0, self._width, self._height)
        if not self._base or whole in self._sent:
            self._base, self._sent = 0, [whole]
        return self._sent


def _pack(parts: Sequence[bytes]) -> tuple[pb.Image.Encoding, list[bytes]]:
    """Compress pixels, or leave them as they are where that makes them no smaller."""
    packed = [block.compress(part) for part in parts]
    if sum(map(len, packed)) < sum(map(len, parts)):
        return pb.Image.ENCODING_LZ4, packed
    return pb.Image.ENCODING_RAW, list(parts)
