"""A connection to a message bus that keeps many calls in flight at once.

A reply is handed to a callback as it comes: no task and no future for each call, which would cost more than
the call itself.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import Any, Callable, Optional

from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus
from dbus_fast.errors import AuthError

from sci_gym_vm_agent.errors import PartUnavailable

PART = "accessibility bus"
BUS = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
_IN_FLIGHT = 256
_LIMITS_EXCEEDED = "org.freedesktop.DBus.Error.LimitsExceeded"
OnReply = Callable[[Optional[list[Any]]], None]
"""Called with a reply's body, or with None when the call failed: the object or its program is gone."""


class Bus:
    """One connection."""

    def __init__(self, address: str, on_signal: Callable[[Message], None]) -> None:
        """Plan a connection; `on_signal` gets every signal that a match rule lets through."""
        self._bus = MessageBus(bus_address=address)
        self._on_signal = on_signal
        self._waiting: dict[int, tuple[Batch, OnReply]] = {}

    async def connect(self) -> None:
        """Connect."""
        try:
            await self._bus.connect()
        except (AuthError, OSError, EOFError) as error:
            raise PartUnavailable(PART, f"cannot connect: {error}") from error
        self._bus.add_message_handler(self._handle)
        self._watching = asyncio.ensure_future(self._watch())

    def disconnect(self) -> None:
        """Leave the bus."""
        self._bus.disconnect()

    async def call(
        self, name: str, path: str, interface: str, member: str, signature: str = "", *body: Any
    ) -> Optional[list[Any]]:
        """Make one call, and return the reply's body; None when it failed."""
        replies: list[Optional[list[Any]]] = []
        batch = Batch(self)
        batch.ask(replies.append, name, path, interface, member, signature, *body)
        await batch.done()
        return replies[0]

    def send(self, batch: Batch, on_reply: OnReply, message: Message) -> None:
        """Send a call whose reply counts for `batch`."""
        if not self._bus.connected:
            raise PartUnavailable(PART, "the connection is gone")
        message.serial = self._bus.next_serial()
        self._waiting[message.serial] = batch, on_reply
        self._bus.send(message)

    def forget(self, batch: Batch) -> None:
        """Drop the replies that a batch still waits for."""
        for serial in [serial for serial, (waits, _) in self._waiting.items() if waits is batch]:
            del self._waiting[serial]

    async def _watch(self) -> None:
        with contextlib.suppress(EOFError, OSError):
            await self._bus.wait_for_disconnect()  # type: ignore[no-untyped-call]
        for batch, _ in list(self._waiting.values()):
            batch.fail(PartUnavailable(PART, "the connection is gone"))

    def _handle(self, message: Message) -> bool:
        if message.message_type is MessageType.SIGNAL:
            self._on_signal(message)
            return False
        waiting = self._waiting.pop(message.reply_serial, None)
        if waiting is None:
            return False
        batch, on_reply = waiting
        failed = message.message_type is MessageType.ERROR
        if failed and message.error_name == _LIMITS_EXCEEDED:
            batch.fail(PartUnavailable(PART, str(message.body[0])))
        else:
            batch.answer(on_reply, None if failed else list(message.body))
        return True


class Batch:
    """Calls that are awaited together; a callback may ask for more."""

    def __init__(self, bus: Bus) -> None:
        """Start with no call."""
        self._bus = bus
        self._left = 0
        self._unsent: deque[tuple[OnReply, Message]] = deque()
        self._in_flight = 0
        self._done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def ask(
        self, on_reply: OnReply, name: str, path: str, interface: str, member: str,
        signature: str = "", *body: Any,
    ) -> None:  # fmt: skip
        """Make one more call."""
        message = Message(
            destination=name,
            path=path,
            interface=interface,
            member=member,
            signature=signature,
            body=list(body),
        )
        self._left += 1
        self._unsent.append((on_reply, message))
        self._send()

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

    def answer(self, on_reply: OnReply, body: Optional[list[Any]]) -> None:
        """Take one reply."""
        self._in_flight -= 1
        on_reply(body)
        self._left -= 1
        self._send()
        if not self._left and not self._done.done():
            self._done.set_result(None)

    def fail(self, error: PartUnavailable) -> None:
        """End all waiting with an error."""
        if not self._done.done():
            self._done.set_exception(error)

    def _send(self) -> None:
        while self._unsent and self._in_flight < _IN_FLIGHT:
            self._in_flight += 1
            self._bus.send(self, *self._unsent.popleft())
