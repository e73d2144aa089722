"""Whether anything on the desktop runs, or will run soon: what the kernel knows of its threads.

When every thread of the desktop sleeps, and none has run between two looks, nothing is under way: whoever had
been sent something would be awake. What remains are timers, and how long a main loop will sleep is the
argument of the very call in which it sleeps (poll, epoll_wait, ppoll). So the end of a reaction is known
when it has come, and no time has to pass to make it likely.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Tuple

FOREVER_S = float("inf")
_MAX_THREADS = 512
_READ_BYTES = 4096
# Calls in which threads wait for each other; in any other one a disk may be what they wait for.
_WAITS = {
    "x86_64": {7, 23, 34, 35, 61, 128, 130, 202, 230, 232, 247, 270, 271, 281, 441, 449},
    "aarch64": {22, 72, 73, 95, 98, 101, 115, 133, 137, 260, 441, 449},
}
# Those in which main loops sleep, and which argument is their time limit.
_MILLISECONDS = {"x86_64": {7: 2, 232: 3, 281: 3}, "aarch64": {22: 3}}
_TIMESPECS = {"x86_64": {271: 2, 441: 3}, "aarch64": {73: 2, 441: 3}}
_MACHINE = os.uname().machine
_UNLIMITED_MS = 2**31
_LINKS_OF_A_FOLDER = 2
Key = Tuple[int, int]
"""Process and thread."""


class Unknowable(Exception):
    """The kernel does not tell, or there are too many threads to ask about."""


class Rest:
    """Looks at every thread below this process."""

    def __init__(self) -> None:
        """Remember that this process itself does not count."""
        self._self = os.getpid()
        self._threads: Dict[Key, _Thread] = {}
        self._counts: Dict[int, int] = {}
        self._running: Optional[Key] = None  # what ran at the last look is the first to be looked at

    def look(self) -> Optional[float]:
        """Seconds until a main loop wakes up by itself; None when something runs now.

        Raises:
            Unknowable: see there.
        """
        running = self._threads.get(self._running) if self._running is not None else None
        if running is not None and running.sleeps_s() is None:
            return None
        threads = [thread for thread in self._threads.values() if thread.pid != self._self]
        before = [thread.runs() for thread in threads]
        if b"" in before or self._others_came():
            self._list()
            return None
        wakes_s = FOREVER_S
        for thread in threads:
            sleeps_s = thread.sleeps_s()
            if sleeps_s is None:
                self._running = thread.pid, thread.task
                return None
            wakes_s = min(wakes_s, sleeps_s)
        return wakes_s if before == [thread.runs() for thread in threads] else None

    def close(self) -> None:
        """Close the kernel's files."""
        for thread in self._threads.values():
            thread.close()
        self._threads.clear()

    def _others_came(self) -> bool:
        """Whether there are other threads than those that are known: some ended, or have new company."""
        return (
            not self._threads
            or any(_count_threads(pid) != count for pid, count in self._counts.items())
            or any(thread.children() != thread.known_children for thread in self._threads.values())
        )

    def _list(self) -> None:
        keys = {(pid, task) for pid in [self._self, *_below(self._self)] for task in _tasks(pid)}
        if len(keys) > _MAX_THREADS:
            raise Unknowable(f"more than {_MAX_THREADS} threads")
        for key in set(self._threads) - keys:
            self._threads.pop(key).close()
        for key in keys - set(self._threads):
            self._threads[key] = _Thread(*key)
        self._counts = {pid: _count_threads(pid) for pid, _ in keys}
        for thread in self._threads.values():
            thread.known_children = thread.children()


class _Thread:
    """One thread's files in /proc, kept open: they are read over and over."""

    def __init__(self, pid: int, task: int) -> None:
        self.pid, self.task = pid, task
        self.known_children = b""
        self._is_main = pid == task
        folder = f"/proc/{pid}/task/{task}"
        self._syscall = self._schedstat = self._stat = self._children = -1
        try:
            self._schedstat = os.open(f"{folder}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
            self._syscall = os.open(f"{folder}/syscall", os.O_RDONLY | os.O_CLOEXEC)
            self._stat = os.open(f"{folder}/stat", os.O_RDONLY | os.O_CLOEXEC)
            self._children = os.open(f"{folder}/children", os.O_RDONLY | os.O_CLOEXEC)
        except PermissionError as error:
            self.close()
            raise Unknowable(str(error)) from error
        except OSError:
            pass  # it ended

    def close(self) -> None:
        for descriptor in (self._syscall, self._schedstat, self._stat, self._children):
            if descriptor >= 0:
                os.close(descriptor)

    def children(self) -> bytes:
        """The processes that it started, as the kernel lists them."""
        return _read(self._children)

    def runs(self) -> bytes:
        """How long and how often it has run; empty when it ended."""
        return _read(self._schedstat)

    def sleeps_s(self) -> Optional[float]:
        """How long it will sleep at most; None when it runs."""
        fields = _read(self._syscall).split()
        if fields[:1] == [b"running"]:
            return None
        call = int(fields[0]) if fields else -1
        if call not in _WAITS.get(_MACHINE, ()) and self._waits_for_more_than_an_event():
            return None
        if not self._is_main or len(fields) < 7:
            return FOREVER_S
        arguments = fields[1:7]
        milliseconds = _MILLISECONDS.get(_MACHINE, {}).get(call)
        if milliseconds is not None:
            limit = int(arguments[milliseconds], 16) & 0xFFFFFFFF
            return limit / 1000 if limit < _UNLIMITED_MS else FOREVER_S
        timespec = _TIMESPECS.get(_MACHINE, {}).get(call)
        return self._timespec_s(int(arguments[timespec], 16)) if timespec is not None else FOREVER_S

    def _waits_for_more_than_an_event(self) -> bool:
        return _read(self._stat).rpartition(b")")[2].split()[:1] in ([b"D"], [b"T"], [b"t"])

    def _timespec_s(self, address: int) -> float:
        if not address:
            return FOREVER_S
        try:
            with open(f"/proc/{self.pid}/mem", "rb", buffering=0) as memory:
                memory.seek(address)
                seconds, nanoseconds = struct.unpack("<qq", memory.read(16))
        except (OSError, struct.error, ValueError, OverflowError):
            return FOREVER_S
        return float(seconds + nanoseconds / 1e9)


def _read(descriptor: int) -> bytes:
    try:
        return os.pread(descriptor, _READ_BYTES, 0)
    except OSError:
        return b""  # it ended


def _count_threads(pid: int) -> int:
    """How many threads a process has: the links of the folder that holds one for each."""
    try:
        return os.stat(f"/proc/{pid}/task").st_nlink - _LINKS_OF_A_FOLDER
    except OSError:
        return 0


def _tasks(pid: int) -> List[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def _below(pid: int) -> Iterator[int]:
    """Processes below a process."""
    for task in _tasks(pid):
        try:
            children = Path(f"/proc/{pid}/task/{task}/children").read_text().split()
        except OSError:
            continue
        for child in map(int, children):
            yield child
            yield from _below(child)
