"""The same QEMU, started by libvirt's embedded driver, which needs no daemon."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as xml
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from shutil import which

from sci_gym.errors import MissingDependencyError, install_command
from sci_gym.machines._accel import accelerator
from sci_gym.machines._command import COMMAND, WITHOUT, Hardware, Media, devices

_SPACE = "http://libvirt.org/schemas/domain/qemu/1.0"
_LIBRARIES, _DRIVER = Path("/usr/lib"), "*/libvirt/connection-driver/libvirt_driver_qemu.so"
_BUILD = ("gcc", "libvirt-dev", "pkg-config", "python3-dev")
_RELAY = Path(__file__).with_name("_embedded.py")


def missing() -> dict[str, str]:
    """What this driver needs and this host lacks: what it is to the Debian package that brings it."""
    lacking = {} if which("bwrap") else {"bwrap": "bubblewrap"}
    if not list(_LIBRARIES.glob(_DRIVER)):
        lacking["libvirt's driver of QEMU"] = "libvirt-daemon-driver-qemu"
    return lacking


def check() -> None:
    """Check that libvirt is there.

    Raises:
        MissingDependencyError: it is not; the message says how to get it.
    """
    if lacking := missing():
        raise MissingDependencyError.of("machine_options driver='libvirt'", lacking)
    if find_spec("libvirt") is None:
        raise MissingDependencyError(
            "machine_options driver='libvirt' needs the Python package libvirt-python; install with: "
            f"{install_command(_BUILD)} && pip install 'sci-gym[libvirt]'"
        )


def libvirt_command(
    hardware: Hardware, media: Media, folder: Path, descriptors: Sequence[int], more: Sequence[str]
) -> list[str]:
    """The command line of a process that runs a domain, and all of which ends with it and with this one.

    Args:
        hardware: of the guest.
        media: its files.
        folder: for libvirt's own files.
        descriptors: monitor, keeper, console.
        more: arguments of QEMU.
    """
    # As root, libvirt wants a user of its own, whom only Debian's package of its daemon makes.
    line = ["bwrap", "--die-with-parent", "--unshare-pid", "--unshare-user", "--uid", "1000", "--gid", "1000"]
    line += ["--dev-bind", "/", "/", "--proc", "/proc", "--"]
    line += [sys.executable, "-I", str(_RELAY), str(folder / "libvirt")]
    return [*line, domain_xml(hardware, media, more), *map(str, descriptors)]


def domain_xml(hardware: Hardware, media: Media, more: Sequence[str]) -> str:
    """The domain: processor, memory and kernel in libvirt's terms, all else as QEMU's own arguments."""
    emulated = accelerator()[0] == "tcg"
    domain = xml.Element("domain", {"type": "qemu" if emulated else "kvm", "xmlns:qemu": _SPACE})
    for name, text in (("name", "sci-gym"), ("vcpu", hardware.cores), ("on_reboot", "destroy")):
        xml.SubElement(domain, name).text = str(text)
    xml.SubElement(domain, "memory", unit="b").text = str(hardware.memory_bytes)
    system = xml.SubElement(domain, "os")
    xml.SubElement(system, "type", arch="x86_64", machine="pc").text = "hvm"
    for name, value in media.boot.items():
        xml.SubElement(system, "cmdline" if name == "append" else name).text = value
    features = xml.SubElement(domain, "features")
    xml.SubElement(features, "acpi")
    xml.SubElement(features, "vmport", state="off")
    if emulated:
        tcg = xml.SubElement(features, "tcg")
        xml.SubElement(tcg, "tb-cache", unit="MiB").text = "256"
    cpu = xml.SubElement(domain, "cpu", mode="maximum" if emulated else "host-passthrough")
    xml.SubElement(cpu, "topology", sockets="1", cores=str(hardware.cores), threads="1")
    for name in WITHOUT if emulated else ():
        xml.SubElement(cpu, "feature", policy="disable", name=name)
    xml.SubElement(domain, "clock", offset="utc")
    parts = xml.SubElement(domain, "devices")
    xml.SubElement(parts, "emulator").text = which(COMMAND)
    xml.SubElement(parts, "controller", type="usb", model="none")
    xml.SubElement(parts, "memballoon", model="none")
    arguments = xml.SubElement(domain, "qemu:commandline")
    for argument in (*devices(hardware, media, "null", "null"), *more):
        xml.SubElement(arguments, "qemu:arg", value=argument)
    return xml.tostring(domain, encoding="unicode")
