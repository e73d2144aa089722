"""A bound on the memory of all cells together, for guests without control groups of their own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path

from sci_gym_vm_agent.programs import Programs

_PERIOD_S = 0.5
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class MemoryGuard:
    """Kills processes of the largest cell when all cells together hold more memory than they may.

    By cells, not by processes: code that shares its memory out among many small processes must not get the
    program beside it killed.
    """

    def __init__(self, programs: Programs, max_bytes: int) -> None:
        """Guard the cells with `max_bytes` of private resident memory."""
        self._programs = programs
        self._max_bytes = max_bytes

    async def watch(self) -> None:
        """Sample until cancelled."""
        while True:
            await asyncio.sleep(_PERIOD_S)
            self._check()

    def _check(self) -> None:
        cells = _cells()
        excess = sum(sum(cell.values()) for cell in cells) - self._max_bytes
        if excess <= 0:
            return
        largest = max(cells, key=lambda cell: sum(cell.values()))
        for pid, size in sorted(largest.items(), key=lambda one: one[1], reverse=True):
            self._kill(pid)
            excess -= size
            if excess <= 0:
                return

    def _kill(self, pid: int) -> None:
        for program in self._programs:
            if program.main_pid == pid:
                program.note = f"\nsci_gym: killed, the guest's memory limit is {self._max_bytes} bytes"
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _cells() -> list[dict[int, int]]:
    """Return each cell's processes with their private memory in bytes, without the desktop's own parts."""
    cells: dict[str, dict[int, int]] = {}
    own = os.readlink("/proc/self/ns/pid")
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            namespace = os.readlink(f"/proc/{pid}/ns/pid")
            resident, shared = Path(f"/proc/{pid}/statm").read_text().split()[1:3]
        except (OSError, ValueError):
            continue
        if namespace != own:
            cells.setdefault(namespace, {})[pid] = (int(resident) - int(shared)) * _PAGE_BYTES
    return list(cells.values())
