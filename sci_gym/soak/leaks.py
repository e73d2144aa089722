"""What this process owns on the host, and what of it stays after a run."""

from __future__ import annotations

import contextlib
import fcntl
import os
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import psutil

from sci_gym.errors import ConfigurationError
from sci_gym.machines import Machine

_MIB = 2**20
_SETTLE_S = 10.0
_POLL_S = 0.1
_SPARE = {"descriptors": 8, "native threads": 16}  # gRPC's own come and go
_GROWTH_SHARE, _GROWTH_MIB = 0.15, 24.0
_THIRDS = 3


@dataclass(frozen=True)
class Owned:
    """What this process owns.

    Attributes:
        processes: names of those below it, with their ids.
        folders: of machines that no living process claims.
        sockets: addresses of its sockets.
        shared_memory: segments below /dev/shm, and those that it maps.
        threads: names of its Python threads.
        counts: numbers of descriptors and of native threads, which may vary a little.
    """

    processes: frozenset[str]
    folders: frozenset[str]
    sockets: frozenset[str]
    shared_memory: frozenset[str]
    threads: frozenset[str]
    counts: dict[str, int]

    @classmethod
    def now(cls) -> Owned:
        """Look."""
        process = psutil.Process()
        children = process.children(recursive=True)
        return cls(
            frozenset(f"{_name(child)} ({child.pid})" for child in children),
            frozenset(filter(_is_orphaned, map(str, Path(tempfile.gettempdir()).glob("sci-gym-*")))),
            frozenset(f"{one.type.name} {one.laddr or one.raddr or one.fd}" for one in _sockets(process)),
            frozenset(f"/dev/shm/{name}" for name in os.listdir("/dev/shm") if "sci" in name) | _mapped(),
            frozenset(f"{thread.name} ({thread.ident})" for thread in threading.enumerate()),
            {"descriptors": process.num_fds(), "native threads": process.num_threads()},
        )


def leaks(before: Owned) -> list[str]:
    """What is there now and was not `before`, in words; what is just ending is waited for."""
    end = time.monotonic() + _SETTLE_S
    while (found := _leaks(before, Owned.now())) and time.monotonic() < end:
        time.sleep(_POLL_S)
    return found


def _leaks(before: Owned, after: Owned) -> list[str]:
    found = []
    for one in fields(Owned):
        if one.name != "counts":
            new = getattr(after, one.name) - getattr(before, one.name)
            found += [f"{one.name.replace('_', ' ')}: {name} is left" for name in sorted(new)]
    for name, spare in _SPARE.items():
        more = after.counts[name] - before.counts[name]
        if more > spare:
            found.append(f"{name}: {more} more than before")
    return found


class Memory:
    """Memory over a run: resident of this process, and the daemon's share (PSS)."""

    def __init__(self) -> None:
        """Begin without a sample."""
        self._samples: defaultdict[str, list[float]] = defaultdict(list)

    def sample(self, machine: Machine) -> None:
        """Note how much there is now."""
        self._samples["host"].append(psutil.Process().memory_info().rss / _MIB)
        with contextlib.suppress(ConfigurationError, psutil.Error):
            for pid in machine.parts().get("daemon", ()):
                self._samples["daemon"].append(psutil.Process(pid).memory_full_info().pss / _MIB)

    def thirds_mib(self) -> dict[str, tuple[float, float]]:
        """The medians of the first and of the last third of the run."""
        thirds = {}
        for name, samples in self._samples.items():
            size = -(-len(samples) // _THIRDS)
            thirds[name] = statistics.median(samples[:size]), statistics.median(samples[-size:])
        return thirds

    def growth(self) -> list[str]:
        """Whose memory grows beyond what a run varies by, in words."""
        return [
            f"memory of the {name} grows from {first:.0f} to {last:.0f} MiB"
            for name, (first, last) in self.thirds_mib().items()
            if last > first * (1 + _GROWTH_SHARE) + _GROWTH_MIB
        ]


def _is_orphaned(folder: str) -> bool:
    """Whether no living process holds the lock that a machine has on its folder."""
    with contextlib.suppress(OSError), (Path(folder) / "lock").open("r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return Path(folder).exists()


def _mapped() -> frozenset[str]:
    maps = [line.split(maxsplit=5)[-1] for line in Path("/proc/self/maps").read_text().splitlines()]
    return frozenset(name for name in maps if "memfd:" in name or "/sci-gym" in name)


def _sockets(process: psutil.Process) -> list[Any]:
    return [one for one in process.net_connections("all") if one.status != psutil.CONN_CLOSE]


def _name(process: psutil.Process) -> str:
    try:
        return str(process.name())
    except psutil.NoSuchProcess:
        return "ended"
