"""A maximised window of one colour, until it is killed: what flipping to it changes is the whole screen."""

import ctypes
import ctypes.util

COLOR = 0x2F6F4F


def main() -> None:
    """Show it."""
    x11 = ctypes.CDLL(ctypes.util.find_library("X11"))
    x11.XOpenDisplay.restype = ctypes.c_void_p
    display = ctypes.c_void_p(x11.XOpenDisplay(None))
    x11.XDefaultRootWindow.restype = x11.XCreateSimpleWindow.restype = ctypes.c_ulong
    root = ctypes.c_ulong(x11.XDefaultRootWindow(display))
    window = ctypes.c_ulong(x11.XCreateSimpleWindow(display, root, 0, 0, 800, 600, 0, 0, COLOR))
    x11.XStoreName(display, window, b"cover")
    x11.XMapWindow(display, window)
    event = ctypes.create_string_buffer(256)
    while True:
        x11.XNextEvent(display, event)


if __name__ == "__main__":
    main()
