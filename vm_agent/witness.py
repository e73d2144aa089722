"""What a program's own signals say of its lists and tables, which accessibility events do not tell."""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
from pathlib import Path
from typing import Optional

SOURCE = Path(__file__).with_name("witness.c").read_text()
VARIABLE = "SCI_GYM_WITNESS_FD"
_COUNT = struct.Struct("<Q")
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


class Witness:
    """The memory in which one program counts the changes of its items, see `witness.c`."""

    def __init__(self) -> None:
        """Make the memory; `descriptor` is for the program, `close` it here once that has started."""
        self.descriptor = os.memfd_create("sci-gym-witness", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, mmap.PAGESIZE)
        # Who inherits it from a program without Qt must not take away the memory that is read here (SIGBUS).
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, _SEALS)
        self._memory = mmap.mmap(self.descriptor, mmap.PAGESIZE, prot=mmap.PROT_READ)

    @property
    def count(self) -> Optional[int]:
        """How many changes there were; None where the program does not count them."""
        (count,) = _COUNT.unpack_from(self._memory)
        return int(count) or None

    def close(self) -> None:
        """Close the descriptor; the memory stays."""
        os.close(self.descriptor)
