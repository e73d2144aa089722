"""A bound on the memory of all cells together, for guests without control groups of their own."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

from sci_gym_vm_agent.programs import Programs

_PERIOD_S = 0.5
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class MemoryGuard:
    """Kills the largest process of the cells when together they hold more memory than they may."""

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
        usage = {pid: _private_bytes(pid) for pid in map(int, filter(str.isdigit, os.listdir("/proc")))}
        if sum(usage.values()) <= self._max_bytes:
            return
        largest = max(usage, key=lambda pid: usage[pid])
        for program in self._programs:
            if program.main_pid == largest:
                program.note = f"\nsci_gym: killed, the guest's memory limit is {self._max_bytes} bytes"
        os.kill(largest, signal.SIGKILL)


def _private_bytes(pid: int) -> int:
    """Return a cell process's private memory; 0 for the desktop's own parts, which share our namespace."""
    try:
        if os.readlink(f"/proc/{pid}/ns/pid") == os.readlink("/proc/self/ns/pid"):
            return 0
        resident, shared = Path(f"/proc/{pid}/statm").read_text().split()[1:3]
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _PAGE_BYTES
