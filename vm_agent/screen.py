"""Images of the screen: whole ones, and what has changed since one that the caller has."""

from __future__ import annotations

import itertools
from typing import Optional, Sequence

from lz4 import block

from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_vm_agent.capture import Capture
from sci_gym_vm_agent.damage import DamageLog, Rectangle, clip, disjoint, strips

_STRIP_PIXELS = 2**16  # compressed, decompressed and drawn while they are in a core's cache


class Screen:
    """The screen of one display. Not thread-safe: all calls come from one thread."""

    def __init__(self, display: str, root: int, width: int, height: int, frame_fd: Optional[int]) -> None:
        """Watch and capture a display; `frame_fd` is memory for frames that the host maps as well."""
        self._width, self._height = width, height
        self._shared = frame_fd is not None
        self._damage = DamageLog(display)
        self._capture = Capture(display, root, width, height, frame_fd)
        self._generations = itertools.count(1)
        self._last = self._base = 0
        self._changed: list[Rectangle] = []  # since the image `_base`

    def draw(self, image: pb.Image, request: pb.ObserveRequest) -> None:
        """Fill `image` with what changed since `request.known_image`, or with the whole screen."""
        shared = self._shared and request.shared_memory
        changed = self._changes(request.known_image)
        rectangles = changed if shared else strips(changed, _STRIP_PIXELS)
        self._last = next(self._generations)
        parts = self._capture.copy(rectangles, self._last)
        encoding, data = (pb.Image.ENCODING_SHARED, [b""] * len(parts)) if shared else _pack(parts)
        image.encoding, image.generation, image.base = encoding, self._last, self._base
        image.width_px, image.height_px = self._width, self._height
        for (x, y, width, height), part in zip(rectangles, data):
            place = pb.Rect(x_px=x, y_px=y, width_px=width, height_px=height)
            image.tiles.add(place=place, data=part)

    def _changes(self, known: int) -> list[Rectangle]:
        """Note for which image the caller needs changes, and return them."""
        # Taken before the pixels are: what is drawn between is captured now and told again the next time.
        taken = [clip(one, self._width, self._height) for one in self._damage.take()]
        if known and known == self._last:
            self._base, self._changed = known, disjoint(taken)
        elif known and known == self._base:  # it never got the images after that one
            self._changed = disjoint([*self._changed, *taken])
        else:
            self._base = 0
        whole = (0, 0, self._width, self._height)
        if not self._base or whole in self._changed:
            self._base, self._changed = 0, [whole]
        return self._changed


def _pack(parts: Sequence[memoryview]) -> tuple[pb.Image.Encoding, list[bytes]]:
    """Compress pixels, or leave them as they are where that makes them no smaller."""
    packed = [block.compress(part) for part in parts]
    if sum(map(len, packed)) < sum(map(len, parts)):
        return pb.Image.ENCODING_LZ4, packed
    return pb.Image.ENCODING_RAW, [bytes(part) for part in parts]
