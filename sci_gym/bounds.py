"""How large a daemon's reply may be: a guest is not trusted, and its replies are judged before they are read.

A message of empty submessages takes some fifty times its size on the wire when it is parsed, so what a reply
is made of is counted first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from google.protobuf.descriptor import Descriptor

from sci_gym.errors import ProtocolError

MAX_NODES = 20_000
MAX_TEXT_CHARS = 65_536
MAX_TREE_CHARS = 2**24
MAX_WINDOWS = 1000
MAX_PROGRAMS = 64
MAX_INSPECTIONS = 16
MAX_INSPECTED_BYTES = 2**24
MAX_STATE_LINES = 1000
MAX_ERROR_CHARS = 2000
MAX_PARTS = 20_000
MAX_LIST_BYTES = 2**23
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_CONTROLS = dict.fromkeys(
    set(range(0x20)) - {0x09, 0x0A} | set(range(0x7F, 0xA0)), "\N{REPLACEMENT CHARACTER}"
)


def clean(text: str) -> str:
    """A text without control characters, which terminals obey; newline and tab stay."""
    return text if text.isprintable() else text.translate(_CONTROLS)


def clean_error(text: str) -> str:
    """What a guest says of an error, fit to be shown."""
    return clean(text[:MAX_ERROR_CHARS])


def at_most(what: str, count: int, limit: int) -> None:
    """Refuse a reply that holds more of something than it may.

    Raises:
        ProtocolError: `count` is above `limit`.
    """
    if count > limit:
        raise ProtocolError("daemon", f"sent {count} {what}, at most {limit} are allowed")


def counted(parse: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """A parser that first counts what a message is made of; `parse` is a message class's `FromString`."""
    descriptor: Descriptor = parse.__self__.DESCRIPTOR  # type: ignore[attr-defined]

    def parse_counted(data: bytes) -> Any:
        _count(memoryview(data), descriptor, MAX_PARTS)
        return parse(data)

    return parse_counted


def _count(data: memoryview, kind: Descriptor, left: int) -> int:
    """Count fields in messages that hold messages; `left` may still come."""
    if not _inner(kind):
        if len(data) > MAX_LIST_BYTES and any(field.is_repeated for field in kind.fields):
            raise ProtocolError(
                "daemon", f"sent a {kind.name} of {len(data)} bytes, at most {MAX_LIST_BYTES}"
            )
        return left
    at = 0
    while at < len(data):
        left -= 1
        if left < 0:
            raise ProtocolError("daemon", f"sent a message of more than {MAX_PARTS} parts")
        tag, at = _varint(data, at)
        size, at = _size(data, at, tag & 7)
        inner = _inner(kind).get(tag >> 3)
        if inner is not None and tag & 7 == _BYTES:
            left = _count(data[at : at + size], inner, left)
        at += size
    return left


@functools.cache
def _inner(kind: Descriptor) -> dict[int, Descriptor]:
    """The message fields of a message, by number."""
    return {field.number: field.message_type for field in kind.fields if field.message_type is not None}


def _size(data: memoryview, at: int, wire: int) -> tuple[int, int]:
    """How many bytes follow, and from where, in a field of a wire type."""
    if wire == _BYTES:
        return _varint(data, at)
    if wire == _VARINT:
        return 0, _varint(data, at)[1]
    if wire in (_FIXED32, _FIXED64):
        return 4 if wire == _FIXED32 else 8, at
    raise ProtocolError("daemon", f"sent a message with a field of wire type {wire}")


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for place, byte in enumerate(data[at : at + 10]):
        value |= (byte & 0x7F) << 7 * place
        if not byte & 0x80:
            return value, at + place + 1
    raise ProtocolError("daemon", "sent a message that is cut off")
