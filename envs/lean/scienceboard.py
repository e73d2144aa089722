"""How ScienceBoard's tasks for Lean are played: a file with their statement, and the judge on it.

What takes the place of their machine's editor and build stands in `ADAPTER.sources`.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from sci_gym.app import App
from sci_gym.installation import BroughtApp
from sci_gym.scienceboard import Adapter, CannotError, Judged, Source, TaskFile, command_words
from sci_gym.specs import Check, Verb

EDITOR = "code"
_LIBRARY = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_HOLE = re.compile(r":=\s*by\s+sorry\s*\Z")


def launch(task: TaskFile, *, command: str | list[str], shell: bool = False) -> list[Verb]:
    """Their editor, in whose place a policy writes tactics or the file itself."""
    program = posixpath.basename(command_words(command)[0])
    if program != EDITOR:
        raise CannotError(f"launches {program!r}, which SciBoard-Lean-v0 does not start.")
    return []


def import_(task: TaskFile, *, libs: list[str]) -> list[Verb]:
    """Libraries that the file imports; `query` writes them."""
    for name in libs:
        if not _LIBRARY.fullmatch(name):
            raise CannotError(f"imports {name!r}, which is no module's name.")
    return []


def open(task: TaskFile, *, libs: list[str]) -> list[Verb]:
    """Namespaces that the file opens; `query` writes them."""
    return import_(task, libs=libs)


def def_(task: TaskFile, *, expr: str) -> list[Verb]:
    """A definition above the statement; `query` writes it."""
    return []


def query(task: TaskFile, *, expr: str) -> list[Verb]:
    """The file, with the statement that is to be proved."""
    return [Verb("lean.project", {"text": _text(task)})]


def placeholder(task: TaskFile) -> Judged:
    """The statement is proved."""
    text = _text(task)
    return Judged((Check("lean.proved", {"theorem": _name(task)}),), asked=(Verb("judge", {"text": text}),))


def hold(task: TaskFile, app: App) -> None:
    """Refuse a task whose libraries the toolchain does not have."""
    assert isinstance(app, BroughtApp)
    modules = app.root / "lib" / "lean"
    for name in _listed(task, "import"):
        if not (modules / Path(*name.split("."))).with_suffix(".olean").is_file():
            raise CannotError(
                f"needs the Lean library {name}, which the toolchain {app.root} does not have in lib/lean; "
                "ScienceBoard's machine had Lean 4.14.0 with mathlib4 v4.14.0, from "
                "https://github.com/leanprover-community/mathlib4."
            )


ADAPTER = Adapter(
    program="Lean",
    executables=frozenset({EDITOR}),
    setup={"launch": launch, "import": import_, "open": open, "def": def_, "query": query},
    checks={"placeholder": placeholder},
    hold=hold,
    sources=(
        Source("launch code", "nothing: a policy writes tactics or the file, and reads what Lean says", False,
               "their policy looks at an editor's window"),
        Source("POST /append", "Task.lean: imports, opened namespaces, definitions, the statement", True),
        Source("POST /lean/check", "the judge of SciBoard-Lean-v0, on the same statement", False,
               "stricter: nothing but the proof may change, and only Lean's three axioms count"),
    ),
)  # fmt: skip


def _fields(task: TaskFile, func: str, field: str, kind: type) -> list[Any]:
    """A field of every call of a function; what is of another type is told where that call is read."""
    found = [item.fields.get(field) for item in task.document.initialize if item.func == func]
    return [value for value in found if isinstance(value, kind)]


def _listed(task: TaskFile, func: str) -> list[str]:
    return [str(name) for libs in _fields(task, func, "libs", list) for name in libs]


def _statement(task: TaskFile) -> str:
    """The one statement, without its proof."""
    queries = _fields(task, "query", "expr", str)
    if len(queries) != 1 or not _HOLE.search(queries[0]):
        raise CannotError("must ask for one statement that ends with ':= by sorry'.")
    statement = _HOLE.sub("", queries[0]).rstrip()
    if not statement.startswith("theorem "):
        raise CannotError(f"asks for {statement.split()[0]!r}; only a theorem's proof is judged.")
    return statement


def _name(task: TaskFile) -> str:
    return _statement(task).split()[1]


def _text(task: TaskFile) -> str:
    """The file: imports, what is opened and defined in its order, and the statement with a hole below it."""
    parts = ["\n".join(f"import {name}" for name in _listed(task, "import"))]
    for item in task.document.initialize:
        libs, expr = item.fields.get("libs"), item.fields.get("expr")
        if item.func == "open" and isinstance(libs, list):
            parts.append("open " + " ".join(map(str, libs)))
        elif item.func == "def" and isinstance(expr, str):
            parts.append(expr)
    return "\n\n".join(part for part in [*parts, f"{_statement(task)} := by\n  sorry\n"] if part)
