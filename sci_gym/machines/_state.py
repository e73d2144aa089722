"""Saved machines: memory, disk and devices at one moment, from which clones go on.

A folder holds `memory`, the guest's memory as a file; `disk.qcow2`, what was written over the image's disk;
`devices`, everything else. Clones map the memory and keep what they write to themselves ("mapped"). Where
that does not work, `devices` holds the memory as well, and each clone reads it ("copied").
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sci_gym.claims import draft, locked
from sci_gym.errors import InfrastructureError, LaunchError
from sci_gym.images import Image
from sci_gym.machines._command import GUEST_ADDRESS, GUEST_PORT, Hardware, Media
from sci_gym.machines._intact import describe, is_intact, looks_intact
from sci_gym.machines._qemu import PREFIX, Qemu, make_overlay
from sci_gym.machines._qmp import PART
from sci_gym.machines._remains import Remains
from sci_gym.machines._warm import warm
from sci_gym.machines.base import Endpoint, MachineSpec

METHODS = ("mapped", "copied")
_MANIFEST = "saved.json"
_FILES = ("memory", "disk.qcow2", "devices")
_DRAFT = ".draft-"
_SAVE_S = 120.0
_WARM_S = 120.0
BOOT_S = 300.0


@dataclass(frozen=True, slots=True)
class SavedState:
    """One moment of a machine.

    Attributes:
        folder: of its files.
        image: that the machine runs.
        hardware: that the machine runs on.
        method: one of `METHODS`.
    """

    folder: Path
    image: Image
    hardware: Hardware
    method: str

    def clone(self, remains: Remains) -> Qemu:
        """Start a machine that goes on from this moment.

        Raises:
            LaunchError: it did not start.
        """
        disk = remains.folder / "disk.qcow2"
        make_overlay(self.folder / "disk.qcow2", disk)
        memory = self.folder / "memory" if self.method == "mapped" else None
        devices = os.open(self.folder / "devices", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return Qemu(remains, self.hardware, _media(self.image, disk, memory, False), incoming=devices)
        finally:
            os.close(devices)


def load_state(folder: Path, image: Image, hardware: Hardware) -> SavedState | None:
    """The state that a folder holds, None when there is none or its files were cut or have grown."""
    try:
        told = _manifest(folder)
        intact = looks_intact(folder, told["files"])
    except (OSError, ValueError, KeyError):
        return None
    return SavedState(folder, image, hardware, told["method"]) if intact else None


def drop_if_damaged(state: SavedState) -> bool:
    """Remove a kept state whose files no longer hold what they held, and those that rest on its disk.

    Returns:
        Whether it was removed: the next start makes it anew.
    """
    try:
        damaged = not is_intact(state.folder, _manifest(state.folder)["files"])
    except (OSError, ValueError, KeyError):
        return False  # of a snapshot, or gone already
    if damaged:
        _remove(state.folder)
    return damaged


def make_template(
    folder: Path, image: Image, hardware: Hardware, spec: MachineSpec, methods: Sequence[str] = METHODS
) -> SavedState:
    """The state of a machine that has booted and shown its desktop once: from `folder`, or made there.

    Args:
        folder: where it is kept.
        image: that it runs.
        hardware: that it runs on.
        spec: of the desktop.
        methods: those to try, the first that works is taken.

    Raises:
        LaunchError: the guest did not come up, or no clone of it did.
    """
    folder.parent.mkdir(exist_ok=True)
    with locked(folder.with_suffix(".lock"), 2 * BOOT_S):
        known = load_state(folder, image, hardware)
        if known is not None:
            return known
        _remove(folder)
        failure: InfrastructureError | None = None
        for method in methods:
            with draft(folder.parent, _DRAFT) as kept:
                made = _boot(kept, image, hardware, spec, method)
                try:
                    _prove(made)
                except InfrastructureError as error:
                    failure = error
                    continue
                return _publish(made, folder)
        raise LaunchError(PART, f"cannot be forked: {failure}") from failure


def save_running(machine: Qemu, disk: Path, folder: Path, origin: SavedState) -> SavedState:
    """Save a clone that runs, and let it go on.

    Args:
        machine: the clone.
        disk: what it has written.
        folder: empty, for the state.
        origin: what it was cloned from.

    Raises:
        InfrastructureError: it could not be saved.
    """
    state = SavedState(folder, origin.image, origin.hardware, origin.method)
    try:
        machine.monitor.do("stop")
        shutil.copy(disk, folder / "disk.qcow2")
        if state.method == "copied":
            _write_devices(machine, state)
        else:
            _send_to_file(machine, state)
    finally:
        machine.monitor.do("cont")
    return state


def _send_to_file(machine: Qemu, state: SavedState) -> None:
    """Put memory that lies in a process into a file that others can map.

    It is sent to a second QEMU, which never runs the guest, and whose memory is that file.
    """
    ours, theirs = socket.socketpair()
    media = _media(state.image, state.folder / "disk.qcow2", state.folder / "memory", True)

    def receive(remains: Remains) -> Qemu:
        return Qemu(remains, state.hardware, media, incoming=theirs.fileno(), paused=True)

    with ours, theirs, _ending(receive) as receiver:
        machine.save(ours.fileno(), _SAVE_S, without_memory=False)
        receiver.monitor.wait_for_move(_SAVE_S)
        _write_devices(receiver, state)
        receiver.quit(_SAVE_S)


def publish(state: SavedState, folder: Path) -> SavedState:
    """Move a state to the place where others look for it."""
    with locked(folder.with_suffix(".lock"), BOOT_S):
        known = load_state(folder, state.image, state.hardware)
        if known is None:
            _remove(folder)
        return known or _publish(state, folder)


def _publish(state: SavedState, folder: Path) -> SavedState:
    moved = state.folder.parent / f"{state.folder.name}.whole"
    moved.mkdir()
    try:
        files = describe(state.folder, _FILES)
        for name in files:
            (state.folder / name).rename(moved / name)
        (moved / _MANIFEST).write_text(json.dumps({"method": state.method, "files": files}))
        moved.rename(folder)
    finally:
        shutil.rmtree(moved, ignore_errors=True)
    return SavedState(folder, state.image, state.hardware, state.method)


def _manifest(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / _MANIFEST).read_text())
    return told


def _remove(folder: Path) -> None:
    """Remove a state, and first those whose disks show its own."""
    for path in (*folder.parent.glob(f"{folder.name}-*/"), folder):
        shutil.rmtree(path, ignore_errors=True)


def _boot(folder: Path, image: Image, hardware: Hardware, spec: MachineSpec, method: str) -> SavedState:
    make_overlay(image.disk, folder / "disk.qcow2")
    state = SavedState(folder, image, hardware, method)
    memory = folder / "memory" if method == "mapped" else None
    media = _media(image, folder / "disk.qcow2", memory, True)
    with _ending(lambda remains: Qemu(remains, hardware, media)) as machine:
        arguments = _daemon_arguments(spec, hardware.network)
        token = machine.start_daemon(BOOT_S, arguments, spec.disk_bytes)
        warm(Endpoint(f"127.0.0.1:{machine.port()}", token), _WARM_S)
        _write_devices(machine, state)
        machine.quit(_SAVE_S)  # so that the disk is whole
    return state


@contextlib.contextmanager
def _ending(start: Callable[[Remains], Qemu]) -> Iterator[Qemu]:
    """A machine that ends with the block, and leaves nothing."""
    remains = Remains(PREFIX)
    try:
        with contextlib.closing(start(remains)) as machine:
            yield machine
    finally:
        remains.end()


def _write_devices(machine: Qemu, state: SavedState) -> None:
    descriptor = os.open(state.folder / "devices", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        machine.save(descriptor, _SAVE_S, without_memory=state.method == "mapped")
    finally:
        os.close(descriptor)


def _prove(state: SavedState) -> None:
    """Start one clone, and look at its desktop."""
    with _ending(state.clone) as machine:
        token = machine.greet(_WARM_S)
        warm(Endpoint(f"127.0.0.1:{machine.port()}", token), _WARM_S)


def _daemon_arguments(spec: MachineSpec, network: bool) -> Sequence[str]:
    return (
        "--listen", f"{GUEST_ADDRESS}:{GUEST_PORT}", "--no-tls", "--size", f"{spec.width}x{spec.height}",
        "--max-memory", str(spec.memory_bytes), "--max-processes", str(spec.processes),
        "--network", "machine" if network else "none",
    )  # fmt: skip


def _media(image: Image, disk: Path, memory: Path | None, shared: bool) -> Media:
    return Media(disk, memory, shared, image.kernel, image.initrd, image.append)
