"""What QEMU is told: hardware, files, and the command line that follows from them."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sci_gym.machines._accel import accelerator

COMMAND = "qemu-system-x86_64"
GUEST_PORT = 50051
GUEST_ADDRESS = "10.0.2.15"
KERNEL = "console=ttyS0 quiet loglevel=3 panic=-1 random.trust_cpu=on mitigations=off nowatchdog"
# Emulated they are slower than what programs take in their stead: drawing takes a third of the time without.
WITHOUT = ("avx", "avx2", "f16c", "fma")
_PROCESSORS: dict[str, tuple[str, ...]] = {
    "kvm": ("-accel", "kvm", "-cpu", "host"),
    "tcg": (
        "-accel", "tcg,thread=multi,tb-size=256",
        "-cpu", ",".join(("max", *(f"{name}=off" for name in WITHOUT))),
    ),
}  # fmt: skip
_SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"


@dataclass(frozen=True, slots=True)
class Hardware:
    """What a guest runs on; a saved state goes on only on the same.

    Attributes:
        memory_bytes: of the guest.
        cores: of the guest.
        network: whether the guest has a way out.
        driver: "qemu" to start it directly, "libvirt" to let that do it.
    """

    memory_bytes: int
    cores: int
    network: bool = False
    driver: str = "qemu"

    @property
    def name(self) -> str:
        """All that a saved state depends on."""
        processor = " ".join(_PROCESSORS[accelerator()[0]])
        return f"{processor} {version()} {self.memory_bytes} {self.cores} {self.network} {KERNEL}"


@dataclass(frozen=True, slots=True)
class Media:
    """The files that a QEMU works on.

    Attributes:
        disk: qcow2, written to.
        memory: file of the guest's memory; None keeps it in QEMU's process alone.
        shared: whether the guest's writes go to the file of its memory; else they stay its own.
        kernel: to boot; None leaves that to the disk.
        initrd: its first file system.
        append: further arguments of the kernel.
    """

    disk: Path
    memory: Path | None
    shared: bool
    kernel: Path | None
    initrd: Path | None
    append: str

    @property
    def boot(self) -> dict[str, str]:
        """QEMU's options of what is booted; none where the disk boots by itself."""
        if self.kernel is None:
            return {}
        initrd = {"initrd": str(self.initrd)} if self.initrd else {}
        return {"kernel": str(self.kernel), **initrd, "append": f"{KERNEL} {self.append}".strip()}


@cache
def version() -> str:
    """QEMU's version, as it tells it."""
    done = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.partition("\n")[0]


def direct_command(hardware: Hardware, media: Media, monitor: int, keeper: int, console: int) -> list[str]:
    """The command line of QEMU itself, which inherits its channels and ends with this process."""
    line = ["setpriv", "--pdeathsig", "KILL", "--no-new-privs", COMMAND, "-nodefaults", "-no-user-config"]
    line += ["-display", "none", "-no-reboot", "-sandbox", _SANDBOX]
    line += ["-machine", "pc,vmport=off", "-rtc", "base=utc"]
    line += [*_PROCESSORS[accelerator()[0]], "-smp", str(hardware.cores)]
    line += ["-m", f"{hardware.memory_bytes}B"]
    for name, value in media.boot.items():
        line += [f"-{name}", value]
    line += devices(hardware, media, f"socket,fd={keeper}", f"socket,fd={console}")
    line += ["-chardev", f"socket,id=monitor,fd={monitor}", "-mon", "chardev=monitor,mode=control"]
    return line


def devices(hardware: Hardware, media: Media, keeper: str, console: str) -> list[str]:
    """The part that tells memory and devices; `keeper` and `console` are the other ends of serial lines."""
    memory = {"qom-type": "memory-backend-ram", "id": "ram", "size": hardware.memory_bytes, "reserve": False}
    if media.memory is not None:
        mapped = {"mem-path": str(media.memory), "share": media.shared}
        memory |= {"qom-type": "memory-backend-file", **mapped}
    disk = f"if=none,id=disk,format=qcow2,cache=unsafe,discard=unmap,file={_escaped(media.disk)}"
    forward = f"hostfwd=tcp:127.0.0.1:0-{GUEST_ADDRESS}:{GUEST_PORT}"
    restrict = "off" if hardware.network else "on"
    line = ["-object", json.dumps(memory), "-machine", "memory-backend=ram"]
    line += ["-drive", disk, "-device", "virtio-blk-pci,drive=disk,bootindex=1", "-device", "virtio-rng-pci"]
    line += ["-netdev", f"user,id=net,restrict={restrict},ipv6=off,{forward}"]
    line += ["-device", "virtio-net-pci,netdev=net,romfile="]
    for name, backend in (("console", console), ("keeper", keeper)):
        line += ["-chardev", f"{backend},id={name}", "-serial", f"chardev:{name}"]
    return line


def _escaped(path: Path) -> str:
    return os.fspath(path).replace(",", ",,")
