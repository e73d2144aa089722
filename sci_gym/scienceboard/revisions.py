"""Which revision of the published files one is, and what is known to be wrong with it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sci_gym.errors import TaskFileError
from sci_gym.scienceboard.document import TaskFile, read_task_file

_PUBLISHED = Path(__file__).with_name("published.toml")
_DIGITS = 12
_SHORT = 7


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision of the published files.

    Attributes:
        name: "scienceboard" or "verified"; of a file that is of neither, "content".
        commit: the first digits of the commit; of "content", of the file's digest.
    """

    name: str
    commit: str

    def __str__(self) -> str:
        """As it stands in ids: "verified-cfee7c8"."""
        return f"{self.name}-{self.commit}"


@dataclass(frozen=True, slots=True)
class Fault:
    """What is known to be wrong with a published file.

    Attributes:
        what: in words.
        mended_by: the revision in which it is right, None where it is in none.
    """

    what: str
    mended_by: Revision | None

    def __str__(self) -> str:
        """For people."""
        return f"{self.what} (mended by {self.mended_by})" if self.mended_by else self.what


def revision_of(file: TaskFile) -> Revision:
    """The revision of a file: by its own content, else by that of the files around it that differ.

    A file that is the same in both, and has no other program's or task's beside it, is named by its content.
    """
    row = _published().get((file.program, file.path.stem))
    found = _matching(row, file) if row else None
    if found is None:
        found = _of_folder(file.path.parent.parent)
    return found or Revision("content", file.digest[:_SHORT])


def known_faults(file: TaskFile, revision: Revision) -> list[Fault]:
    """What is wrong with a file of a revision."""
    faults = []
    earlier, later = revisions()
    row = _published().get((file.program, file.path.stem), {})
    if revision == earlier and "fault" in row:
        faults.append(Fault(row["fault"], later if later.name in row else None))
    for one in _data()["open"]:
        meant = one.get("revision", revision.name) == revision.name and revision in (earlier, later)
        if meant and (one["program"], one["id"]) == (file.program, file.path.stem):
            faults.append(Fault(one["fault"], None))
    faults += [
        Fault(f"the key {key!r} stands twice in an object; the last one counts", None) for key in file.twice
    ]
    return faults


@cache
def revisions() -> tuple[Revision, ...]:
    """The published revisions, the earlier one first."""
    return tuple(Revision(row["name"], row["commit"]) for row in _data()["revision"])


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(_PUBLISHED.read_text())


@cache
def _published() -> dict[tuple[str, str], dict[str, str]]:
    return {(row["program"], row["id"]): row for row in _data()["differs"]}


def _matching(row: dict[str, str], file: TaskFile) -> Revision | None:
    return next((one for one in revisions() if row.get(one.name) == file.digest[:_DIGITS]), None)


def _of_folder(root: Path) -> Revision | None:
    """The revision of the first file of `root/PROGRAM/ID.json` that tells one."""
    for (program, name), row in _published().items():
        path = root / program / f"{name}.json"
        if path.is_file():
            try:
                found = _matching(row, read_task_file(path))
            except TaskFileError:
                continue
            if found is not None:
                return found
    return None
