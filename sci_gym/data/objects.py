"""Frames and trees on disk, each once: a file is named by the digest of its bytes.

A file is compressed with LZ4, which takes about 2 ms for a screen of 1920 by 1080 and is undone as fast; PNG
takes about 70 ms. A name is given out only when the file is whole, so that a crash leaves no half one behind.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import struct
import threading
from pathlib import Path
from typing import Any

import lz4.block
import numpy as np
from PIL import Image

from sci_gym.errors import ConfigurationError
from sci_gym.frames import MAX_PIXELS
from sci_gym.specs import A11yNode, A11yTree, Box, Frame

NAME = "[0-9a-f]{32}"
_SIZE = struct.Struct("<4sHH")
_FRAME, _TREE = b"RGB8", b"TREE"
_MAX_TREE_BYTES = 1 << 26


class ObjectStore:
    """The folder of a data set's frames and trees; any number of processes may add to it at once."""

    def __init__(self, folder: Path) -> None:
        """Take the folder; it is made with the first object."""
        self._folder = folder

    def put(self, data: bytes) -> str:
        """Keep an object, unless it is there; returns its name."""
        name = hashlib.blake2b(data, digest_size=16).hexdigest()
        path = self._path(name)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_suffix(f".{os.getpid()}-{threading.get_native_id()}.part")
            draft.write_bytes(data)
            draft.replace(path)
        return name

    def adopt(self, name: str, other: ObjectStore) -> None:
        """Keep an object of another store, as a link where both are on one disk; see `get` for errors."""
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(other._path(name), path)
        except FileExistsError:
            return
        except OSError:
            self.put(other.get(name))

    def get(self, name: str) -> bytes:
        """An object's bytes.

        Raises:
            ConfigurationError: there is no such object, or its bytes are not those that gave it its name.
        """
        if not re.fullmatch(NAME, name):
            raise ConfigurationError(f"{name!r}: is not the name of an object: 32 hexadecimal digits")
        path = self._path(name)
        try:
            data = path.read_bytes()
        except OSError as exc:
            raise ConfigurationError(f"{path}: cannot be read: {exc}") from exc
        if hashlib.blake2b(data, digest_size=16).hexdigest() != name:
            raise ConfigurationError(f"{path}: is damaged: its bytes are not those that it is named by")
        return data

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / name[2:]


def pack_frame(frame: Frame) -> bytes:
    """A screen as bytes, without loss."""
    height, width = frame.shape[:2]
    packed: bytes = lz4.block.compress(np.ascontiguousarray(frame), store_size=False)
    return _SIZE.pack(_FRAME, width, height) + packed


def unpack_frame(data: bytes) -> Frame:
    """The screen, uint8 `[H, W, 3]`.

    Raises:
        ConfigurationError: the bytes are not a frame's.
    """
    try:
        kind, width, height = _SIZE.unpack_from(data)
        if kind != _FRAME or not 0 < width * height <= MAX_PIXELS:
            raise ValueError(f"{kind!r} of {width}x{height} pixels")
        plain = lz4.block.decompress(data[_SIZE.size :], uncompressed_size=width * height * 3)
        return np.frombuffer(plain, np.uint8).reshape(height, width, 3)
    except (struct.error, ValueError, lz4.block.LZ4BlockError) as exc:
        raise ConfigurationError(f"not a frame: {exc}") from exc


def encode_png(frame: Frame) -> bytes:
    """A screen as a PNG file."""
    buffer = io.BytesIO()
    Image.fromarray(frame).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def pack_tree(tree: A11yTree) -> bytes:
    """A tree as bytes: each node's fields in order."""
    text = json.dumps([list(node[1:]) for node in tree], separators=(",", ":")).encode()
    packed: bytes = lz4.block.compress(text, store_size=True)
    return _TREE + packed


def unpack_tree(data: bytes) -> A11yTree:
    """The tree.

    Raises:
        ConfigurationError: the bytes are not a tree's.
    """
    try:
        (size,) = struct.unpack_from("<I", data, len(_TREE))
        if data[: len(_TREE)] != _TREE or size > _MAX_TREE_BYTES:
            raise ValueError(f"{data[: len(_TREE)]!r} of {size} bytes")
        rows = json.loads(lz4.block.decompress(data[len(_TREE) :]))
        return A11yTree(tuple(_node(number, row) for number, row in enumerate(rows)))
    except (struct.error, TypeError, ValueError, lz4.block.LZ4BlockError) as exc:
        raise ConfigurationError(f"not a tree: {exc}") from exc


def _node(number: int, row: list[Any]) -> A11yNode:
    parent, role, name, text, description, value, states, box, program, cell = row
    place = Box(*box) if box else None
    spot = (cell[0], cell[1]) if cell else None
    return A11yNode(number, parent, role, name, text, description, value, states, place, program, spot)
