"""Images that others made: any disk on which the keeper starts, and the archive that has it do so."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from sci_gym.claims import draft, locked
from sci_gym.errors import ConfigurationError
from sci_gym.images import recipe as recipes
from sci_gym.images.builder import LONGEST_S, collect_daemon, owned_by_root, pack_disk
from sci_gym.images.store import Image, cache_folder, images, save_manifest

_SERVICE = "etc/systemd/system/sci-gym.service"
_WANTED = "etc/systemd/system/multi-user.target.wants/sci-gym.service"

_Boot = Mapping[str, Path | None]


def write_daemon(path: Path, python: str = recipes.PYTHON) -> None:
    """Write an archive for a guest's root: the daemon, what it imports, and a service of systemd.

    Args:
        path: of the tar file.
        python: the guest's version of Python, as "3.11".

    Raises:
        LaunchError: pip failed; the message ends with what it said.
    """
    with draft(Path(tempfile.gettempdir()), "sci-gym-daemon-") as work, tarfile.open(path, "w") as archive:
        collect_daemon(work, archive, "opt/", python)
        archive.add(recipes.GUEST / "sci-gym.service", _SERVICE, filter=owned_by_root)
        link = tarfile.TarInfo(_WANTED)
        link.type, link.linkname = tarfile.SYMTYPE, "../sci-gym.service"
        archive.addfile(link)


def add_image(
    disk: Path, packages: Sequence[str], kernel: Path | None, initrd: Path | None, append: str
) -> Image:
    """Copy a disk, on which the daemon's archive was unpacked, to where images are kept.

    Args:
        disk: anything that qemu-img reads; the guest's first disk.
        packages: the Debian packages that apps need and it holds.
        kernel: to boot; without one the disk boots by itself.
        initrd: the kernel's first file system.
        append: arguments of the kernel, such as root=/dev/vda.

    Raises:
        ConfigurationError: a file is not there, or there is an initrd without a kernel.
        LaunchError: qemu-img cannot read the disk.
    """
    for name, path in (("disk", disk), ("kernel", kernel), ("initrd", initrd)):
        if path is not None and not path.is_file():
            raise ConfigurationError(f"{name}: there is no file {path}")
    if (initrd or append) and kernel is None:
        raise ConfigurationError("kernel: must be given with an initrd or with arguments of it")
    boot = {"vmlinuz": kernel, "initrd": initrd}
    key = _key(disk, boot, packages, append)
    with locked(cache_folder() / f"{key}.lock", LONGEST_S):
        known = next((one for one in images() if one.key == key), None)
        return known or _add(key, disk, boot, packages, append)


def _add(key: str, disk: Path, boot: _Boot, packages: Sequence[str], append: str) -> Image:
    start_s = time.monotonic()
    with draft(cache_folder(), ".draft-") as kept:
        image = kept / key
        image.mkdir()
        pack_disk(disk, image, kept)
        for name, path in boot.items():
            if path is not None:
                shutil.copy(path, image / name)
        made = Image(
            key, cache_folder() / key, tuple(sorted(packages)), (), recipes.daemon_digest(),
            time.time(), time.monotonic() - start_s, append,
        )  # fmt: skip
        save_manifest(made, image)
        image.rename(made.folder)
    return made


def _key(disk: Path, boot: _Boot, packages: Sequence[str], append: str) -> str:
    digests = [recipes.digest(path) if path else "" for path in (disk, *boot.values())]
    return hashlib.sha256("\n".join([*sorted(packages), append, *digests]).encode()).hexdigest()[:16]
