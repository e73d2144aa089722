"""Where images are kept: a folder each, named by its key, below `~/.cache/sci_gym/images`.

A folder that is there is whole: it is made beside its place and renamed into it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sci_gym.errors import MissingDependencyError, UnknownNameError
from sci_gym.images.recipe import daemon_digest

MANIFEST = "image.json"


@dataclass(frozen=True, slots=True)
class Image:
    """One guest.

    Attributes:
        key: of its recipe.
        folder: holds disk.qcow2, vmlinuz and initrd unless the disk boots by itself, the manifest, and
            templates of machines that ran it.
        packages: the Debian packages that were asked for.
        installers: names of further packages.
        daemon: digest of its daemon's modules.
        made_s: when, in seconds since 1970.
        build_s: how long the build took.
        append: further arguments of its kernel.
    """

    key: str
    folder: Path
    packages: tuple[str, ...]
    installers: tuple[str, ...]
    daemon: str
    made_s: float
    build_s: float
    append: str = ""

    @property
    def disk(self) -> Path:
        """Its disk, qcow2, never written to."""
        return self.folder / "disk.qcow2"

    @property
    def kernel(self) -> Path | None:
        """To boot; None where the disk boots by itself."""
        return self._optional("vmlinuz")

    @property
    def initrd(self) -> Path | None:
        """The kernel's first file system."""
        return self._optional("initrd")

    @property
    def size_bytes(self) -> int:
        """What it takes on this host's disk, templates included."""
        return sum(path.lstat().st_blocks * 512 for path in self.folder.rglob("*"))

    @property
    def current(self) -> bool:
        """Whether its daemon is the one of this sci_gym."""
        return self.daemon == daemon_digest()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "size_bytes": self.size_bytes, "current": self.current}

    def _optional(self, name: str) -> Path | None:
        path = self.folder / name
        return path if path.exists() else None

    def remove(self) -> None:
        """Delete it with its templates; machines that run on it keep their open files."""
        doomed = self.folder.with_name(f".removed-{self.key}-{os.getpid()}")
        self.folder.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def cache_folder() -> Path:
    """Where images are kept; made when it is not there."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = root / "sci_gym" / "images"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def images() -> list[Image]:
    """All images, the newest first."""
    found = [_load(path) for path in cache_folder().glob(f"[0-9a-f]*/{MANIFEST}")]
    return sorted((one for one in found if one is not None), key=lambda one: -one.made_s)


def image_named(key: str) -> Image:
    """The image whose key starts with `key`.

    Raises:
        UnknownNameError: there is none, or more than one.
    """
    known = images()
    matches = [one for one in known if key and one.key.startswith(key)]
    if len(matches) != 1:
        raise UnknownNameError("image", key, [one.key for one in known])
    return matches[0]


def find_image(packages: Collection[str]) -> Image:
    """The newest image with this sci_gym's daemon that has all of `packages`.

    Raises:
        MissingDependencyError: there is none; the message says how to build one.
    """
    for one in images():
        if one.current and set(packages) <= set(one.packages):
            return one
    wanted = ", ".join(sorted(packages)) or "this version's daemon"
    raise MissingDependencyError(
        f"no image of a virtual machine holds {wanted}; build one with: sci-gym image build"
    )


def save_manifest(image: Image, folder: Path) -> None:
    """Write what describes `image` into the folder that will become its own."""
    described = {key: value for key, value in asdict(image).items() if key != "folder"}
    (folder / MANIFEST).write_text(json.dumps(described, indent=2))


def _load(path: Path) -> Image | None:
    try:
        told = json.loads(path.read_text())
        return Image(
            **{**told, "packages": tuple(told["packages"]), "installers": tuple(told["installers"])},
            folder=path.parent,
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None  # of another version, or on its way out
