"""The screen as the host knows it: changed tiles over the frame before, and the pointer over both.

What the guest says is checked before anything is made of it: it may lie about sizes, places and bases.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Sequence

import numpy as np

from sci_gym.codec import unpack_box
from sci_gym.errors import ProtocolError
from sci_gym.pixels import (
    BYTES_PER_PIXEL,
    Pixels,
    blend,
    count_bytes,
    paint,
    part,
    unpack_picture,
    unpack_tile,
)
from sci_gym.specs import Box, Frame
from sci_gym_protos import vm_agent_pb2 as pb

MAX_PIXELS = 2**25
MAX_TILES = 2048
_STAMP = struct.Struct("<Q")


def memory_bytes(width: int, height: int) -> int:
    """How much memory a machine shares with its daemon for a screen: its pixels and their stamp."""
    return width * height * BYTES_PER_PIXEL + _STAMP.size


class FrameStore:
    """The last frame of one daemon. Not thread-safe.

    Frames are read-only, so that an unchanged screen is the same array again; copy one to write into it.

    Attributes:
        frame: RGB with the pointer drawn, uint8 `[H, W, 3]`; without pixels before the first image.
    """

    def __init__(self, memory: mmap.mmap | None = None) -> None:
        """Start without a frame; `memory` is what the machine shares with its daemon, if it does."""
        self._memory = memory
        self.frame: Frame = np.empty((0, 0, 3), np.uint8)
        self._generation = 0
        self._pointer = pb.Pointer()
        self._hidden = (Box(0, 0, 0, 0), self.frame)  # what the pointer hides of the screen, and where

    def request(self, asked: pb.ObserveRequest) -> pb.ObserveRequest:
        """What was asked for, and of the screen only what changed since the last frame."""
        request = pb.ObserveRequest()
        request.CopyFrom(asked)
        request.known_image = self._generation
        request.shared_memory = self._memory is not None
        return request

    def apply(self, image: pb.Image, pointer: pb.Pointer) -> None:
        """Take an image in.

        Raises:
            ProtocolError: the image or the pointer cannot be; the frame stays as it was.
        """
        places = _check(image)
        self._check_base(image, places)
        picture = unpack_picture(pointer)
        if places or pointer != self._pointer:
            frame = self._bare() if image.base else _blank(image)
            self._paint(frame, image, places)
            place = unpack_box(pointer.picture)
            seen = place.clip(image.width_px, image.height_px)
            self._hidden = (seen, part(frame, seen).copy())
            blend(frame, picture, place)
            frame.flags.writeable = False
            self.frame = frame
            self._pointer.CopyFrom(pointer)  # the message would keep the whole reply
        self._generation = image.generation

    def _check_base(self, image: pb.Image, places: Sequence[Box]) -> None:
        shape = (image.height_px, image.width_px, 3)
        if image.base:
            fits = image.base == self._generation and shape == self.frame.shape
        else:
            fits = sum(map(count_bytes, places)) == image.width_px * image.height_px * BYTES_PER_PIXEL
        if not fits:
            raise ProtocolError(
                "daemon", f"sent {len(places)} tiles of shape {shape} over image {image.base}; "
                f"here is image {self._generation} of shape {self.frame.shape}"
            )  # fmt: skip

    def _bare(self) -> Frame:
        """A copy of the frame without the pointer."""
        frame = self.frame.copy()
        place, pixels = self._hidden
        part(frame, place)[:] = pixels
        return frame

    def _paint(self, frame: Frame, image: pb.Image, places: Sequence[Box]) -> None:
        if image.encoding != pb.Image.ENCODING_SHARED:
            for place, tile in zip(places, image.tiles, strict=True):
                paint(part(frame, place), unpack_tile(tile, image.encoding))
        elif places:
            self._paint_shared(frame, image.generation, places)

    def _paint_shared(self, frame: Frame, generation: int, places: Sequence[Box]) -> None:
        size = frame.shape[0] * frame.shape[1] * BYTES_PER_PIXEL
        if self._memory is None or len(self._memory) != size + _STAMP.size:
            raise ProtocolError("daemon", f"sent {size} bytes in shared memory that is not so large")
        pixels: Pixels = np.frombuffer(self._memory, np.uint8, size).reshape(*frame.shape[:2], 4)
        for place in places:
            paint(part(frame, place), part(pixels, place))
        (stamp,) = _STAMP.unpack_from(self._memory, len(self._memory) - _STAMP.size)
        if stamp != generation:
            raise ProtocolError(
                "daemon",
                f"wrote image {stamp} over {generation} before that was read; a machine has one client",
            )


def _blank(image: pb.Image) -> Frame:
    # One tile fills it; several could overlap, and show what this process had in its memory before.
    make = np.empty if len(image.tiles) == 1 else np.zeros
    return make((image.height_px, image.width_px, 3), np.uint8)


def _check(image: pb.Image) -> list[Box]:
    """Where the tiles lie, of an image whose tiles can be."""
    width, height = image.width_px, image.height_px
    if not 0 < width * height <= MAX_PIXELS or len(image.tiles) > MAX_TILES:
        raise ProtocolError("daemon", f"sent {len(image.tiles)} tiles of {width}x{height} pixels")
    places = [unpack_box(tile.place) for tile in image.tiles]
    for place in places:
        if min(place.width, place.height) < 1 or place.clip(width, height) != place:
            raise ProtocolError("daemon", f"sent a tile {place} of a screen of {width}x{height} pixels")
    if sum(map(count_bytes, places)) > width * height * BYTES_PER_PIXEL:
        raise ProtocolError("daemon", f"sent tiles that overlap: {places}")
    return places
