"""Folders that a process owns, and which of them are orphans of one that was killed.

A file lock in the folder is held for as long as its process lives; the kernel lets go of it in any case.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from sci_gym.errors import DeadlineError

_LOCK = "lock"
_LOOK_S = 0.1


def claim(folder: Path) -> IO[str]:
    """Lock a folder for this process until the returned file is closed."""
    unseen = folder / f"{_LOCK}.new"
    lock = unseen.open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    unseen.rename(folder / _LOCK)  # nobody sees the lock's file before it is held
    return lock


@contextlib.contextmanager
def draft(parent: Path, prefix: str) -> Iterator[Path]:
    """A claimed folder below `parent`, removed at the end whatever happens; those of killed processes too."""
    parent.mkdir(parents=True, exist_ok=True)
    remove_orphans(prefix, parent)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    lock = claim(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


@contextlib.contextmanager
def locked(path: Path, wait_s: float) -> Iterator[None]:
    """Hold a lock that the kernel lets go of when this process ends, however it does.

    Raises:
        DeadlineError: another process held it for `wait_s`.
    """
    end_s = time.monotonic() + wait_s
    with path.open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end_s:
                    raise DeadlineError("lock", f"another process held {path} for {wait_s:.0f} s") from None
            time.sleep(_LOOK_S)  # between two looks
        yield


def remove_orphans(prefix: str, parent: Path | None = None) -> None:
    """Remove our folders in `parent`, the temporary folder by default, whose process is gone."""
    for path in (parent or Path(tempfile.gettempdir())).glob(f"{prefix}*/{_LOCK}"):
        with contextlib.suppress(OSError), path.open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path.parent, ignore_errors=True)
