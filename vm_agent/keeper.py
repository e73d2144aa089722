"""The keeper of a virtual machine: starts the daemon, and does for the host what takes root.

It runs as root beside nothing but the daemon, and listens to one private line, a serial port whose other end
only the host's process holds. Each order is a line of JSON:

    {"token": str, "time_ns": int, "seed": hex, "arguments": [str], "disk_bytes": int, "network": bool}

It says "awake" when it listens, and reads nothing that came before. The first order starts the daemon as an
ordinary user with `arguments` and `token`; all its files lie in memory and take `disk_bytes` at most, and
with `network` there is a way out. Each later one is the first word to a clone of this machine: it gives the
daemon a token of its own in place of the one that all clones share, sets the clock, which stood still in
between, and stirs the kernel's randomness, which would be the same in each. The answer is "ready", or
"failed: " and why. When the daemon ends, the machine is switched off.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import struct
import subprocess
import sys
import termios
import time
import tty
from pathlib import Path
from typing import Any, Optional

from sci_gym_vm_agent import link

_USER = 1000
_ROOT = Path("/guest")
_RUNTIME = Path("/run/user/1000")
_DISPLAYS = Path("/tmp/.X11-unix")
_ADD_ENTROPY, _RESEED = 0x40085203, 0x5207


class Keeper:
    """The line to the host, and the daemon."""

    def __init__(self, port: str) -> None:
        """Open the serial port, and pass every byte as it is."""
        self._port = os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        tty.setraw(self._port, termios.TCSAFLUSH)
        self._daemon: Optional[subprocess.Popen[bytes]] = None
        self._text = b""

    def run(self) -> None:
        """Follow orders until the daemon ends."""
        link.join()
        self._answer("awake")
        while self._daemon is None or self._daemon.poll() is None:
            watched: "list[Any]" = [self._port]
            if self._daemon is not None:
                watched.append(self._daemon.stdout)
            readable, _, _ = select.select(watched, [], [])
            if self._port in readable:
                self._text += os.read(self._port, 4096)
                *lines, self._text = self._text.split(b"\n")
                for line in lines:
                    self._answer(self._follow(line))
            elif self._daemon is not None:
                self._daemon.wait()

    def _follow(self, line: bytes) -> str:
        try:
            order = json.loads(line)
            time.clock_settime_ns(time.CLOCK_REALTIME, int(order["time_ns"]))
            _stir(bytes.fromhex(order["seed"]))
            daemon = self._daemon = self._daemon or _start(order)
            assert daemon.stdin is not None  # both are piped by _start
            assert daemon.stdout is not None
            daemon.stdin.write(order["token"].encode() + b"\n")
            daemon.stdin.flush()
            return daemon.stdout.readline().decode().strip() or "failed: the daemon ended"
        except (ValueError, KeyError, OSError, subprocess.SubprocessError) as error:
            return f"failed: {type(error).__name__}: {error}"

    def _answer(self, text: str) -> None:
        os.write(self._port, text.encode() + b"\n")


def _start(order: Any) -> "subprocess.Popen[bytes]":
    """Start the daemon as an ordinary user; its log goes to the console."""
    if order["network"]:
        link.open_network()
    _ROOT.mkdir(parents=True, exist_ok=True)
    options = "nosuid,nodev,mode=755,size=%d" % order["disk_bytes"]
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "guest", str(_ROOT)], check=True)
    for folder, owner in ((_ROOT, _USER), (_RUNTIME.parent, 0), (_RUNTIME, _USER), (_DISPLAYS, 0)):
        folder.mkdir(parents=True, exist_ok=True)
        os.chown(folder, owner, owner)
    _DISPLAYS.chmod(0o1777)
    return subprocess.Popen(
        [sys.executable, "-S", "-m", "sci_gym_vm_agent", *order["arguments"]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        user=_USER,
        group=_USER,
        extra_groups=[],
        cwd="/",
    )


def _stir(seed: bytes) -> None:
    """Mix bytes into the kernel's randomness, and use them at once."""
    device = os.open("/dev/urandom", os.O_WRONLY)
    try:
        packed = struct.pack(f"ii{len(seed)}s", len(seed) * 8, len(seed), seed)
        fcntl.ioctl(device, _ADD_ENTROPY, packed)
        fcntl.ioctl(device, _RESEED)
    finally:
        os.close(device)


def main() -> None:
    """Keep the machine named by its serial port, and switch it off at the end."""
    try:
        Keeper(sys.argv[1]).run()
    finally:
        Path("/proc/sysrq-trigger").write_text("o")


if __name__ == "__main__":
    main()
