"""What an image is made of, and the key that it is kept by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

SUITE = "bookworm"
PYTHON = "3.11"
GLIBC = (2, 36)
_SOURCES = (".py", ".c")
KERNEL = "linux-image-cloud-amd64"
DISK = "6G"
# What the daemon starts, what starts it, and fonts, without which every label is a row of boxes.
BASE = (
    "at-spi2-core", "bubblewrap", "busybox-static", "dbus-daemon", "fonts-dejavu-core", "libxcb-shm0",
    "libxcb1", "openbox", "python3", "tini", "util-linux", "xvfb",
)  # fmt: skip
PYTHON_PACKAGES = ("grpcio", "protobuf", "lz4", "python-xlib", "six", "typing-extensions")
GUEST = Path(__file__).with_name("guest")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What an image holds.

    Attributes:
        packages: Debian packages beside `BASE`.
        installers: files of Debian packages that no repository carries, by a name of the caller's.
    """

    packages: tuple[str, ...]
    installers: Mapping[str, Path] = field(default_factory=dict)

    @property
    def all_packages(self) -> tuple[str, ...]:
        """Every package that is asked for, sorted."""
        return tuple(sorted({*BASE, *self.packages}))

    @property
    def key(self) -> str:
        """The same for what would give the same guest: packages, installers, daemon, and how it is made."""
        parts = {
            "suite": SUITE, "kernel": KERNEL, "disk": DISK, "packages": self.all_packages,
            "python": python_packages(), "daemon": daemon_digest(),
            "scripts": [digest(path) for path in sorted(GUEST.iterdir())],
            "installers": {name: digest(path) for name, path in sorted(self.installers.items())},
        }  # fmt: skip
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def python_packages() -> list[str]:
    """What the daemon imports, in the versions that this host has."""
    return [f"{name}=={version(name)}" for name in PYTHON_PACKAGES]


def daemon_files() -> Iterator[tuple[str, Path]]:
    """The daemon's files: where each lies below the guest's folder of the daemon, and here."""
    for package in ("sci_gym_protos", "sci_gym_vm_agent"):
        found = find_spec(package)
        assert found is not None  # they are shipped with this package
        assert found.submodule_search_locations
        folder = Path(found.submodule_search_locations[0])
        for path in sorted(folder.iterdir()):
            if path.suffix in _SOURCES:
                yield f"{package}/{path.name}", path


@cache
def daemon_digest() -> str:
    """The same while the daemon's modules are."""
    total = hashlib.sha256()
    for name, path in daemon_files():
        total.update(f"{name} {digest(path)}\n".encode())
    return total.hexdigest()


def digest(path: Path) -> str:
    """Of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
