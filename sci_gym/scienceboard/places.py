"""Where in a JSON text a value stands."""

from __future__ import annotations

import json
import re
from pathlib import Path

from sci_gym.errors import TaskFileError

KeyPath = tuple[str | int, ...]
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


def located(path: Path, source: str, place: KeyPath, message: str) -> TaskFileError:
    """The error of a field, with the line on which its value stands."""
    return TaskFileError(path, line_of(source, place), place_name(place) or "file", message)


def place_name(place: KeyPath) -> str:
    """A place for people: "evaluate[0].value"."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return "".join(parts).lstrip(".")


def line_of(source: str, place: KeyPath) -> int:
    """The line, from 1, of a value, or of as much of its path as is there."""
    at = _skip(source, 0)
    for part in place:
        found = _inside(source, at, part)
        if found is None:
            break
        at = found
    return source.count("\n", 0, at) + 1


def _inside(source: str, at: int, part: str | int) -> int | None:
    """Where a member of the object, or an item of the array, at a place begins."""
    opening = {str: "{", int: "["}[type(part)]
    if source[at : at + 1] != opening:
        return None
    at, count = _skip(source, at + 1), 0
    while source[at : at + 1] not in ("", "}", "]"):
        key: object = count
        if opening == "{":
            key, at = _DECODER.raw_decode(source, at)
            at = _skip(source, _skip(source, at) + 1)
        if key == part:
            return at
        _, at = _DECODER.raw_decode(source, at)
        at, count = _skip(source, at), count + 1
        at = _skip(source, at + 1) if source[at : at + 1] == "," else at
    return None


def _skip(source: str, at: int) -> int:
    found = _SPACE.match(source, at)
    return found.end() if found else at
