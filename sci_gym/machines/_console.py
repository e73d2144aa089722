"""What QEMU and the guest's console say: the end of it, however much there is."""

from __future__ import annotations

import contextlib
import socket
import threading

_KEPT_BYTES = 4096
_BLOCK_BYTES = 65_536
_REST_S = 1.0


class Console:
    """Reads from a socket until its other end is closed, and keeps what came last."""

    def __init__(self, end: socket.socket) -> None:
        """Own `end`, and read it in a thread of its own: a guest's console never has to wait."""
        self._socket = end
        self._kept = b""
        self._reader = threading.Thread(target=self._read, name="sci-gym-console", daemon=True)
        self._reader.start()

    def text(self, *, ended: bool) -> str:
        """What came last; of one who has `ended`, the very last."""
        if ended:
            self._reader.join(_REST_S)
        return self._kept.decode(errors="replace").strip()

    def close(self) -> None:
        """Read no more."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _read(self) -> None:
        with self._socket, contextlib.suppress(OSError):
            while data := self._socket.recv(_BLOCK_BYTES):
                self._kept = (self._kept + data)[-_KEPT_BYTES:]
