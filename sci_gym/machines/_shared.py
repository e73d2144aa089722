"""Memory that this process shares with a daemon on the same machine."""

from __future__ import annotations

import fcntl
import mmap
import os

# With a fixed size, whoever else maps it cannot make this process fault by cutting it off (SIGBUS).
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


def share_memory(size: int) -> tuple[int, mmap.mmap]:
    """Make memory of `size` bytes: a descriptor to pass on and to close, and this process's view of it."""
    descriptor = os.memfd_create("sci-gym-frame", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, size)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
        return descriptor, mmap.mmap(descriptor, size, prot=mmap.PROT_READ)
    except BaseException:
        os.close(descriptor)
        raise
