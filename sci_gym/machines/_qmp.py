"""QEMU's control channel (QMP): commands with a deadline, over a socket that only this process holds."""

from __future__ import annotations

import array
import contextlib
import json
import socket
import time
from collections import deque
from typing import Any

from sci_gym.errors import DeadlineError, DisconnectedError, InfrastructureError, ProtocolError

PART = "virtual machine"
_ANSWER_S = 20.0
_MOST_BYTES = 2**20


class Line:
    """A socket to QEMU that carries lines."""

    def __init__(self, end: socket.socket) -> None:
        """Own `end`."""
        self._socket = end
        self._text = b""

    def close(self) -> None:
        """Close it; whoever waits for a line is told."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def write(self, data: Any, descriptor: int | None = None) -> None:
        """Send a line of JSON, with it a descriptor.

        Raises:
            DisconnectedError: QEMU has ended.
        """
        line = json.dumps(data).encode() + b"\n"
        passed = [] if descriptor is None else [descriptor]
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", passed))] if passed else []
        try:
            self._socket.sendmsg([line], rights)
        except OSError as error:
            raise DisconnectedError(PART, f"QEMU has ended ({error.strerror})") from error

    def read(self, deadline_s: float) -> bytes:
        """The next line, without its end; `deadline_s` is on the monotonic clock.

        Raises:
            DeadlineError: there was none in time.
            DisconnectedError: QEMU has ended.
            ProtocolError: the line does not end, as a guest may have it.
        """
        while b"\n" not in self._text:
            if len(self._text) > _MOST_BYTES:
                raise ProtocolError(PART, f"a line of more than {_MOST_BYTES} bytes was said")
            try:
                self._socket.settimeout(max(deadline_s - time.monotonic(), 0.001))
                data = self._socket.recv(65536)
            except TimeoutError:
                raise DeadlineError(PART, "said nothing in time") from None
            except OSError as error:
                raise DisconnectedError(PART, f"QEMU has ended ({error.strerror})") from error
            if not data:
                raise DisconnectedError(PART, "QEMU has ended")
            self._text += data
        line, _, self._text = self._text.partition(b"\n")
        return line


class Monitor:
    """Commands to one QEMU. Not thread-safe."""

    def __init__(self, line: Line, start_s: float) -> None:
        """Greet it within `start_s`."""
        self._line = line
        self._events: deque[dict[str, Any]] = deque()
        self._line.read(time.monotonic() + start_s)
        self.do("qmp_capabilities")

    def do(self, command: str, descriptor: int | None = None, /, **arguments: Any) -> Any:
        """Run a command, and give its answer.

        Raises:
            InfrastructureError: QEMU refuses it, has ended, or does not answer.
        """
        self._line.write({"execute": command, "arguments": arguments}, descriptor)
        end = time.monotonic() + _ANSWER_S
        while True:
            answer = json.loads(self._line.read(end))
            if "event" in answer:
                self._events.append(answer)
            if "error" in answer:
                raise InfrastructureError(PART, f"QEMU: {command}: {answer['error'].get('desc')}")
            if "return" in answer:
                return answer["return"]

    def wait_for_move(self, deadline_s: float) -> None:
        """Wait until a state was sent or received as a whole, which QEMU tells with an event.

        Raises:
            InfrastructureError: it failed, or was not done within `deadline_s`.
        """
        end = time.monotonic() + deadline_s
        while (event := self._next_event(end))["event"] != "MIGRATION" or not _over(event):
            pass

    def _next_event(self, end_s: float) -> dict[str, Any]:
        if self._events:
            return self._events.popleft()
        event: dict[str, Any] = json.loads(self._line.read(end_s))
        return event


def _over(event: dict[str, Any]) -> bool:
    status = event["data"]["status"]
    if status in ("failed", "cancelled"):
        raise InfrastructureError(PART, f"its state could not be moved: {status}")
    return bool(status == "completed")
