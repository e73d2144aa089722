"""A connection to a message bus that keeps many calls in flight at once.

What is asked in one go leaves in one write, and a reply is handed to a callback as it comes: no write, task
or future for each call, which would cost more than the call itself.
"""

from __future__ import annotations

import asyncio
import os
import struct
from collections import deque
from typing import Any, Callable, Dict, List, Optional, Tuple

from sci_gym_vm_agent.dbus import (
    ERROR,
    SIGNAL,
    Address,
    Malformed,
    Message,
    Method,
    address_of,
    size_at,
    unpack,
)
from sci_gym_vm_agent.errors import PartUnavailable

PART = "accessibility bus"
BUS = address_of("org.freedesktop.DBus", "/org/freedesktop/DBus")
BUS_INTERFACE = "org.freedesktop.DBus"
_HELLO = Method(BUS_INTERFACE, "Hello", "s")
_IN_FLIGHT = 256
_LIMITS_EXCEEDED = "org.freedesktop.DBus.Error.LimitsExceeded"
_WELCOME = b"OK "
_MAX_LINE_BYTES = 16_384
OnReply = Callable[[Any], None]
"""Called with a reply's first argument; with None when the call failed: the object or its program is gone."""


class Bus(asyncio.Protocol):
    """One connection."""

    def __init__(self, address: str, on_signal: Callable[[Message], None]) -> None:
        """Plan a connection; `on_signal` gets every signal that a match rule lets through."""
        self._path = address.rpartition("path=")[2]
        self._on_signal = on_signal
        self._waiting: Dict[int, Tuple[Batch, OnReply, Method]] = {}
        self._transport: Optional[asyncio.WriteTransport] = None
        self._serial = 0
        self._received = bytearray()
        self._unsent: List[bytes] = []
        self._welcomed = False

    async def connect(self) -> None:
        """Connect, and say hello.

        Raises:
            PartUnavailable: the bus does not answer, or turns us away.
        """
        try:
            await asyncio.get_running_loop().create_unix_connection(lambda: self, self._path)
        except OSError as error:
            raise PartUnavailable(PART, f"cannot connect: {error}") from error
        await self.call(BUS, _HELLO)

    def disconnect(self) -> None:
        """Leave the bus."""
        if self._transport is not None:
            self._transport.close()

    async def call(self, address: Address, method: Method) -> Any:
        """Make one call, and return the reply's first argument; None when it failed."""
        replies: List[Any] = []
        batch = Batch(self)
        batch.ask(replies.append, address, method)
        await batch.done()
        return replies[0]

    def send(self, batch: Batch, on_reply: OnReply, address: Address, method: Method) -> None:
        """Send a call whose reply counts for `batch`, together with all others that are made now."""
        if self._transport is None:
            raise PartUnavailable(PART, "the connection is gone")
        self._serial = self._serial % 0xFFFFFFFF + 1
        self._waiting[self._serial] = batch, on_reply, method
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._flush)
        self._unsent.append(method.call(address, self._serial))

    def forget(self, batch: Batch) -> None:
        """Drop the replies that a batch still waits for."""
        for serial in [serial for serial, (waits, *_) in self._waiting.items() if waits is batch]:
            del self._waiting[serial]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Give our user id, which the socket proves (D-Bus specification, "Authentication Protocol")."""
        assert isinstance(transport, asyncio.WriteTransport)  # of a socket
        self._transport = transport
        transport.write(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")

    def connection_lost(self, error: Optional[Exception]) -> None:
        """End all waiting."""
        self._transport = None
        for batch, *_ in list(self._waiting.values()):
            batch.fail(PartUnavailable(PART, "the connection is gone"))

    def data_received(self, data: bytes) -> None:
        """Hand on every message that is complete."""
        self._received += data
        try:
            if self._welcomed or self._is_welcome():
                self._take_messages()
        except Malformed:
            self.disconnect()

    def _is_welcome(self) -> bool:
        line, end, rest = bytes(self._received).partition(b"\r\n")
        if not end and len(line) < _MAX_LINE_BYTES:
            return False
        if not line.startswith(_WELCOME):
            raise Malformed("no welcome")
        self._welcomed, self._received = True, bytearray(rest)
        if self._transport is not None:
            self._transport.write(b"BEGIN\r\n")
            self._flush()
        return True

    def _take_messages(self) -> None:
        received, at = self._received, 0
        while (size := size_at(received, at)) is not None and at + size <= len(received):
            self._handle(bytes(received[at : at + size]))
            at += size
        del received[:at]
        self._flush()

    def _handle(self, data: bytes) -> None:
        try:
            message = unpack(data)
        except (Malformed, IndexError, struct.error):  # of a program that means no good
            return
        if message.kind == SIGNAL:
            self._on_signal(message)
        elif message.reply_to in self._waiting:
            self._answer(message, *self._waiting.pop(message.reply_to))

    def _answer(self, message: Message, batch: Batch, on_reply: OnReply, method: Method) -> None:
        if message.kind != ERROR:
            batch.answer(on_reply, message.answer(method.returns))
        elif message.error == _LIMITS_EXCEEDED:
            batch.fail(PartUnavailable(PART, "refuses more calls: " + " ".join(message.texts(1))))
        else:
            batch.answer(on_reply, None)

    def _flush(self) -> None:
        if self._unsent and self._welcomed and self._transport is not None:
            unsent, self._unsent = self._unsent, []
            self._transport.write(b"".join(unsent))


class Batch:
    """Calls that are awaited together; a callback may ask for more."""

    def __init__(self, bus: Bus) -> None:
        """Start with no call."""
        self._bus = bus
        self._left = 0
        self._unsent: deque[Tuple[OnReply, Address, Method]] = deque()
        self._in_flight = 0
        self._done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def ask(self, on_reply: OnReply, address: Address, method: Method) -> None:
        """Make one more call."""
        self._left += 1
        if self._in_flight < _IN_FLIGHT:
            self._in_flight += 1
            self._bus.send(self, on_reply, address, method)
        else:
            self._unsent.append((on_reply, address, method))

    async def done(self) -> None:
        """Return when every call has been answered.

        Raises:
            PartUnavailable: the connection is gone, or the bus refuses more calls.
        """
        if not self._left:
            return
        try:
            await self._done
        finally:
            self._bus.forget(self)

    def answer(self, on_reply: OnReply, answer: Any) -> None:
        """Take one reply."""
        self._in_flight -= 1
        on_reply(answer)
        self._left -= 1
        while self._unsent and self._in_flight < _IN_FLIGHT:
            self._in_flight += 1
            self._bus.send(self, *self._unsent.popleft())
        if not self._left and not self._done.done():
            self._done.set_result(None)

    def fail(self, error: PartUnavailable) -> None:
        """End all waiting with an error."""
        if not self._done.done():
            self._done.set_exception(error)
