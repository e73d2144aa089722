"""The system calls that no cell has: those by which a process reads or changes another, or takes its files.

What a program reports of itself is its own word; a command that it started, as in a console, runs as the same
user in the same cell, and must not be able to speak for it. Memory can also be written below /proc, which
cells have read only.
"""

from __future__ import annotations

import errno
import os
import struct
from typing import NamedTuple

from sci_gym_vm_agent.errors import PartUnavailable

# Linux: audit.h, seccomp.h, bpf_common.h and the tables of system calls.
_LOAD_WORD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4
_KILL, _REFUSE, _ALLOW = 0x80000000, 0x00050000 | errno.EPERM, 0x7FFF0000
_X32 = 0x40000000


class _Architecture(NamedTuple):
    audit: int
    ptrace: int
    process_vm_readv: int
    process_vm_writev: int
    pidfd_getfd: int


_ARCHITECTURES = {
    "x86_64": _Architecture(0xC000003E, 101, 310, 311, 438),
    "aarch64": _Architecture(0xC00000B7, 117, 270, 271, 438),
}


def refusals(machine: str) -> bytes:
    """The filter, a classic BPF program, as bwrap's `--seccomp` reads it.

    A process that makes calls by another machine's numbers (32 bit) is killed; x86's x32 numbers are refused.

    Raises:
        PartUnavailable: the calls' numbers are not known for this machine.
    """
    if machine not in _ARCHITECTURES:
        raise PartUnavailable("sandbox", f"system calls of {machine} are not known; use x86_64 or aarch64")
    audit, *refused = _ARCHITECTURES[machine]
    tests = [(_JUMP_EQUAL, number) for number in refused] + [(_JUMP_AT_LEAST, _X32)]
    program = [
        (_LOAD_WORD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD_WORD, 0, 0, _NUMBER_AT),
        *((test, left, 0, number) for left, (test, number) in zip(range(len(tests), 0, -1), tests)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def open_refusals() -> int:
    """A descriptor of the filter for this machine, at its start; the caller closes it."""
    descriptor = os.memfd_create("refusals")
    os.write(descriptor, refusals(os.uname().machine))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
