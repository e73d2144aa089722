"""Hypothesis strategies for messages: valid on the wire, with values that no honest side sends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor import FieldDescriptor as Field
from hypothesis import strategies as st

TEXT = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["", "\0", "../../etc/passwd", "/proc/self/environ", "\x1b[2J", "\u202e", "\ud7ff\ue000", 
         "\U0010ffff", "x" * 300, "x" * 70_000, "Return", "NoSuchKey", "-c", "--", "%s%n", "漢字"]
    ),
)  # fmt: skip
_UINT32 = st.one_of(st.sampled_from([0, 1, 2, 3, 2**16, 2**31 - 1, 2**31, 2**32 - 1]), st.integers(0, 3000))
_INT32 = st.one_of(st.sampled_from([0, 1, -1, 639, 640, 2**31 - 1, -(2**31)]), st.integers(-3000, 3000))
_UINT64 = st.one_of(_UINT32, st.sampled_from([2**63, 2**64 - 1]))
_BY_TYPE = {
    Field.TYPE_BOOL: st.booleans(),
    Field.TYPE_BYTES: st.one_of(st.binary(max_size=64), st.just(b"\xff" * 70_000)),
    Field.TYPE_DOUBLE: st.floats(),
    Field.TYPE_ENUM: st.one_of(st.integers(0, 12), st.sampled_from([99, 2**31 - 1, -1])),
    Field.TYPE_INT32: _INT32,
    Field.TYPE_SINT32: _INT32,
    Field.TYPE_STRING: TEXT,
    Field.TYPE_UINT32: _UINT32,
    Field.TYPE_UINT64: _UINT64,
}


def messages(kind: Any, known: Mapping[str, st.SearchStrategy[Any]] | None = None) -> st.SearchStrategy[Any]:
    """Messages of a class; `known` has strategies for fields by name that are better than wild ones."""
    fields = [_field(kind, field, known or {}) for field in kind.DESCRIPTOR.fields]
    return st.fixed_dictionaries({}, optional=dict(fields)).map(lambda values: kind(**values))


def _field(kind: Any, field: Field, known: Mapping[str, Any]) -> tuple[str, st.SearchStrategy[Any]]:
    if field.name in known:
        return field.name, known[field.name]
    if field.type != Field.TYPE_MESSAGE:
        one = _BY_TYPE[field.type]
    elif field.message_type.GetOptions().map_entry:
        return field.name, st.dictionaries(TEXT, TEXT, max_size=3)
    else:
        one = messages(field.message_type._concrete_class, known)
    return field.name, st.lists(one, max_size=4) if field.is_repeated else one
