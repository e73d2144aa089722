"""Processes of the desktops that this process started, for tests that break them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import psutil


def named(folder: str) -> list[int]:
    """Processes whose command line names a machine's folder, its bwrap processes among them."""
    return [pid for pid in _all() if folder.encode() in _read(pid, "cmdline")]


def family(pid: int) -> set[int]:
    """A process and all below it."""
    try:
        return {pid}.union(child.pid for child in psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return set()


def below(name: str) -> list[int]:
    """Processes of a name below this one."""
    return [pid for pid in family(os.getpid()) if _read(pid, "comm").strip() == name.encode()]


def daemons() -> list[int]:
    """The daemons below this process, without the sandboxes around them."""
    return [pid for pid in family(os.getpid()) if b"-m\0sci_gym_vm_agent\0" in _read(pid, "cmdline")
            and not _read(pid, "cmdline").startswith(b"bwrap")]  # fmt: skip


def kill_below(name: str) -> None:
    """Kill the newest process of a name below this one."""
    os.kill(max(below(name)), signal.SIGKILL)


def wait_until_gone(pids: set[int], deadline_s: float = 20) -> set[int]:
    """Wait for processes to end; those that are left at the deadline."""
    end = time.monotonic() + deadline_s
    left = pids
    while left and time.monotonic() < end:
        left = {pid for pid in left if _lives(pid)}
    return left


def _lives(pid: int) -> bool:
    stat = _read(pid, "stat").decode(errors="replace")
    return bool(stat) and stat.rsplit(")", 1)[1].split()[0] != "Z"


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def _all() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
