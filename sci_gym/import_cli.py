"""The command line's `import`: what of other benchmarks' task files can be played."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import track
from rich.table import Column, Table

from sci_gym.bounds import clean
from sci_gym.console import Json, err, out, print_json
from sci_gym.errors import UnknownNameError
from sci_gym.loader import load_adapter, load_app, players
from sci_gym.scienceboard import PROGRAMS, Entry, survey
from sci_gym.scienceboard.library import differing_fields, task_files

import_app = typer.Typer(no_args_is_help=True, help="Task files of other benchmarks.")


@import_app.callback()
def _group() -> None:
    """Task files of other benchmarks."""


@import_app.command()
def scienceboard(
    folder: Annotated[Path, typer.Argument(help="ScienceBoard's task folder, or one file.")],
    app_name: Annotated[
        str | None,
        typer.Option("--app", help="An app, or a program as ScienceBoard names it; all by default."),
    ] = None,
    beside: Annotated[
        Path | None,
        typer.Option(help="Another revision's folder: tell which fields of which files differ there."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Tell which files load, which do not and why, and known faults; exit 1 if a file is wrong."""
    program = None if app_name is None else _program(app_name)
    total = len(task_files(folder))
    entries = [
        entry
        for entry in track(survey(folder, players()), "reading", total, console=err, transient=True)
        if program in (None, entry.program) or not entry.program
    ]
    wrong = [entry for entry in entries if entry.wrong]
    differs = [] if beside is None else list(_differences(entries, folder, beside))
    if as_json:
        summary = {
            "folder": str(folder),
            "programs": _rows(entries),
            "files": [one.as_dict() for one in entries],
            "differs": differs,
        }
        print_json(summary)
    else:
        _tell(entries)
        for one in differs:
            _line(f"{one['path']} differs in {beside}: {', '.join(one['fields'])}")
    raise typer.Exit(1 if wrong else 0)


def _differences(entries: Sequence[Entry], folder: Path, beside: Path) -> Iterator[dict[str, Any]]:
    """What differs between the files that are right and those of the same name in another folder."""
    for entry in entries:
        if not entry.wrong:
            name = entry.path.relative_to(folder) if folder.is_dir() else Path(entry.path.name)
            fields = differing_fields(entry.path, beside / name)
            if fields:
                yield {"path": str(name), "fields": list(fields)}


def _program(name: str) -> str:
    """ScienceBoard's name of a program, given that or an app's."""
    if name in PROGRAMS:
        return name
    adapter = load_adapter(load_app(name))
    if adapter is None:
        raise UnknownNameError("program of ScienceBoard", name, PROGRAMS)
    return adapter.program


def _rows(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """How many files of each program and revision there are, load, cannot be played, and are wrong."""
    groups = sorted({(entry.program, str(entry.revision or "")) for entry in entries})
    rows = []
    for program, revision in groups:
        own = [one for one in entries if (one.program, str(one.revision or "")) == (program, revision)]
        rows.append({
            "program": program, "revision": revision, "files": len(own),
            "loads": sum(one.task is not None for one in own),
            "cannot": sum(bool(one.cannot) for one in own),
            "wrong": sum(bool(one.wrong) for one in own),
            "faults": sum(bool(one.faults) for one in own),
        })  # fmt: skip
    return rows


def _tell(entries: Sequence[Entry]) -> None:
    table = Table(
        "program",
        Column("revision", no_wrap=True),
        "files",
        "load",
        "cannot",
        "wrong",
        "faults",
    )
    for row in _rows(entries):
        table.add_row(
            row["program"] or "?", row["revision"], *(str(value) for value in list(row.values())[2:])
        )
    out.print(table)
    reasons: dict[tuple[str, str], list[str]] = defaultdict(list)
    for entry in entries:
        if entry.cannot:
            reasons[entry.program, entry.cannot].append(entry.path.stem)
    for (program, why), names in sorted(reasons.items()):
        _line(f"{program} {', '.join(sorted(names))}: {why}")
    for entry in entries:
        if entry.wrong:
            _line(entry.wrong)
        for fault in entry.faults:
            _line(f"{entry.program} {entry.path.stem}, as published: {fault}")


def _line(text: str) -> None:
    out.print(escape(clean(text)), highlight=False, soft_wrap=True)
