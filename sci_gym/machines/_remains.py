"""What a started machine leaves on this host when it ends: a process with all below it, and a folder."""

from __future__ import annotations

import contextlib
import mmap
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import psutil

from sci_gym.claims import claim

_STOP_S = 5.0


class Remains:
    """A claimed folder, a process, shared memory: ended once, and only by the process that made them."""

    def __init__(self, prefix: str) -> None:
        """Make the folder; `process` and `frame_memory` are set when they are started."""
        self.folder = Path(tempfile.mkdtemp(prefix=prefix))
        self.process: subprocess.Popen[bytes] | None = None
        self.frame_memory: mmap.mmap | None = None
        self._claim = claim(self.folder)
        self._owner = os.getpid()
        self._ended = threading.Lock()

    def kill(self) -> None:
        """Kill the process and all below it; whoever waits for its output wakes up."""
        if self._owner != os.getpid() or self.process is None or self.process.poll() is not None:
            return
        with contextlib.suppress(OSError):
            _halt(self.process)
            # Its child takes the sandbox with it, and may not yet have asked to die with its parent.
            for child in _children(self.process.pid):
                os.kill(child, signal.SIGKILL)
        self.process.kill()
        for one in _session(self.process.pid):
            with contextlib.suppress(OSError):
                os.kill(one, signal.SIGKILL)

    def end(self) -> bool:
        """Kill, reap, remove the folder; whether the process has ended."""
        if self._owner != os.getpid() or not self._ended.acquire(blocking=False):
            return True
        gone = self.process is None or self._reap(self.process)
        if self.frame_memory is not None:
            with contextlib.suppress(BufferError):  # a traceback that someone keeps may still look into it
                self.frame_memory.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        self._claim.close()
        return gone

    def held_bytes(self) -> int:
        """Proportional set size of all its processes, 0 when there is none."""
        if self.process is None:
            return 0
        total = 0
        with contextlib.suppress(psutil.Error):
            first = psutil.Process(self.process.pid)
            for one in (first, *first.children(recursive=True)):
                with contextlib.suppress(psutil.Error):
                    total += one.memory_full_info().pss
        return total

    def _reap(self, process: subprocess.Popen[bytes]) -> bool:
        self.kill()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            return False
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        return True


def _halt(process: subprocess.Popen[bytes]) -> None:
    """Stop a process for good: it forks no more, nor is it in the middle of that, which takes a while."""
    process.send_signal(signal.SIGSTOP)
    end = time.monotonic() + _STOP_S
    wanted = os.WSTOPPED | os.WEXITED | os.WNOWAIT | os.WNOHANG
    while os.waitid(os.P_PID, process.pid, wanted) is None and time.monotonic() < end:
        pass


def _session(pid: int) -> list[int]:
    """Who is still in the session that a process began, which no other has while it is not reaped."""
    found = []
    for one in psutil.pids():
        with contextlib.suppress(OSError):
            if one != pid and os.getsid(one) == pid:
                found.append(one)
    return found


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
