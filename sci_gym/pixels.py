"""Pixels as the wire has them, drawn into frames: pure functions."""

from __future__ import annotations

import struct
import threading

import numpy as np
import numpy.typing as npt
from lz4 import block

from sci_gym.codec import unpack_box
from sci_gym.errors import ProtocolError
from sci_gym.specs import Box, Frame
from sci_gym_protos import vm_agent_pb2 as pb

BYTES_PER_PIXEL = 4
_LARGE = 2**20  # of a frame's bytes: from here on, starting a second thread costs less than it saves
_LZ4_SIZE = struct.Struct("<I")
Pixels = npt.NDArray[np.uint8]
"""BGRX, or BGRA premultiplied by alpha: uint8 `[H, W, 4]`."""


def count_bytes(place: Box) -> int:
    """How large the pixels of a part of the screen are."""
    return place.width * place.height * BYTES_PER_PIXEL


def unpack_tile(tile: pb.Tile, encoding: int) -> Pixels:
    """A tile's pixels, where they travelled with it.

    Raises:
        ProtocolError: they do not fill its place.
    """
    place = unpack_box(tile.place)
    data = _decompress(tile.data, place) if encoding == pb.Image.ENCODING_LZ4 else tile.data
    if encoding not in (pb.Image.ENCODING_RAW, pb.Image.ENCODING_LZ4) or len(data) != count_bytes(place):
        raise ProtocolError("daemon", f"sent {len(data)} bytes of encoding {encoding} as the tile {place}")
    return np.frombuffer(data, np.uint8).reshape(place.height, place.width, 4)


def unpack_picture(pointer: pb.Pointer) -> Pixels:
    """The pointer's picture.

    Raises:
        ProtocolError: the pixels do not fill its place.
    """
    place = unpack_box(pointer.picture)
    if min(place.width, place.height) < 0 or len(pointer.pixels) != count_bytes(place):
        raise ProtocolError("daemon", f"sent a pointer of {len(pointer.pixels)} bytes as {place}")
    return np.frombuffer(pointer.pixels, np.uint8).reshape(place.height, place.width, 4)


def part(frame: Frame, place: Box) -> Frame:
    """The view of a frame at a place within it."""
    return frame[place.y : place.y + place.height, place.x : place.x + place.width]


def paint(target: Frame, pixels: Pixels) -> None:
    """Put pixels into a part of a frame of their size."""
    if target.size < _LARGE:
        _swap(target, pixels)
        return
    middle = len(target) // 2
    helper = threading.Thread(target=_swap, args=(target[:middle], pixels[:middle]))
    helper.start()
    _swap(target[middle:], pixels[middle:])
    helper.join()


def _swap(target: Frame, pixels: Pixels) -> None:
    for channel in range(3):  # several times as fast as one copy with the channels reversed
        target[:, :, channel] = pixels[:, :, 2 - channel]


def blend(frame: Frame, picture: Pixels, place: Box) -> None:
    """Blend a picture over a frame; it can lie partly outside."""
    seen = place.clip(frame.shape[1], frame.shape[0])
    shown = picture[seen.y - place.y :, seen.x - place.x :][: seen.height, : seen.width].astype(np.uint16)
    under = part(frame, seen)
    under[:] = np.minimum(shown[:, :, 2::-1] + under * (255 - shown[:, :, 3:]) // 255, 255)


def _decompress(data: bytes, place: Box) -> bytes:
    # The size that it says is what would be allocated.
    (size,) = _LZ4_SIZE.unpack_from(data) if len(data) >= _LZ4_SIZE.size else (0,)
    if size != count_bytes(place):
        raise ProtocolError("daemon", f"sent {size} compressed bytes as the tile {place}")
    try:
        return bytes(block.decompress(data))
    except (block.LZ4BlockError, ValueError) as error:
        raise ProtocolError(
            "daemon", f"sent the tile {place} in an LZ4 block that is none: {error}"
        ) from error
