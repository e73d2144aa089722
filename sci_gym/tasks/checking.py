"""Holds a task file to what can be known of it without its program, and tells all that is wrong at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sci_gym.app import App
from sci_gym.errors import TaskFileError
from sci_gym.evaluation import PredicateSet
from sci_gym.tasks.builder import Vocabulary
from sci_gym.tasks.document import Document
from sci_gym.tasks.locator import FieldError
from sci_gym.tasks.promises import broken_promises
from sci_gym.tasks.reading import parse_toml, read
from sci_gym.tasks.tables import faults
from sci_gym.tasks.template import Template
from sci_gym.tasks.wording import wording_faults

TASK_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FILL_IN = re.compile(r"#.*?\bFILL IN: *(.*)")


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found in one task file.

    Attributes:
        file: its path.
        faults: what is wrong, in the order of the lines.
        fill_in: the marks of `sci-gym tasks new` that are still in it: line, and what to write there.
    """

    file: Path
    faults: list[TaskFileError] = field(default_factory=list)
    fill_in: list[tuple[int, str]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "file": str(self.file),
            "faults": [{"line": one.line, "field": one.field, "message": one.message} for one in self.faults],
            "fill_in": [{"line": line, "what": what} for line, what in self.fill_in],
        }


def check_file(path: Path, app: App, seeds: Iterable[int]) -> Finding:
    """Check one task file of an app, with the parameters that the seeds draw and those at the edges."""
    try:
        source = read(path)
    except TaskFileError as error:
        return Finding(path, [error])
    lines = enumerate(source.splitlines(), start=1)
    marks = [(number, mark[1]) for number, line in lines if (mark := _FILL_IN.search(line))]
    found: dict[tuple[int, str], TaskFileError] = {}
    try:
        data = parse_toml(path, source)
    except TaskFileError as error:
        return Finding(path, [error], marks)
    for fault in _faults(path, source, data, app, seeds):
        located = fault.located(path, source)
        found.setdefault((located.line, located.field), located)
    return Finding(path, [found[place] for place in sorted(found)], marks)


def _faults(
    path: Path, source: str, data: Mapping[str, Any], app: App, seeds: Iterable[int]
) -> Iterator[FieldError]:
    if not TASK_ID.fullmatch(path.stem):
        yield FieldError((), f"the id {path.stem!r} must be lower case words with hyphens; rename the file.")
    try:
        document = Document.model_validate(data)
    except ValidationError as exc:
        yield from faults(exc)
        return
    yield from wording_faults(document)
    yield from _task_faults(Template(path, source, document, Vocabulary(app)), PredicateSet.of(app), seeds)


def _task_faults(template: Template, predicates: PredicateSet, seeds: Iterable[int]) -> Iterator[FieldError]:
    for pick in template.picks(seeds):
        try:
            builder = template.draw(pick)
        except FieldError as error:
            yield error
            continue
        wrong = list(builder.faults(pick))
        yield from wrong or broken_promises(template.fill(builder, pick), predicates)
