"""A machine whose connection can be watched and cut."""

from __future__ import annotations

import contextlib
import socket
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sci_gym.app import Requirement
from sci_gym.errors import ConfigurationError, InfrastructureError
from sci_gym.machines import Endpoint, Machine

_SCHEME = "unix:"
_BLOCK_BYTES = 65_536


class Tap:
    """Passes connections on to a daemon, and tells when a caller sends something."""

    def __init__(self, target: str) -> None:
        """Listen on a socket of its own; `target` is unix:PATH or HOST:PORT."""
        self._target = target
        self._folder = tempfile.TemporaryDirectory(prefix="tap-")
        self.path = str(Path(self._folder.name) / "agent.sock")
        self.sent = threading.Event()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen()
        threading.Thread(target=self._accept, name="tap", daemon=True).start()

    def drop(self) -> None:
        """Cut the connections; new ones are taken."""
        pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Cut everything."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.drop()
        self._folder.cleanup()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                caller, _ = self._listener.accept()
                daemon = _connect(self._target)
                self._pairs.append((caller, daemon))
                for source, target in ((caller, daemon), (daemon, caller)):
                    notices = source is caller
                    threading.Thread(target=self._pump, args=(source, target, notices), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, notices: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_BLOCK_BYTES):
                target.sendall(data)
                if notices:
                    self.sent.set()
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        source.close()  # each end by the thread that reads it


def _connect(target: str) -> socket.socket:
    """A socket to a target; one that nobody listens at gives a socket that is not connected."""
    is_local = target.startswith(_SCHEME)
    host, _, port = target.rpartition(":")
    daemon = socket.socket(socket.AF_UNIX if is_local else socket.AF_INET)
    with contextlib.suppress(OSError):
        daemon.connect(target.removeprefix(_SCHEME) if is_local else (host, int(port)))
    return daemon


class TappedMachine(Machine):
    """A machine with a tap on its connection.

    Attributes:
        inner: the machine itself.
        tap: on what runs.
    """

    def __init__(self, machine: Machine) -> None:
        """Put a tap on `machine`."""
        super().__init__(machine.spec)
        self.inner = machine
        self.tap: Tap | None = None

    def start(self) -> Endpoint:
        """Start it, and its tap."""
        return self._listen(self.inner.start())

    def restore(self) -> Endpoint:
        """Bring it back, with a new tap."""
        return self._listen(self.inner.restore())

    def stop(self) -> bool:
        """End it and its tap."""
        if self.tap is not None:
            self.tap.close()
            self.tap = None
        return self.inner.stop()

    def keep(self, key: str) -> Endpoint | None:
        """Ask the machine, and put a new tap on what runs then."""
        endpoint = self.inner.keep(key)
        return self._listen(endpoint) if endpoint else None

    def recall(self, key: str) -> Endpoint | None:
        """Ask the machine, and put a tap on it."""
        endpoint = self.inner.recall(key)
        return self._listen(endpoint) if endpoint else None

    @property
    def slowness(self) -> float:
        """Ask the machine."""
        return self.inner.slowness

    def require(self, requirements: Sequence[Requirement]) -> None:
        """Ask the machine."""
        self.inner.require(requirements)

    def parts(self) -> Mapping[str, Sequence[int]]:
        """Ask the machine."""
        return self.inner.parts()

    def fault(self) -> InfrastructureError | None:
        """Ask the machine."""
        return self.inner.fault()

    @property
    def running(self) -> bool:
        """Whether the machine runs."""
        return self.inner.running

    @classmethod
    def missing(cls) -> dict[str, str]:
        """Nothing of its own."""
        return {}

    def _listen(self, endpoint: Endpoint) -> Endpoint:
        if endpoint.ca is not None:
            raise ConfigurationError(
                f"chaos: cannot cut a connection to {endpoint.address}, which is encrypted; use the sandbox"
            )
        if self.tap is not None:
            self.tap.close()
        self.tap = Tap(endpoint.address)
        return replace(endpoint, address=f"{_SCHEME}{self.tap.path}")
