"""The kernel's session keyring: processes inherit the host's, and with it the right to read its keys."""

from __future__ import annotations

import ctypes
import platform

_KEYCTL = {"x86_64": 250, "aarch64": 219}
_JOIN_SESSION_KEYRING = 1


def leave_session_keyring() -> None:
    """Go on with an empty session keyring, for this process and all that it starts.

    Where the kernel knows no keyrings, or forbids their use, there is nothing to leave.
    """
    number = _KEYCTL.get(platform.machine())
    if number is not None:
        ctypes.CDLL(None).syscall(number, _JOIN_SESSION_KEYRING, None)
