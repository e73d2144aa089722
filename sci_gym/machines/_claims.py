"""Folders of machines, and which of them are orphans of a process that was killed.

A machine holds a file lock in its folder for as long as its process lives; the kernel lets go of it in any
case.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import tempfile
from pathlib import Path
from typing import IO

_LOCK = "lock"


def claim(folder: Path) -> IO[str]:
    """Lock a folder for this process until the returned file is closed."""
    draft = folder / f"{_LOCK}.new"
    lock = draft.open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    draft.rename(folder / _LOCK)  # nobody sees the lock's file before it is held
    return lock


def remove_orphans(prefix: str) -> None:
    """Remove our folders in the temporary folder whose process is gone."""
    for path in Path(tempfile.gettempdir()).glob(f"{prefix}*/{_LOCK}"):
        with contextlib.suppress(OSError), path.open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path.parent, ignore_errors=True)
