"""One QEMU: its command line, its channels, its start and its end."""

from __future__ import annotations

import re
import secrets
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sci_gym.errors import DeadlineError, DisconnectedError, InfrastructureError, LaunchError
from sci_gym.machines._command import Hardware, Media, direct_command
from sci_gym.machines._console import Console
from sci_gym.machines._domain import libvirt_command
from sci_gym.machines._qmp import PART, Line, Monitor
from sci_gym.machines._remains import Remains
from sci_gym.machines._spawn import spawn

PREFIX = "sci-gym-vm-"
_FORWARD = re.compile(r"TCP\[HOST_FORWARD\]\s+\d+\s+127\.0\.0\.1\s+(\d+)")
_GREET_S = 20.0
_LOAD_S = 60.0
_LOOK_S = 0.02


def make_overlay(base: Path, overlay: Path) -> None:
    """Make a disk that shows `base` and keeps what is written."""
    command = ["qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", str(base), str(overlay)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise LaunchError(PART, f"qemu-img cannot make a disk: {done.stderr.strip()}")


class Qemu:
    """A running QEMU; it dies with this process, and all it leaves is in `remains`."""

    def __init__(
        self,
        remains: Remains,
        hardware: Hardware,
        media: Media,
        *,
        incoming: int | None = None,
        paused: bool = False,
    ) -> None:
        """Start it.

        Args:
            remains: owns its folder and process.
            hardware: of the guest.
            media: its files.
            incoming: descriptor of a saved state to go on from; None boots.
            paused: do not run the guest.

        Raises:
            LaunchError: it ended at once.
        """
        self._remains, self._network = remains, hardware.network
        self._monitor_line, monitor = _pair()
        self.keeper, keeper = _pair()
        ours, console = socket.socketpair()
        self._console = Console(ours)
        descriptors = [monitor.fileno(), keeper.fileno(), console.fileno()]
        more = [*(["-S"] if paused else []), *([] if incoming is None else ["-incoming", "defer"])]
        if hardware.driver == "libvirt":
            command = libvirt_command(hardware, media, remains.folder, descriptors, more)
        else:
            command = [*direct_command(hardware, media, *descriptors), *more]
        with monitor, keeper, console:
            remains.process = spawn(command, console.fileno(), descriptors)
        try:
            self.monitor = Monitor(self._monitor_line, _GREET_S)
            if incoming is not None:
                self._load(incoming, without_memory=media.memory is not None and not media.shared)
            if paused:
                return
            if incoming is not None:
                # What is said to the keeper before that is lost with the state that is replaced.
                self.monitor.wait_for_move(_LOAD_S)
            self.monitor.do("cont")  # libvirt starts it paused in any case
        except InfrastructureError as error:
            raise LaunchError(PART, f"QEMU did not start; {self.log()}") from error

    def port(self) -> int:
        """The port of this host's loopback that leads to the daemon."""
        told = self.monitor.do("human-monitor-command", **{"command-line": "info usernet"})
        found = _FORWARD.search(told)
        if found is None:
            raise LaunchError(PART, f"QEMU forwards no port; it tells {told!r}")
        return int(found[1])

    def greet(self, deadline_s: float) -> str:
        """Give the daemon of a clone a new token, and tell it.

        The token goes through the keeper's line alone. With it go the time and fresh randomness.

        Raises:
            LaunchError: the guest did not answer within `deadline_s`.
        """
        return self._order(time.monotonic() + deadline_s)

    def start_daemon(self, deadline_s: float, arguments: Sequence[str], disk_bytes: int) -> str:
        """Wait until a guest has booted, start its daemon, and tell its token.

        Args:
            deadline_s: for all of it.
            arguments: of the daemon's command line.
            disk_bytes: of its files.

        Raises:
            LaunchError: the guest did not answer within `deadline_s`, or its daemon did not start.
        """
        end = time.monotonic() + deadline_s
        self._expect("awake", end)
        return self._order(end, arguments=[*arguments], disk_bytes=disk_bytes, network=self._network)

    def _order(self, end_s: float, **more: Any) -> str:
        token = secrets.token_urlsafe(32)
        order = {"token": token, "time_ns": time.time_ns(), "seed": secrets.token_hex(64)}
        self.keeper.write({**order, **more})
        self._expect("ready", end_s)
        return token

    def _expect(self, word: str, end_s: float) -> None:
        try:
            said = self.keeper.read(end_s).decode(errors="replace").strip()
        except DeadlineError as error:
            raise LaunchError(PART, f"the guest was not {word} in time; {self.log()}") from error
        except DisconnectedError as error:
            raise LaunchError(PART, f"ended while it started; {self.log()}") from error
        if said != word:
            raise LaunchError(PART, f"its daemon: {said}; {self.log()}")

    def save(self, descriptor: int, deadline_s: float, *, without_memory: bool) -> None:
        """Stop the guest, and write its state to a descriptor.

        Args:
            descriptor: a file or a socket.
            deadline_s: for all of it.
            without_memory: leave out the memory that is shared with its file.
        """
        self._prepare(without_memory)
        self.monitor.do("migrate-set-parameters", **{"max-bandwidth": 2**40})
        self.monitor.do("stop")
        self.monitor.do("getfd", descriptor, fdname="state")
        self.monitor.do("migrate", uri="fd:state")
        self.monitor.wait_for_move(deadline_s)
        self._wait_until_moved(time.monotonic() + _LOAD_S)

    def _wait_until_moved(self, end_s: float) -> None:
        """QEMU tells that a state was sent shortly before it can go on."""
        while self.monitor.do("query-status")["status"] == "finish-migrate":
            if time.monotonic() > end_s:
                raise DeadlineError(PART, f"its state was not moved within {_LOAD_S:.0f} s")
            time.sleep(_LOOK_S)  # between two looks

    def _load(self, descriptor: int, *, without_memory: bool) -> None:
        self._prepare(without_memory)
        self.monitor.do("getfd", descriptor, fdname="state")
        self.monitor.do("migrate-incoming", uri="fd:state")

    def _prepare(self, without_memory: bool) -> None:
        capability = {"capability": "x-ignore-shared", "state": without_memory}
        self.monitor.do("migrate-set-capabilities", capabilities=[capability, _EVENTS])

    def quit(self, deadline_s: float) -> None:
        """Let QEMU write what is left to write, and end.

        Raises:
            DeadlineError: it did not within `deadline_s`.
        """
        self.monitor.do("quit")
        assert self._remains.process is not None  # set when it was started
        try:
            self._remains.process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            raise DeadlineError(PART, f"did not end within {deadline_s:.0f} s") from None

    def standstill(self) -> InfrastructureError | None:
        """Why the guest does not run, None when it does."""
        try:
            status = self.monitor.do("query-status")["status"]
        except InfrastructureError as error:
            return error
        if status == "io-error":
            return InfrastructureError(PART, "its disk cannot be written to; this host's may be full")
        return None if status == "running" else InfrastructureError(PART, f"stands still: {status}")

    def log(self) -> str:
        """The end of what QEMU and the guest's console said."""
        process = self._remains.process
        return f"its log ends: {self._console.text(ended=process is None or process.poll() is not None)!r}"

    def close(self) -> None:
        """Close the channels."""
        self._monitor_line.close()
        self.keeper.close()
        self._console.close()


_EVENTS = {"capability": "events", "state": True}


def _pair() -> tuple[Line, socket.socket]:
    ours, theirs = socket.socketpair()
    return Line(ours), theirs
