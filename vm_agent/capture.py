"""The screen's pixels, copied by the X server into memory that is shared by descriptor (MIT-SHM 1.2).

That memory is a pixmap of the server's, so that parts of the screen are copied to their places in it.

A System V segment could be attached by any program of the same user; this memory is mapped only by whoever
was given its descriptor: the X server, this process and, where it made the memory, the host.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import mmap
import os
import struct
from typing import Any, Optional, Sequence

from sci_gym_vm_agent.damage import Rectangle
from sci_gym_vm_agent.errors import PartUnavailable

BYTES_PER_PIXEL = 4
_STAMP = struct.Struct("<Q")
_SUBWINDOW_MODE = 1 << 15  # of a graphics context, whose value says to copy what is in the windows as well
_INCLUDE_INFERIORS = 1


class _Cookie(ctypes.Structure):
    _fields_ = [("sequence", ctypes.c_uint)]


def _library(name: str, package: str) -> Any:
    found = ctypes.util.find_library(name)
    if found is None:
        raise PartUnavailable("display", f"lib{name} is missing; install it with: apt-get install {package}")
    return ctypes.CDLL(found)


class Capture:
    """One connection that copies the root window. Not thread-safe: all calls come from one thread."""

    def __init__(
        self, display: str, root: int, width: int, height: int, depth: int, frame_fd: Optional[int]
    ) -> None:
        """Connect, and share a frame's memory with the X server: the host's, or without one our own."""
        self._xcb, self._shm = _library("xcb", "libxcb1"), _library("xcb-shm", "libxcb-shm0")
        self._libc = ctypes.CDLL(None)
        self._declare()
        self._root, self._width = root, width
        self._connection = self._xcb.xcb_connect(display.encode(), None)
        if self._xcb.xcb_connection_has_error(self._connection):
            raise PartUnavailable("display", f"cannot connect to {display}")
        self._segment = self._xcb.xcb_generate_id(self._connection)
        self._stamp_offset = width * height * BYTES_PER_PIXEL
        self.memory = self._share(frame_fd, self._stamp_offset + _STAMP.size)
        self._pixmap = self._xcb.xcb_generate_id(self._connection)
        self._check(
            self._shm.xcb_shm_create_pixmap_checked(
                self._connection, self._pixmap, root, width, height, depth, self._segment, 0
            ),
            "no MIT-SHM pixmaps",
        )
        self._context = self._xcb.xcb_generate_id(self._connection)
        modes = (ctypes.c_uint32 * 1)(_INCLUDE_INFERIORS)
        self._xcb.xcb_create_gc(self._connection, self._context, root, _SUBWINDOW_MODE, modes)

    def copy(self, places: Sequence[Rectangle]) -> None:
        """Copy parts of the screen as it is now to their places in the memory.

        Raises:
            PartUnavailable: the X server is gone.
        """
        for x, y, width, height in places:
            self._xcb.xcb_copy_area(
                self._connection, self._root, self._pixmap, self._context, x, y, x, y, width, height
            )
        reply = self._xcb.xcb_get_input_focus_reply(
            self._connection, self._xcb.xcb_get_input_focus(self._connection), None
        )  # its answer comes when all is copied
        self._libc.free(reply)
        if not reply:
            raise PartUnavailable("display", "the X server did not give its screen")

    def stamp(self, generation: int) -> None:
        """Say of which image the pixels in the memory are; 0 while they change."""
        _STAMP.pack_into(self.memory, self._stamp_offset, generation)

    def pixels(self, place: Rectangle) -> bytes:
        """A part of the memory, rows without padding."""
        x, y, width, height = place
        starts = range(
            (y * self._width + x) * BYTES_PER_PIXEL, self._stamp_offset, self._width * BYTES_PER_PIXEL
        )
        view = memoryview(self.memory)
        return b"".join(view[start : start + width * BYTES_PER_PIXEL] for start in starts[:height])

    def _check(self, cookie: _Cookie, problem: str) -> None:
        error = self._xcb.xcb_request_check(self._connection, cookie)
        self._libc.free(error)
        if error:
            raise PartUnavailable("display", f"the X server has {problem}")

    def _share(self, frame_fd: Optional[int], size: int) -> mmap.mmap:
        descriptor = frame_fd
        if descriptor is None:
            descriptor = os.memfd_create("sci-gym-frame")
            os.ftruncate(descriptor, size)
        try:
            # The call takes a descriptor and closes it.
            cookie = self._shm.xcb_shm_attach_fd_checked(
                self._connection, self._segment, os.dup(descriptor), False
            )
            self._check(cookie, "no MIT-SHM 1.2")
            return mmap.mmap(descriptor, size)
        finally:
            os.close(descriptor)

    def _declare(self) -> None:
        pointer, u8, u16, u32 = ctypes.c_void_p, ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32
        i16 = ctypes.c_int16
        signatures: list[tuple[Any, str, Any, list[Any]]] = [
            (self._xcb, "xcb_connect", pointer, [ctypes.c_char_p, pointer]),
            (self._xcb, "xcb_connection_has_error", ctypes.c_int, [pointer]),
            (self._xcb, "xcb_generate_id", u32, [pointer]),
            (self._xcb, "xcb_request_check", pointer, [pointer, _Cookie]),
            (self._shm, "xcb_shm_attach_fd_checked", _Cookie, [pointer, u32, ctypes.c_int32, u8]),
            (
                self._shm,
                "xcb_shm_create_pixmap_checked",
                _Cookie,
                [pointer, u32, u32, u16, u16, u8, u32, u32],
            ),
            (self._xcb, "xcb_create_gc", _Cookie, [pointer, u32, u32, u32, pointer]),
            (
                self._xcb,
                "xcb_copy_area",
                _Cookie,
                [pointer, u32, u32, u32, i16, i16, i16, i16, u16, u16],
            ),
            (self._xcb, "xcb_get_input_focus", _Cookie, [pointer]),
            (self._xcb, "xcb_get_input_focus_reply", pointer, [pointer, _Cookie, pointer]),
            (self._libc, "free", None, [pointer]),
        ]
        for library, name, result, arguments in signatures:
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
