"""Folders of task files: what of them can be played, and why the rest cannot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sci_gym.errors import ConfigurationError, TaskFileError
from sci_gym.scienceboard.adapter import PROGRAMS, CannotError
from sci_gym.scienceboard.building import Player, build, launched
from sci_gym.scienceboard.document import TaskFile, read_task_file
from sci_gym.scienceboard.lambdas import Lambda, LambdaRefusedError
from sci_gym.scienceboard.revisions import Fault, Revision, known_faults, revision_of
from sci_gym.specs import TaskSpec

PREFIX = "scienceboard:"


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a folder.

    Attributes:
        path: the file.
        program: what it is for, as ScienceBoard names it; "" when that cannot be read.
        revision: which one it is of; None when the file is wrong.
        task: what it gives, None when it cannot be played.
        wrong: what is wrong with the file, "" when nothing is.
        cannot: why it cannot be played, though nothing is wrong with it; else "".
        faults: what is known to be wrong with it as published.
    """

    path: Path
    program: str
    revision: Revision | None = None
    task: TaskSpec | None = None
    wrong: str = ""
    cannot: str = ""
    faults: tuple[Fault, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "path": str(self.path),
            "program": self.program,
            "revision": None if self.revision is None else str(self.revision),
            "task": None if self.task is None else self.task.id,
            "wrong": self.wrong,
            "cannot": self.cannot,
            "faults": [
                {"what": fault.what, "mended_by": str(fault.mended_by) if fault.mended_by else None}
                for fault in self.faults
            ],
        }


def task_files(folder: Path) -> list[Path]:
    """The task files below a folder, or the one file that is named.

    Raises:
        ConfigurationError: there are none.
    """
    found = [folder] if folder.is_file() else sorted(folder.rglob("*.json"))
    if not found:
        raise ConfigurationError(f"{folder}: no task files (*.json) there; name ScienceBoard's task folder.")
    return found


def survey(
    folder: Path, players: Mapping[str, Player], beside: Mapping[str, Player] | None = None
) -> Iterator[Entry]:
    """Every task file below a folder, with what it gives, or why it gives nothing.

    Args:
        folder: of task files, however deep; or one file.
        players: by program, as ScienceBoard names it.
        beside: of programs that a file may launch beside its own; None for `players`.

    Raises:
        ConfigurationError: there are no task files.
    """
    for path in task_files(folder):
        try:
            file = read_task_file(path)
        except TaskFileError as exc:
            yield Entry(path, "", wrong=str(exc))
            continue
        yield _entry(file, players, players if beside is None else beside)


def differing_fields(path: Path, other: Path) -> tuple[str, ...]:
    """The fields in which two task files differ; what only one of them has, or that there is but one.

    Raises:
        TaskFileError: one of them is wrong.
    """
    if not other.is_file():
        return ("the whole file, which is not there",)
    one, two = (read_task_file(each).document for each in (path, other))
    return tuple(name for name in type(one).model_fields if getattr(one, name) != getattr(two, name))


def task_id(file: TaskFile, revision: Revision) -> str:
    """The id of a file's task: "KAlgebra-A-03@verified-cfee7c8"."""
    return f"{file.program}-{file.path.stem}@{revision}"


def _entry(file: TaskFile, players: Mapping[str, Player], beside: Mapping[str, Player]) -> Entry:
    revision = revision_of(file)
    entry = Entry(file.path, file.program, revision, faults=tuple(known_faults(file, revision)))
    try:
        own = _player(file, players)
        task = build(file, [own, *_others(file, beside)], task_id(file, revision))
    except CannotError as exc:
        lambdas = [one for one in refused_lambdas(file) if one.partition(": ")[2] not in str(exc)]
        return replace(entry, cannot=" ".join([*lambdas, str(exc)]))
    except TaskFileError as exc:
        return replace(entry, wrong=str(exc))
    return replace(entry, task=task)


def refused_lambdas(file: TaskFile) -> Iterator[str]:
    """The lambdas of `evaluate` that have a form which is not known: where they stand, and which form."""
    for place, item in enumerate(file.document.evaluate):
        for name, value in item.fields.items():
            if isinstance(value, str) and value.startswith("lambda"):
                try:
                    Lambda(value)
                except LambdaRefusedError as exc:
                    yield f"evaluate[{place}].{name}: {exc}"


def _others(file: TaskFile, beside: Mapping[str, Player]) -> list[Player]:
    """Those of the programs that a file launches beside its own."""
    shown = [player for player in beside.values() if player.app.screen]
    named = [name for item in file.document.initialize for name in launched(item, shown)]
    others = [beside[name] for name in dict.fromkeys(named) if name != file.program]
    for player in others:
        if player.app.to_bring:
            raise CannotError(f"launches {player.app.title} beside {file.program}. {player.app.to_bring}")
    return others


def _player(file: TaskFile, players: Mapping[str, Player]) -> Player:
    if file.program not in PROGRAMS:
        raise file.wrong(("type",), f"{file.program!r} is none of {', '.join(PROGRAMS)}.")
    if file.program not in players:
        raise CannotError(f"needs {PROGRAMS[file.program]}, which is not here, or plays none of these yet.")
    return players[file.program]
