"""Task files of ScienceBoard as they are published: read strictly, nothing in them is run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from sci_gym.errors import TaskFileError
from sci_gym.scienceboard.places import KeyPath, located
from sci_gym.tasks.locator import FieldError
from sci_gym.tasks.tables import Table, parse

_MAX_BYTES = 2**20
_NOT_FIELDS = frozenset({"wait"})


class Item(Table):
    """A call of `initialize` or `evaluate`: a name, and its fields."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields; `wait` is left out, since readiness is waited for."""
        return {name: value for name, value in (self.model_extra or {}).items() if name not in _NOT_FIELDS}


class SetupItem(Item):
    """A step of the set-up."""

    func: str
    wait: float = Field(default=0, ge=0)


class CheckItem(Item):
    """A condition on the end."""

    type: str


class Query(Table):
    """An object that Celestia's state is asked for."""

    name: str
    type: int


class Document(Table):
    """A whole task file."""

    type: str
    sort: Literal["VM", "Raw"]
    steps: int = Field(gt=0)
    instruction: str = Field(min_length=1)
    version: str
    initialize: list[SetupItem]
    evaluate: list[CheckItem] = Field(min_length=1)
    snapshot: str | None = None
    ans: Any = None
    query: list[Query] = Field(default_factory=list)
    penalty: Annotated[str, Field(pattern=r"^\d+:\d+$")] | None = None


@dataclass(frozen=True, slots=True)
class TaskFile:
    """A task file that was read.

    Attributes:
        path: the file.
        source: its text.
        document: its content.
        digest: SHA-256 of the content, whatever the file's white space and order of keys.
        twice: keys that stand more than once in an object; the last of them counts.
    """

    path: Path
    source: str
    document: Document
    digest: str
    twice: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        """The program that it is for, as ScienceBoard names it: "KAlgebra"."""
        return self.document.type

    def wrong(self, place: KeyPath, message: str) -> TaskFileError:
        """An error at a field of this file."""
        return located(self.path, self.source, place, message)


def read_task_file(path: Path) -> TaskFile:
    """Read one file.

    Raises:
        TaskFileError: it cannot be read, is no JSON, or a field is wrong: `FILE:LINE: field: what`.
    """
    source = _text(path)
    twice: list[str] = []
    try:
        data = json.loads(source, object_pairs_hook=lambda pairs: _object(pairs, twice), parse_constant=_none)
    except json.JSONDecodeError as exc:
        raise TaskFileError(path, exc.lineno, "JSON", f"{exc.msg}, column {exc.colno}.") from exc
    except (ValueError, RecursionError) as exc:
        raise TaskFileError(path, 1, "JSON", f"{exc}.") from exc
    try:
        document = parse(Document, data)
    except FieldError as exc:
        raise located(path, source, exc.path, str(exc)) from exc
    return TaskFile(path, source, document, _digest(data), tuple(twice))


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise TaskFileError(path, 1, "file", f"cannot be read: {exc.strerror}.") from exc
    if len(data) > _MAX_BYTES:
        raise TaskFileError(path, 1, "file", f"has more than {_MAX_BYTES} bytes.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        line = data.count(b"\n", 0, exc.start) + 1
        raise TaskFileError(path, line, "file", "is not UTF-8; save it as UTF-8.") from exc


def _object(pairs: list[tuple[str, Any]], twice: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            twice.append(key)
        found[key] = value
    return found


def _none(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _digest(data: Any) -> str:
    plain = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()
