"""The processes of a desktop, told apart as this host sees them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import psutil

_BWRAP = "bwrap"
_PARTS = {"Xvfb": "display", "at-spi2-registryd": "accessibility registry", "openbox": "window manager"}
_BUSES = {"bus.conf": "session bus", "at-spi.conf": "accessibility bus"}
PARTS = (*_PARTS.values(), *_BUSES.values())
_STARTERS = (_BWRAP, "prlimit")
_CELL_DEPTH = 2  # bwrap, and in the new namespace bwrap once more, above the command


def find_parts(root: int) -> dict[str, list[int]]:
    """The processes of the sandbox whose first process is `root`, by part; see `Machine.parts`."""
    parts: defaultdict[str, list[int]] = defaultdict(list)
    try:
        process = psutil.Process(root)
        parts["sandbox"].append(root)
        daemons = _children(_inner(process))
    except psutil.NoSuchProcess:
        return {}
    for daemon in daemons:
        parts["daemon"].append(daemon.pid)
        for child in _children(daemon):
            part = _part(child)
            if part is not None:
                parts[part[0]].append(part[1])
    return dict(parts)


def stopped(parts: Mapping[str, Sequence[int]]) -> str | None:
    """The first part with a stopped process."""
    for name, pids in parts.items():
        if any(_status(pid) == psutil.STATUS_STOPPED for pid in pids):
            return name
    return None


def _inner(sandbox: psutil.Process) -> psutil.Process:
    """The first process inside: the child of the one that started it."""
    (child,) = sandbox.children() or [sandbox]
    return child


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return list(process.children())
    except psutil.NoSuchProcess:
        return []


def _part(child: psutil.Process) -> tuple[str, int] | None:
    """The part that a child of the daemon is, and its process; None for one that has just begun or ended."""
    try:
        own = _command(child)
        name = own.name()
        if name == "dbus-daemon":
            name = next(part for end, part in _BUSES.items() if own.cmdline()[1].endswith(f"/{end}"))
    except (psutil.NoSuchProcess, IndexError, StopIteration):
        return None
    return None if name in _STARTERS else (_PARTS.get(name, name), own.pid)


def _command(child: psutil.Process) -> psutil.Process:
    """What runs in a cell; a child that is no cell is its own command."""
    found = child
    for _ in range(_CELL_DEPTH):
        below = _children(found) if found.name() == _BWRAP else []
        found = below[0] if below else found
    return found


def _status(pid: int) -> str:
    try:
        return str(psutil.Process(pid).status())
    except psutil.NoSuchProcess:
        return ""
