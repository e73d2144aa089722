"""Screenshots through MIT-SHM 1.2, into memory that only the X server and this process can map.

A System V segment could be attached by any program of the same user; here the X server makes the segment
and passes its descriptor, so a program in the desktop can neither read nor alter a screenshot.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import mmap
import os
from typing import Any

from sci_gym_vm_agent.errors import PartUnavailable

BYTES_PER_PIXEL = 4
_Z_PIXMAP = 2
_ALL_PLANES = 0xFFFFFFFF


class _Cookie(ctypes.Structure):
    _fields_ = [("sequence", ctypes.c_uint)]


def _library(name: str, package: str) -> Any:
    found = ctypes.util.find_library(name)
    if found is None:
        raise PartUnavailable("display", f"lib{name} is missing; install it with: apt-get install {package}")
    return ctypes.CDLL(found)


class Capture:
    """One connection that copies the root window. Not thread-safe: all calls come from one thread."""

    def __init__(self, display: str, root: int, width: int, height: int) -> None:
        """Connect, and share a segment of one frame with the X server."""
        self._xcb, self._shm = _library("xcb", "libxcb1"), _library("xcb-shm", "libxcb-shm0")
        self._libc = ctypes.CDLL(None)
        self._declare()
        self._root, self._width, self._height = root, width, height
        self._connection = self._xcb.xcb_connect(display.encode(), None)
        if self._xcb.xcb_connection_has_error(self._connection):
            raise PartUnavailable("display", f"cannot connect to {display}")
        self._segment = self._xcb.xcb_generate_id(self._connection)
        self._frame = self._share(width * height * BYTES_PER_PIXEL)

    def grab(self) -> bytes:
        """Copy the screen as it is now: BGRX, rows from the top.

        Raises:
            PartUnavailable: the X server is gone.
        """
        cookie = self._shm.xcb_shm_get_image(
            self._connection,
            self._root,
            0,
            0,
            self._width,
            self._height,
            _ALL_PLANES,
            _Z_PIXMAP,
            self._segment,
            0,
        )
        reply = self._shm.xcb_shm_get_image_reply(self._connection, cookie, None)
        if not reply:
            raise PartUnavailable("display", "the X server did not give its screen")
        self._libc.free(reply)
        return bytes(self._frame)

    def _share(self, size: int) -> mmap.mmap:
        cookie = self._shm.xcb_shm_create_segment(self._connection, self._segment, size, 0)
        reply = self._shm.xcb_shm_create_segment_reply(self._connection, cookie, None)
        if not reply:
            raise PartUnavailable("display", "the X server has no MIT-SHM 1.2")
        descriptor = self._shm.xcb_shm_create_segment_reply_fds(self._connection, reply)[0]
        self._libc.free(reply)
        try:
            return mmap.mmap(descriptor, size, prot=mmap.PROT_READ)
        finally:
            os.close(descriptor)

    def _declare(self) -> None:
        pointer, u8, u16, u32 = ctypes.c_void_p, ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32
        signatures: list[tuple[Any, str, Any, list[Any]]] = [
            (self._xcb, "xcb_connect", pointer, [ctypes.c_char_p, pointer]),
            (self._xcb, "xcb_connection_has_error", ctypes.c_int, [pointer]),
            (self._xcb, "xcb_generate_id", u32, [pointer]),
            (self._shm, "xcb_shm_create_segment", _Cookie, [pointer, u32, u32, u8]),
            (self._shm, "xcb_shm_create_segment_reply", pointer, [pointer, _Cookie, pointer]),
            (self._shm, "xcb_shm_create_segment_reply_fds", ctypes.POINTER(ctypes.c_int), [pointer, pointer]),
            (
                self._shm,
                "xcb_shm_get_image",
                _Cookie,
                [pointer, u32, ctypes.c_int16, ctypes.c_int16, u16, u16, u32, u8, u32, u32],
            ),
            (self._shm, "xcb_shm_get_image_reply", pointer, [pointer, _Cookie, pointer]),
            (self._libc, "free", None, [pointer]),
        ]
        for library, name, result, arguments in signatures:
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
