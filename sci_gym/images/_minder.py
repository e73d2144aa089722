"""Runs a command for as long as standard input is open, then ends it with all that it started.

Whoever holds the other end of standard input can so end in any way, `kill -9` included. Processes are asked
to end first, so that they clean up after themselves. The exit status is the command's.
"""

import os
import select
import signal
import subprocess
import sys

_CLEAN_UP_S = 60.0


def main() -> int:
    """Mind the command that the arguments give."""
    process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)
    ended = os.pidfd_open(process.pid)
    select.select([sys.stdin, ended], [], [])
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(_CLEAN_UP_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


if __name__ == "__main__":
    sys.exit(main())
