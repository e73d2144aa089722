"""Reads TeXstudio's state from what `guest/documents.c` reports, the accessibility tree, and files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from sci_gym.app import json_object
from sci_gym.specs import A11yTree, Observation, State

PROGRAM = "texstudio"
BUILD = f"{PROGRAM}.build:"
"""What the names of inspections begin with that build a document."""
HOME = PurePosixPath("/home/user")
SETTINGS_FILE = ".config/texstudio/texstudio.ini"
LOG_COLUMNS = ("file", "type", "line", "message")
VIEWS = ("Side Panel", "Messages / Log File", "Statusbar")
MAX_LISTED = 200
"""Rows of the structure and of the log that count."""


def observed(observation: Observation) -> dict[str, Any]:
    """The state as plain data; `TeXstudio.read_state` documents the keys."""
    tree = observation.tree.of_program(PROGRAM)
    program = observation.program(PROGRAM)
    reported = program.state if program is not None else ()
    return {
        "running": program is not None and program.running,
        "documents": _documents(reported, observation.files),
        "current": _current(observation),
        "structure": _structure(tree),
        "log": _log(tree),
        "view": _view(tree),
        "settings": _settings(reported),
        "typeset": _inspected(observation, f"{PROGRAM}."),
        "builds": {path: one.get("built") for path, one in _inspected(observation, BUILD).items()},
    }


def _documents(lines: Iterable[str], files: Mapping[str, bytes | None]) -> dict[str, dict[str, Any]]:
    """The open documents by path, relative to the home where they are below it."""
    reports: dict[str, dict[str, Any]] = {}
    cursors: dict[str, dict[str, Any]] = {}
    for line in lines:
        report = json_object(line)
        if isinstance(report.get("document"), str):
            reports[report["document"]] = report
        elif isinstance(report.get("cursor"), str):
            cursors[report["cursor"]] = report
    return {
        _relative(str(report.get("path", ""))): _document(report, cursors.get(key, {}), files)
        for key, report in reports.items()
        if report.get("open") is True
    }


def _settings(lines: Iterable[str]) -> dict[str, str]:
    """Settings in effect by key."""
    reports = [report for line in lines if "settings" in (report := json_object(line))]
    return {key: value for key, value in reports[-1].items() if isinstance(value, str)} if reports else {}


def _document(
    report: Mapping[str, Any], cursor: Mapping[str, Any], files: Mapping[str, bytes | None]
) -> dict[str, Any]:
    text = str(report.get("text", ""))
    listed = report.get("bookmarks")
    marks = [line for line in listed if isinstance(line, int)] if isinstance(listed, list) else []
    on_disk = files.get(_relative(str(report.get("path", ""))))
    whole = report.get("cut") is False
    return {
        "text": text,
        "whole": whole,
        "clean": report.get("clean") is True,
        "saved": whole and on_disk is not None and _lines(on_disk) == text.splitlines(),
        "source": None if on_disk is None else hashlib.sha256(on_disk).hexdigest(),
        "bookmarks": marks[:MAX_LISTED],
        "cursor": tuple(cursor.get(key) for key in ("line", "column")),
    }


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").splitlines()


def _relative(path: str) -> str:
    pure = PurePosixPath(path)
    return str(pure.relative_to(HOME)) if pure.is_relative_to(HOME) else path


def _current(observation: Observation) -> str | None:
    """The path in the title of the main window."""
    titles = [window.title for window in observation.windows if window.program == PROGRAM]
    shown = [title.removesuffix(" - TeXstudio") for title in titles if title.endswith(" - TeXstudio")]
    return _relative(shown[-1].removesuffix("*")) if shown else None


def _structure(tree: A11yTree) -> list[str]:
    """The titles in the structure view, those below a folded one left out."""
    views = [node for node in tree.showing if node.role == "tree"]
    return [node.name for view in views for node in tree.showing.children(view) if node.role == "table cell"][
        :MAX_LISTED
    ]


def _log(tree: A11yTree) -> list[dict[str, str]]:
    """The rows of the table of issues that the last build left."""
    for table in tree:
        header = [node.name for node in tree.children(table) if node.role == "table column header"]
        if header == [column.title() for column in LOG_COLUMNS]:
            cells = [node for node in tree.children(table) if node.role == "table cell" and node.cell]
            rows: dict[int, dict[str, str]] = {}
            for cell in cells[: MAX_LISTED * len(LOG_COLUMNS)]:
                row, column = cell.cell or (0, 0)
                if column < len(LOG_COLUMNS):
                    rows.setdefault(row, {})[LOG_COLUMNS[column]] = cell.name
            return [rows[row] for row in sorted(rows)]
    return []


def _view(tree: A11yTree) -> dict[str, bool]:
    """What is checked in the menu View, Show."""
    menus = [node for node in tree if node.role == "menu item" and node.name == "Show"]
    entries = [entry for menu in menus for entry in tree.descendants(menu) if entry.name in VIEWS]
    return {entry.name: entry.has(State.CHECKED) for entry in entries}


def _inspected(observation: Observation, prefix: str) -> dict[str, dict[str, Any]]:
    """What the inspections whose names begin so have found, by the rest of the name."""
    return {
        name.removeprefix(prefix): json_object(result.stdout)
        for name, result in observation.inspections.items()
        if name.startswith(prefix) and result.whole
    }
