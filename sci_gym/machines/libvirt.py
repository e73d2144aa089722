"""A desktop in a virtual machine, which forks: QEMU with KVM, or with its emulation elsewhere.

A guest boots once for each image and each size of machine. Its state is kept beside the image, and every
machine after that is a clone which goes on from there: it maps the memory of that state and keeps its own
writes, so it starts in a fraction of a second and holds only what it changes. Its token reaches it through a
line that only this process holds, after it was cloned.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, ClassVar

import psutil

from sci_gym.app import Requirement
from sci_gym.claims import claim, draft, remove_orphans
from sci_gym.errors import (
    ConfigurationError,
    DisconnectedError,
    InfrastructureError,
    MissingDependencyError,
    UnknownNameError,
)
from sci_gym.images import Image, find_image, image_named
from sci_gym.machines._accel import accelerator
from sci_gym.machines._command import COMMAND, Hardware
from sci_gym.machines._domain import check as check_libvirt
from sci_gym.machines._owned import OwnedMachine
from sci_gym.machines._parts import stopped
from sci_gym.machines._qemu import PREFIX, Qemu
from sci_gym.machines._qmp import PART
from sci_gym.machines._state import (
    METHODS,
    SavedState,
    drop_if_damaged,
    load_state,
    make_template,
    publish,
    save_running,
)
from sci_gym.machines.base import Endpoint, Machine, MachineSpec, Snapshot

DRIVERS = ("qemu", "libvirt")
_MAX_CORES = 2
_EMULATED = 5.0
_METHODS = {
    "mapped": "clones map the memory of a saved machine, and keep their own writes",
    "copied": "clones read the memory of a saved machine: mapping it did not work here",
}
_SYSTEM_BYTES = 512 * 2**20
_GREET_S = 60.0
_END_S = 1.0
_SNAPSHOT = "sci-gym-moment-"


class LibvirtMachine(OwnedMachine):
    """A clone of a virtual machine that has booted before.

    Attributes:
        saved: what it was cloned from, None when it does not run.
    """

    title = "the virtual machine"
    prefix = PREFIX
    visible = frozenset({PART})
    commands: ClassVar[Mapping[str, str]] = {
        COMMAND: "qemu-system-x86",
        "qemu-img": "qemu-utils",
        "setpriv": "util-linux",
    }

    def __init__(
        self,
        spec: MachineSpec,
        image: Image | str | None = None,
        *,
        network: bool = False,
        driver: str = "auto",
        fork: str = "auto",
        origin: SavedState | None = None,
    ) -> None:
        """Plan a machine.

        Args:
            spec: its size.
            image: what it runs, or how its key begins; by default the newest that holds what `require` asks
                for.
            network: let programs in the guest reach what this host reaches, its own services included.
            driver: who starts QEMU: "qemu" for this process, "libvirt" for its embedded driver, "auto" for
                the faster, which is the first.
            fork: how a clone gets its memory: "mapped", "copied", or "auto" for the first of them that works.
            origin: the moment to go on from; a desktop that has just come up by default.

        Raises:
            UnknownNameError: there is no such image, driver or way to fork.
        """
        super().__init__(spec)
        if driver not in ("auto", *DRIVERS):
            raise UnknownNameError("driver", driver, ["auto", *DRIVERS])
        if fork not in ("auto", *METHODS):
            raise UnknownNameError("fork", fork, ["auto", *METHODS])
        self._image = image_named(image) if isinstance(image, str) else image
        self._origin, self._network = origin, network
        self._driver = DRIVERS[0] if driver == "auto" else driver
        self._methods = METHODS if fork == "auto" else (fork,)
        self._qemu: Qemu | None = None
        self.saved: SavedState | None = None

    def start(self) -> Endpoint:
        """Clone the machine that stands ready; the first start of all boots that one, which takes longer."""
        self._check_commands()
        with self._lock:
            return self._go_on_from(self._origin or self._template())

    def restore(self) -> Endpoint:
        """Start a new clone in place of the old one, which ends in the background."""
        return self.start()

    def snapshot(self) -> Snapshot:
        """Keep this moment; the machine stands still while its memory is written to a file."""
        with self._lock:
            if self._qemu is None or self.saved is None or not self.running:
                raise DisconnectedError(self.title, "does not run")
            folder = Path(tempfile.mkdtemp(prefix=_SNAPSHOT, dir=self.saved.image.folder))
            lock = claim(folder)
            try:
                return VmSnapshot(self.spec, self._save(folder, self.saved, self._qemu), lock)
            except BaseException:
                _forget(folder, lock, os.getpid())
                raise

    def keep(self, key: str) -> Endpoint | None:
        """Save this moment, and go on as a clone of it, which holds less than what it was saved from."""
        with self._lock:
            if self._qemu is None or self.saved is None or self._origin is not None:
                return None
            folder = self._kept(key)
            with draft(folder.parent, ".draft-") as kept:
                made = publish(self._save(kept, self.saved, self._qemu), folder)
            return self._go_on_from(made)

    def _check_commands(self) -> None:
        super()._check_commands()
        if self._driver == "libvirt":
            check_libvirt()

    def recall(self, key: str) -> Endpoint | None:
        """Start where a machine like this one was kept under `key`, if one was."""
        self._check_commands()
        with self._lock:
            if self._origin is not None:
                return None
            saved = load_state(self._kept(key), self._chosen_image(), self._hardware)
            return self._go_on_from(saved) if saved is not None else None

    def prepared(self) -> bool:
        """Whether a machine like this one has booted before."""
        return load_state(self._place(), self._chosen_image(), self._hardware) is not None

    @property
    def slowness(self) -> float:
        """More under emulation."""
        return _EMULATED if accelerator()[0] == "tcg" else 1.0

    def require(self, requirements: Sequence[Requirement]) -> None:
        """Choose an image that holds them."""
        packages = {one.package for one in requirements if one.package}
        if self._origin is not None or (self._image and packages <= set(self._image.packages)):
            return
        self._image = find_image(packages)

    def parts(self) -> Mapping[str, Sequence[int]]:
        """QEMU, and libvirt around it if that was asked for; this host cannot see into the guest."""
        process = self._process  # another thread may stop it meanwhile
        if process is None:
            return {}
        with contextlib.suppress(psutil.NoSuchProcess):
            below = psutil.Process(process.pid).children(recursive=True)
            return {PART: [process.pid, *(one.pid for one in below)]}
        return {PART: [process.pid]}

    def fault(self) -> InfrastructureError | None:
        """Tell the virtual machine's own end, and why it stands still."""
        if self._process is None:
            return DisconnectedError(PART, "does not run")
        try:
            code = self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            return self._standstill()
        ended = f"was ended by signal {-code}" if code < 0 else "was switched off: its daemon ended"
        return DisconnectedError(PART, f"{ended}; {self._qemu.log() if self._qemu else ''}")

    def _standstill(self) -> InfrastructureError | None:
        if stopped(self.parts()):
            return InfrastructureError(PART, "its process is stopped")
        return self._qemu.standstill() if self._qemu is not None else None

    def facts(self) -> Mapping[str, str]:
        """Keys: "accelerator", "driver"; and once it was started "image", "fork"."""
        told = {
            "accelerator": " because ".join(accelerator()),
            "driver": f"{self._driver}; {_about_libvirt()}",
        }
        if self.saved is not None:
            told["image"] = self.saved.image.key
            told["fork"] = _METHODS[self.saved.method]
        return told

    @property
    def _hardware(self) -> Hardware:
        cores = min(_MAX_CORES, os.cpu_count() or 1)
        memory_bytes = self.spec.memory_bytes + self.spec.disk_bytes + _SYSTEM_BYTES
        return Hardware(memory_bytes, cores, self._network, self._driver)

    def _go_on_from(self, saved: SavedState) -> Endpoint:
        self._discard()
        remove_orphans(_SNAPSHOT, saved.image.folder)
        remains = self._own()
        try:
            machine = self._qemu = saved.clone(remains)
            port = machine.port()
            token = machine.greet(_GREET_S)
        except BaseException as error:
            self.stop()
            if isinstance(error, InfrastructureError):
                drop_if_damaged(saved)
            raise
        self.saved = saved
        return Endpoint(f"127.0.0.1:{port}", token)

    def _discard(self) -> None:
        """End what runs, off the path of whoever waits for the next."""
        finalizer, self._finalizer = self._finalizer, None
        self._close()
        if finalizer is not None:
            threading.Thread(target=finalizer, name="sci-gym-discard").start()

    def _close(self) -> None:
        self.saved = None
        qemu, self._qemu = self._qemu, None
        if qemu is not None:
            qemu.close()

    def _chosen_image(self) -> Image:
        if self._image is None:
            self._image = find_image(())
        return self._image

    def _template(self) -> SavedState:
        return make_template(self._place(), self._chosen_image(), self._hardware, self.spec, self._methods)

    def _kept(self, key: str) -> Path:
        return self._place().with_name(f"{self._place().name}-{_short(key)}")

    def _place(self) -> Path:
        """Where the states of such machines are kept."""
        spec = self.spec
        size = f"{spec.width} {spec.height} {spec.memory_bytes} {spec.disk_bytes} {spec.processes}"
        return (
            self._chosen_image().folder
            / "templates"
            / _short(f"{size} {self._methods[0]} {self._hardware.name}")
        )

    def _save(self, folder: Path, saved: SavedState, machine: Qemu) -> SavedState:
        assert self._remains is not None  # as long as there is a QEMU
        disk = self._remains.folder / "disk.qcow2"
        return save_running(machine, disk, folder, saved)


MACHINE = LibvirtMachine


class VmSnapshot(Snapshot):
    """One moment of a virtual machine, in a folder of its own."""

    def __init__(self, spec: MachineSpec, state: SavedState, lock: IO[str]) -> None:
        """Own the folder of `state`, and the claim to it."""
        self._spec, self._state = spec, state
        self._finalizer = weakref.finalize(self, _forget, state.folder, lock, os.getpid())

    def fork(self) -> Machine:
        """Plan a machine that goes on from this moment."""
        if not self._finalizer.alive:
            raise ConfigurationError("snapshot: it was dropped; no more machines can start from it")
        return LibvirtMachine(
            self._spec, self._state.image, network=self._state.hardware.network, origin=self._state
        )

    def drop(self) -> None:
        """Delete it; machines that run keep their open files."""
        self._finalizer()


def _forget(folder: Path, lock: IO[str], owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def _about_libvirt() -> str:
    try:
        check_libvirt()
    except MissingDependencyError as error:
        return str(error)
    return "driver='libvirt' can be chosen too"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
