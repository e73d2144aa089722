"""The first file system of a guest: busybox, drivers and a script, as a cpio archive."""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from sci_gym.errors import ConfigurationError

_DRIVERS = ("virtio_pci", "virtio_blk", "virtio_net", "virtio-rng", "ext4", "crc32c_generic")
_FOLDERS = ("bin", "dev", "disk", "modules", "proc", "sys")
_FOLDER_MODE, _FILE_MODE = 0o040755, 0o100755
_BLOCK = 4
_DEPENDS = re.compile(rb"\0depends=([^\0]*)\0")


def make_initrd(kernel: Path, busybox: Path, init: Path) -> bytes:
    """Pack an initrd.

    Args:
        kernel: folder into which the kernel's package was unpacked.
        busybox: a static one.
        init: the script to run first.
    """
    (modules,) = (kernel / "lib" / "modules").iterdir()
    drivers = list(_closure(modules))
    order = "".join(f"{_plain(path)}\n" for path in drivers)
    files = {"init": init.read_bytes(), "bin/busybox": busybox.read_bytes(), "modules/order": order.encode()}
    files |= {f"modules/{_plain(path)}": _unpacked(path) for path in drivers}
    return b"".join(_archive(_FOLDERS, files.items()))


def _closure(modules: Path) -> Iterator[Path]:
    """The drivers with all they need, each after what it needs; what is built in is left out."""
    paths = {_name(path.name): path for path in modules.rglob("*.ko*")}
    builtin = {_name(line) for line in (modules / "modules.builtin").read_text().split()}
    done = set(builtin)

    def visit(name: str) -> Iterator[Path]:
        if name in done:
            return
        if name not in paths:
            raise ConfigurationError(f"image: the kernel has no driver {name}")
        done.add(name)
        for other in _needs(paths[name]):
            yield from visit(_name(other))
        yield paths[name]

    for driver in _DRIVERS:
        yield from visit(_name(driver))


def _needs(driver: Path) -> list[str]:
    """What a driver says that it depends on."""
    found = _DEPENDS.search(_unpacked(driver))
    return [name for name in found[1].decode().split(",") if name] if found else []


def _archive(folders: Iterable[str], files: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """A cpio archive in the "newc" format."""
    for name in folders:
        yield _entry(name, _FOLDER_MODE, b"")
    for name, data in files:
        yield _entry(name, _FILE_MODE, data)
    yield _entry("TRAILER!!!", 0, b"")


def _entry(name: str, mode: int, data: bytes) -> bytes:
    fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08x" % value for value in fields) + name.encode() + b"\0"
    return _padded(head) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % _BLOCK)


def _name(path: str) -> str:
    return Path(path).name.partition(".ko")[0].replace("-", "_")


def _plain(path: Path) -> str:
    return path.name.removesuffix(".xz")


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data
