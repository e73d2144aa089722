"""The part of the D-Bus wire format that AT-SPI needs (D-Bus specification, "Message Protocol").

A tree is some hundred small questions, always the same ones: each is a few bytes that are known beforehand.
A general library's objects for it and for its answer cost more than the program's work.
"""

from __future__ import annotations

import struct
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

CALL, REPLY, ERROR, SIGNAL = 1, 2, 3, 4
_LITTLE = ord("l")
_VERSION = 1
_PATH, _INTERFACE, _MEMBER, _ERROR_NAME, _REPLY_SERIAL, _DESTINATION, _SENDER, _SIGNATURE = (
    1, 2, 3, 4, 5, 6, 7, 8,
)  # fmt: skip
_HEADER = struct.Struct(
    "<BBBBIII"
)  # byte order, type, flags, version, bytes of body, serial, bytes of fields
_UINT32 = struct.Struct("<I")
_NUMBERS = {"i": "<i", "u": "<I", "d": "<d"}
Address = Tuple[bytes, int]
"""The header's fields of an object, padded, and how many bytes they have without that."""


class Malformed(Exception):
    """A message that is none."""


class Message(NamedTuple):
    """A message that came in.

    Attributes:
        kind: CALL, REPLY, ERROR or SIGNAL.
        reply_to: the serial of the call that it answers, else 0.
        fields: header fields by code, texts only.
        body: its arguments as they were sent.
    """

    kind: int
    reply_to: int
    fields: Dict[int, bytes]
    body: bytes

    @property
    def sender(self) -> str:
        """The bus name it is from."""
        return self._text(_SENDER)

    @property
    def path(self) -> str:
        """The object it is from, of a signal."""
        return self._text(_PATH)

    @property
    def interface(self) -> str:
        """The interface of a signal."""
        return self._text(_INTERFACE)

    @property
    def member(self) -> str:
        """The name of a signal."""
        return self._text(_MEMBER)

    @property
    def error(self) -> str:
        """The name of an error."""
        return self._text(_ERROR_NAME)

    def texts(self, count: int) -> List[str]:
        """The first arguments, as far as they are texts."""
        found, at = [], 0
        for kind in self.fields.get(_SIGNATURE, b"")[:count]:
            if kind != ord("s"):
                break
            text, at = _text_at(self.body, at)
            found.append(text)
        return found

    def answer(self, returns: str) -> Any:
        """The argument of a reply; None where it is not of the type that was asked for, or there is none."""
        if self.fields.get(_SIGNATURE, b"").decode("latin-1") != returns:
            return None
        read = _READERS.get(returns)
        return read(self.body) if read is not None else None

    def _text(self, code: int) -> str:
        return self.fields.get(code, b"").decode("utf-8", "replace")


class Method:
    """A method, with its arguments if it has any: texts, or 32-bit numbers.

    Attributes:
        returns: signature of its reply.
    """

    def __init__(
        self, interface: str, member: str, returns: str = "", signature: str = "", *arguments: Any
    ) -> None:
        """Prepare the bytes that are the same in all calls."""
        self.returns = returns
        fields = _field(_INTERFACE, "s", interface) + _field(_MEMBER, "s", member)
        self._fields = fields + (_field(_SIGNATURE, "g", signature) if signature else b"")
        body = b""
        for kind, argument in zip(signature, arguments):
            body = _padded(body, 4)
            body += (
                _text(argument) if kind == "s" else struct.pack("<" + {"i": "i", "u": "I"}[kind], argument)
            )
        self._body = body

    def call(self, address: Address, serial: int) -> bytes:
        """The call of this method of an object."""
        fields = self._fields
        padded, size = address
        header = _HEADER.pack(_LITTLE, CALL, 0, _VERSION, len(self._body), serial, len(fields) + size)
        return header + fields + padded + self._body


def address_of(name: str, path: str) -> Address:
    """The address of an object: bus name and object path."""
    before = _field(_DESTINATION, "s", name)
    last = bytes((_PATH, 1, ord("o"), 0)) + _text(path)
    return before + _padded(last, 8), len(before) + len(last)


def size_at(data: bytearray, at: int) -> Optional[int]:
    """How many bytes the message at an offset has; None when too little is there to tell.

    Raises:
        Malformed: it is none, or its numbers are of another machine's byte order.
    """
    if len(data) - at < _HEADER.size:
        return None
    order, _, _, version, body, _, fields = map(int, _HEADER.unpack_from(data, at))
    if order != _LITTLE or version != _VERSION:
        raise Malformed(f"byte order {order}, version {version}")
    return _HEADER.size + (fields + 7 & ~7) + body


def unpack(data: bytes) -> Message:
    """Read one whole message.

    Raises:
        Malformed: one of its header's fields is none that the specification knows.
    """
    _, kind, _, _, body, _, size = _HEADER.unpack_from(data)
    at, end = _HEADER.size, _HEADER.size + size
    reply_to, fields = 0, {}
    while at < end:
        code, type_ = data[at], data[at + 2]
        if type_ in b"so":
            (length,) = _UINT32.unpack_from(data, at + 4)
            fields[code] = data[at + 8 : at + 8 + length]
            at += length + 9
        elif type_ == ord("g"):
            length = data[at + 4]
            fields[code] = data[at + 5 : at + 5 + length]
            at += length + 6
        elif type_ == ord("u"):
            (number,) = _UINT32.unpack_from(data, at + 4)
            reply_to = number if code == _REPLY_SERIAL else reply_to
            at += 8
        else:
            raise Malformed(f"header field {code} of type {type_}")
        at = at + 7 & ~7
    return Message(kind, reply_to, fields, data[len(data) - body :])


def _padded(data: bytes, to: int) -> bytes:
    return data + bytes(-len(data) % to)


def _text(text: str) -> bytes:
    data = text.encode()
    return _UINT32.pack(len(data)) + data + b"\0"


def _field(code: int, kind: str, text: str) -> bytes:
    value = bytes((len(text),)) + text.encode() + b"\0" if kind == "g" else _text(text)
    return _padded(bytes((code, 1, ord(kind), 0)) + value, 8)


def _text_at(body: bytes, at: int) -> Tuple[str, int]:
    """A text, and where what follows it starts."""
    at = at + 3 & ~3
    (length,) = _UINT32.unpack_from(body, at)
    end = at + 4 + length
    return body[at + 4 : end].decode("utf-8", "replace"), end + 1


def _first_text(body: bytes) -> str:
    return _text_at(body, 0)[0]


def _numbers(body: bytes) -> Tuple[int, ...]:
    (size,) = _UINT32.unpack_from(body)
    return struct.unpack_from(f"<{size // 4}I", body, 4)


def _texts(body: bytes) -> List[str]:
    (size,) = _UINT32.unpack_from(body)
    found, at = [], 4
    while at < 4 + size:
        text, at = _text_at(body, at)
        found.append(text)
    return found


def _objects(body: bytes) -> List[Tuple[str, str]]:
    """Of an array of structures of bus name and object path."""
    (size,) = _UINT32.unpack_from(body)
    found, at, end = [], 8, 8 + size
    while at < end:
        name, at = _text_at(body, at + 7 & ~7)
        path, at = _text_at(body, at)
        found.append((name, path))
    return found


def _variant(body: bytes) -> Any:
    """A variant's text or number; None for anything else."""
    kind = body[1 : 1 + body[0]].decode("latin-1")
    if kind == "s":
        return _text_at(body, 4)[0]
    number = _NUMBERS.get(kind)
    return struct.unpack_from(number, body, 8 if kind == "d" else 4)[0] if number is not None else None


_READERS: Dict[str, Callable[[bytes], Any]] = {
    "s": _first_text,
    "u": lambda body: _UINT32.unpack_from(body)[0],
    "b": lambda body: bool(_UINT32.unpack_from(body)[0]),
    "v": _variant,
    "au": _numbers,
    "as": _texts,
    "a(so)": _objects,
    "(iiii)": lambda body: struct.unpack_from("<iiii", body),
}
