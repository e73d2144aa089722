"""Starting processes that die with this process.

The kernel sends a child its parent-death signal when the *thread* that started it ends, so children are
started by one thread that lives as long as the process.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import IO

_lock = threading.Lock()
_threads: dict[int, ThreadPoolExecutor] = {}


def spawn(
    command: Sequence[str], log: IO[bytes] | int, descriptors: Sequence[int]
) -> subprocess.Popen[bytes]:
    """Start a command with pipes on stdin and stdout, stderr in `log`, and descriptors to inherit."""

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            pass_fds=descriptors,
            start_new_session=True,  # a Ctrl-C is for this process alone, which then cleans up
        )

    return _thread().submit(start).result()


def _thread() -> ThreadPoolExecutor:
    with _lock:
        # By process id: a fork copies this table, but not the thread.
        if os.getpid() not in _threads:
            _threads.clear()
            _threads[os.getpid()] = ThreadPoolExecutor(1, thread_name_prefix="sci-gym-spawn")
        return _threads[os.getpid()]


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


# A fork copies the lock as it is, but not the thread that may hold it.
os.register_at_fork(after_in_child=_renew_lock)
