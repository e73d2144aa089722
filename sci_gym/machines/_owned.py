"""What machines of this host have in common: a process that they own, with all it leaves here."""

from __future__ import annotations

import shutil
import subprocess
import threading
import weakref
from collections.abc import Mapping
from typing import Any, ClassVar

from sci_gym.claims import remove_orphans
from sci_gym.errors import MissingDependencyError
from sci_gym.machines._remains import Remains
from sci_gym.machines.base import Machine, MachineSpec

_STOP_AGAIN_S = 0.05


class OwnedMachine(Machine):
    """A machine whose processes and files are this process's own.

    Attributes:
        commands: that it runs, with the Debian package of each.
        prefix: of the names of its folders.
    """

    commands: ClassVar[Mapping[str, str]]
    prefix: ClassVar[str]

    def __init__(self, spec: MachineSpec) -> None:
        """Plan it."""
        super().__init__(spec)
        self._lock = threading.RLock()  # held while it starts
        self._remains: Remains | None = None
        self._finalizer: weakref.finalize[Any, OwnedMachine] | None = None

    @classmethod
    def missing(cls) -> dict[str, str]:
        """Commands that this host lacks, with their packages."""
        return {name: package for name, package in cls.commands.items() if shutil.which(name) is None}

    def stop(self) -> bool:
        """End it, also under a start in another thread."""
        while not self._lock.acquire(timeout=_STOP_AGAIN_S):
            if self._remains is not None:
                self._remains.kill()  # again: it may have been about to be started
        try:
            finalizer, self._finalizer = self._finalizer, None
            self._remains = None
            self._close()
            return finalizer is None or finalizer() is not False
        finally:
            self._lock.release()

    def held_bytes(self) -> int:
        """Proportional set size of its processes; what it may grow to when they cannot be read."""
        remains = self._remains
        return (remains.held_bytes() if remains else 0) or super().held_bytes()

    @property
    def running(self) -> bool:
        """Whether its process lives."""
        return self._process is not None and self._process.poll() is None

    @property
    def _process(self) -> subprocess.Popen[bytes] | None:
        return self._remains.process if self._remains else None

    def _check_commands(self) -> None:
        lacking = self.missing()
        if lacking:
            raise MissingDependencyError.of(self.title, lacking)

    def _own(self) -> Remains:
        """A new folder for a new process, ended with this object; what killed processes left is removed."""
        remove_orphans(self.prefix)
        remains = self._remains = Remains(self.prefix)
        self._finalizer = weakref.finalize(self, remains.end)
        return remains

    def _close(self) -> None:
        """Close what leads to the process."""
