"""Which accelerator virtual machines use here."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sci_gym.errors import ConfigurationError

VARIABLE = "SCI_GYM_ACCEL"
_KNOWN = ("kvm", "tcg")
_FLAGS = re.compile(r"^flags\s*:.*\b(vmx|svm)\b", re.MULTILINE)


def accelerator() -> tuple[str, str]:
    """Tell "kvm" or "tcg" (QEMU's emulation), and why.

    A device /dev/kvm is not enough: nested, it may create a machine that an ordinary kernel hangs on. The
    processor's flag tells, and `SCI_GYM_ACCEL` overrules it.

    Raises:
        ConfigurationError: the variable holds something else.
    """
    chosen = os.environ.get(VARIABLE, "")
    if chosen:
        if chosen not in _KNOWN:
            raise ConfigurationError(f"{VARIABLE}: must be one of {', '.join(_KNOWN)}, not {chosen!r}")
        return chosen, f"{VARIABLE} says so"
    if not _FLAGS.search(Path("/proc/cpuinfo").read_text()):
        return "tcg", "the processor shows neither vmx nor svm"
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg", "/dev/kvm is not open to this user; add the user to the group kvm"
    return "kvm", "the processor's flag and /dev/kvm are there"
