"""Words put into the mouth of a start-up module, from wherever the script runs."""

from __future__ import annotations

_SCRIPT = r"""
import ctypes, glob, os
line, tried = {line!r}.encode() + b"\n", 0
libc = ctypes.CDLL(None)
for path in glob.glob("/proc/[0-9]*/fd/*"):
    target = os.readlink(path) if os.path.islink(path) else ""
    if not target.startswith(("pipe:", "socket:")) or path.startswith(f"/proc/{{os.getpid()}}/"):
        continue
    tried += 1
    try:
        os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), line)
    except OSError:
        pass
    pid, number = path.split("/")[2:5:2]
    taken = libc.syscall(438, os.pidfd_open(int(pid)), int(number), 0)
    if taken >= 0:
        os.write(taken, line)
print("tried", tried, "channels")
"""


def forge(line: str) -> str:
    """Python that says a line on every descriptor of every other process in reach, and how many it tried."""
    return _SCRIPT.format(line=line)
