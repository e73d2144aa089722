"""Saved machines: memory, disk and devices at one moment, from which clones go on.

A folder holds `memory`, the guest's memory as a file; `disk.qcow2`, what was written over the image's disk;
`devices`, everything else. Clones map the memory and keep what they write to themselves ("mapped"). Where
that does not work, `devices` holds the memory as well, and each clone reads it ("copied").
"""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sci_gym.claims import draft, locked
from sci_gym.errors import InfrastructureError, LaunchError
from sci_gym.images import Image
from sci_gym.machines._qemu import (
    GUEST_ADDRESS,
    GUEST_PORT,
    PREFIX,
    Hardware,
    Media,
    Qemu,
    make_overlay,
)
from sci_gym.machines._remains import Remains
from sci_gym.machines._warm import warm
from sci_gym.machines.base import Endpoint, MachineSpec

METHODS = ("mapped", "copied")
_MANIFEST = "saved.json"
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
    """The state that a folder holds, None when there is none."""
    try:
        method = json.loads((folder / _MANIFEST).read_text())["method"]
    except (OSError, ValueError, KeyError):
        return None
    return SavedState(folder, image, hardware, method)


def make_template(folder: Path, image: Image, hardware: Hardware, spec: MachineSpec) -> SavedState:
    """The state of a machine that has booted and shown its desktop once: from `folder`, or made there.

    Raises:
        LaunchError: the guest did not come up, or no clone of it did.
    """
    folder.parent.mkdir(exist_ok=True)
    with locked(folder.with_suffix(".lock"), 2 * BOOT_S):
        known = load_state(folder, image, hardware)
        if known is not None:
            return known
        failure: InfrastructureError | None = None
        for method in METHODS:
            with draft(folder.parent, _DRAFT) as kept:
                made = _boot(kept, image, hardware, spec, method)
                try:
                    _prove(made)
                except InfrastructureError as error:
                    failure = error
                    continue
                return _publish(made, folder)
        raise LaunchError("virtual machine", f"cannot be forked: {failure}") from failure


def save_running(machine: Qemu, disk: Path, folder: Path, image: Image, hardware: Hardware) -> SavedState:
    """Save a clone that runs, and let it go on.

    Its memory lies in its own process, so it is sent to a second QEMU, which never runs the guest and puts it
    into a file that others can map.

    Args:
        machine: the clone.
        disk: what it has written.
        folder: empty, for the state.
        image: that it runs.
        hardware: that it runs on.

    Raises:
        InfrastructureError: it could not be saved.
    """
    remains = Remains(PREFIX)
    ours, theirs = socket.socketpair()
    try:
        with ours, theirs:
            machine.monitor.do("stop")
            shutil.copy(disk, folder / "disk.qcow2")
            media = _media(image, folder / "disk.qcow2", folder / "memory", True)
            receiver = Qemu(remains, hardware, media, incoming=theirs.fileno(), paused=True)
            machine.save(ours.fileno(), _SAVE_S, without_memory=False)
            receiver.monitor.wait_for_move(_SAVE_S)
        _save(receiver, folder, "mapped")
        return SavedState(folder, image, hardware, "mapped")
    finally:
        remains.end()
        machine.monitor.do("cont")


def publish(state: SavedState, folder: Path) -> SavedState:
    """Move a state to the place where others look for it."""
    with locked(folder.with_suffix(".lock"), BOOT_S):
        return load_state(folder, state.image, state.hardware) or _publish(state, folder)


def _publish(state: SavedState, folder: Path) -> SavedState:
    moved = state.folder.parent / f"{state.folder.name}.whole"
    moved.mkdir()
    try:
        for name in ("memory", "disk.qcow2", "devices"):
            if (state.folder / name).exists():
                (state.folder / name).rename(moved / name)
        (moved / _MANIFEST).write_text(json.dumps({"method": state.method}))
        moved.rename(folder)
    finally:
        shutil.rmtree(moved, ignore_errors=True)
    return SavedState(folder, state.image, state.hardware, state.method)


def _boot(folder: Path, image: Image, hardware: Hardware, spec: MachineSpec, method: str) -> SavedState:
    make_overlay(image.disk, folder / "disk.qcow2")
    remains = Remains(PREFIX)
    try:
        media = _media(image, folder / "disk.qcow2", folder / "memory", True)
        machine = Qemu(remains, hardware, media)
        token = machine.introduce(BOOT_S, _daemon_arguments(spec))
        warm(Endpoint(f"127.0.0.1:{machine.port()}", token), _WARM_S)
        _save(machine, folder, method)
    finally:
        remains.end()
    return SavedState(folder, image, hardware, method)


def _save(machine: Qemu, folder: Path, method: str) -> None:
    """Write the devices, and let QEMU end, so that the disk is whole."""
    descriptor = os.open(folder / "devices", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        machine.save(descriptor, _SAVE_S, without_memory=method == "mapped")
    finally:
        os.close(descriptor)
    machine.quit(_SAVE_S)


def _prove(state: SavedState) -> None:
    """Start one clone, and look at its desktop."""
    remains = Remains(PREFIX)
    try:
        machine = state.clone(remains)
        token = machine.introduce(_WARM_S)
        warm(Endpoint(f"127.0.0.1:{machine.port()}", token), _WARM_S)
    finally:
        remains.end()


def _daemon_arguments(spec: MachineSpec) -> Sequence[str]:
    return (
        "--listen", f"{GUEST_ADDRESS}:{GUEST_PORT}", "--no-tls", "--size", f"{spec.width}x{spec.height}",
        "--max-memory", str(spec.memory_bytes), "--max-processes", str(spec.processes),
    )  # fmt: skip


def _media(image: Image, disk: Path, memory: Path | None, shared: bool) -> Media:
    return Media(image.folder / "vmlinuz", image.folder / "initrd", disk, memory, shared)
