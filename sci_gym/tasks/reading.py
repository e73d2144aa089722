"""Reads task files as TOML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sci_gym.errors import TaskFileError


def read(path: Path) -> str:
    """The file's text, with Unix line ends.

    Raises:
        TaskFileError: it cannot be read, or is not UTF-8.
    """
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise TaskFileError(path, 1, "file", f"cannot be read: {exc.strerror}.") from exc
    try:
        return data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as exc:
        line = data.count(b"\n", 0, exc.start) + 1
        raise TaskFileError(path, line, "file", "is not UTF-8; save it as UTF-8.") from exc


def parse_toml(path: Path, source: str) -> Mapping[str, Any]:
    """The text as data.

    Raises:
        TaskFileError: it is not TOML.
    """
    try:
        return tomllib.loads(source)
    except tomllib.TOMLDecodeError as exc:
        found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)", str(exc))
        line = int(found[1]) if found and found[1] else source.rstrip("\n").count("\n") + 1
        raise TaskFileError(path, line, "TOML", f"{exc}.") from exc
