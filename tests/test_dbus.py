"""The D-Bus wire: calls are what the specification says, and what is no message is refused, not believed."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sci_gym_vm_agent.dbus import CALL, Malformed, Message, Method, address_of, size_at, unpack

NAMES = st.text(st.characters(codec="ascii", exclude_characters="\0"), min_size=1, max_size=60)
SERIAL = 7


@given(name=NAMES, path=NAMES, interface=NAMES, member=NAMES, text=st.text(max_size=40))
def test_a_call_reads_back_as_it_was_made(
    name: str, path: str, interface: str, member: str, text: str
) -> None:
    """Whatever the lengths, the message ends where its header says, and holds its texts."""
    text = text.replace("\0", "")
    call = Method(interface, member, "", "si", text, -1).call(address_of(name, path), SERIAL)
    message = unpack(call)
    assert size_at(bytearray(call), 0) == len(call), "A message is as long as it says."
    assert (message.kind, message.path, message.interface, message.member) == (CALL, path, interface, member)
    assert message.texts(1) == [text]
    assert struct.unpack("<i", message.body[-4:]) == (-1,)


def test_another_machines_byte_order_is_refused() -> None:
    """Numbers are not read the wrong way round."""
    call = bytearray(Method("a.b", "C").call(address_of("d.e", "/f"), SERIAL))
    call[0] = ord("B")
    with pytest.raises(Malformed, match="byte order"):
        size_at(call, 0)


@given(st.data())
def test_wild_bytes_do_no_harm(data: st.DataObject) -> None:
    """A message with any byte changed is read, or refused by an error that the connection expects."""
    call = bytearray(Method("a.b", "C", "", "s", "text").call(address_of("d.e", "/f"), SERIAL))
    for _ in range(data.draw(st.integers(1, 6))):
        call[data.draw(st.integers(16, len(call) - 1))] = data.draw(st.integers(0, 255))
    try:
        message = unpack(bytes(call))
        message.answer("s")
        message.texts(2)
    except (Malformed, IndexError, struct.error):
        return
    assert isinstance(message, Message)


@given(st.sampled_from(["s", "u", "b", "v", "au", "as", "a(so)", "(iiii)"]), st.binary(max_size=64))
def test_wild_answers_do_no_harm(signature: str, body: bytes) -> None:
    """An answer that is none ends in a value or in an expected error, soon."""
    try:
        Message(2, SERIAL, {8: signature.encode()}, body).answer(signature)
    except (IndexError, struct.error):
        return


def test_an_answer_of_another_type_is_none() -> None:
    """A program that answers a question for states with a text, or with a place, has not answered."""
    place = struct.pack("<iiii", -1, -1, -1, -1)
    assert Message(2, SERIAL, {8: b"(iiii)"}, place).answer("(iiii)") == (-1, -1, -1, -1)
    assert Message(2, SERIAL, {8: b"(iiii)"}, place).answer("au") is None
    assert Message(2, SERIAL, {}, b"").answer("au") is None
