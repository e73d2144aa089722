"""Whether kept files are still what was written: their sizes at a glance, their contents on suspicion."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_BLOCK_BYTES = 2**22

Description = Mapping[str, Any]


def describe(folder: Path, names: Sequence[str]) -> dict[str, Description]:
    """Size and digest of each file that is there."""
    paths = [folder / name for name in names if (folder / name).exists()]
    return {path.name: {"bytes": path.stat().st_size, "sha256": _digest(path)} for path in paths}


def looks_intact(folder: Path, described: Mapping[str, Description]) -> bool:
    """Whether the files are there and as large as they were; takes no time.

    Raises:
        OSError: one is not there.
    """
    return all((folder / name).stat().st_size == one["bytes"] for name, one in described.items())


def is_intact(folder: Path, described: Mapping[str, Description]) -> bool:
    """Whether the files hold what they held."""
    try:
        return all(_digest(folder / name) == one["sha256"] for name, one in described.items())
    except OSError:
        return False


def _digest(path: Path) -> str:
    """Of what was written and where; holes, of which a guest's memory is full, are skipped."""
    total = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        for begin, end in _pieces(file.fileno()):
            total.update(f"{begin} {end} ".encode())
            file.seek(begin)
            while begin < end and (data := file.read(min(_BLOCK_BYTES, end - begin))):
                total.update(data)
                begin += len(data)
    return total.hexdigest()


def _pieces(descriptor: int) -> Iterator[tuple[int, int]]:
    """Where a file has data."""
    size, end = os.fstat(descriptor).st_size, 0
    while end < size:
        try:
            begin = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError:  # nothing but a hole is left
            return
        end = os.lseek(descriptor, begin, os.SEEK_HOLE)
        yield begin, end
