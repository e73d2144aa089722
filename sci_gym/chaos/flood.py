"""Runs in the guest, with its Python alone: an X client that draws as fast as the server takes it."""

import os
import socket
import struct

SIDE_PX = 300
CREATE_WINDOW, MAP_WINDOW, GET_FOCUS, CREATE_GC, CHANGE_GC, FILL = 1, 8, 43, 55, 56, 70
OVERRIDE_REDIRECT, FOREGROUND = 1 << 9, 1 << 2


def receive(connection: socket.socket, size: int) -> bytes:
    """Read exactly so many bytes."""
    data = b""
    while len(data) < size:
        data += connection.recv(size - len(data))
    return data


def main() -> None:
    """Connect, open a window that no window manager touches, and fill it again and again."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect("/tmp/.X11-unix/X" + os.environ["DISPLAY"].partition(":")[2].partition(".")[0])
    connection.sendall(struct.pack("<BxHHHHxx", ord("l"), 11, 0, 0, 0))
    setup = receive(connection, 4 * struct.unpack("<H", receive(connection, 8)[6:])[0])
    (window,) = struct.unpack_from("<I", setup, 4)
    vendor, formats = struct.unpack_from("<H", setup, 16)[0], setup[21]
    (root,) = struct.unpack_from("<I", setup, 32 + (vendor + 3) // 4 * 4 + 8 * formats)
    gc = window + 1
    place = (0, 0, SIDE_PX, SIDE_PX)
    shape = struct.pack("<hhHHHHI", *place, 0, 1, 0)
    connection.sendall(
        struct.pack("<BBHII", CREATE_WINDOW, 0, 9, window, root)
        + shape + struct.pack("<II", OVERRIDE_REDIRECT, 1)
        + struct.pack("<BBHI", MAP_WINDOW, 0, 2, window)
        + struct.pack("<BBHIII", CREATE_GC, 0, 4, gc, window, 0)
    )  # fmt: skip
    color = 0
    while True:
        color = (color + 0x10305) & 0xFFFFFF
        connection.sendall(
            struct.pack("<BBHIII", CHANGE_GC, 0, 4, gc, FOREGROUND, color)
            + struct.pack("<BBHIIhhHH", FILL, 0, 5, window, gc, *place)
            + struct.pack("<BBH", GET_FOCUS, 0, 1)
        )
        receive(connection, 32)


if __name__ == "__main__":
    main()
