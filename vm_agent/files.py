"""Files below the guest's home, opened so that no link on the way leads out of it."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Iterator

from sci_gym_vm_agent.errors import InvalidArgument, LimitExceeded, NotFound

MAX_FILE_BYTES = 256 * 2**20
CHUNK_BYTES = 2**20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def _parts(path: str) -> tuple[str, ...]:
    pure = PurePosixPath(path)
    if not path or "\0" in path or pure.is_absolute() or ".." in pure.parts or not pure.parts:
        raise InvalidArgument(f"path: {path!r} must be relative to the guest's home, without '..'")
    return pure.parts


@contextmanager
def _parent(home: Path, parts: tuple[str, ...], make: bool) -> Iterator[int]:
    """Open the folder that holds the last part, one component at a time, following no link."""
    folder = os.open(home, _FOLDER)
    try:
        for part in parts[:-1]:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=folder)
            below = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        yield folder
    except OSError as error:
        raise NotFound(f"path: {'/'.join(parts)!r} cannot be opened ({error.strerror})") from error
    finally:
        os.close(folder)


class Upload:
    """A file that is being written; it appears at its path when it is complete."""

    def __init__(self, home: Path, path: str) -> None:
        """Prepare a file at `path` below `home`; its folders are made."""
        self._home, self._parts = home, _parts(path)
        self._name = f".sci-gym-{secrets.token_hex(8)}"
        with _parent(home, self._parts, make=True) as folder:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file: BinaryIO = os.fdopen(os.open(self._name, flags, 0o644, dir_fd=folder), "wb")
        self.size = 0

    def write(self, data: bytes) -> None:
        """Append a chunk."""
        self.size += len(data)
        if self.size > MAX_FILE_BYTES:
            raise LimitExceeded(f"file: more than {MAX_FILE_BYTES} bytes")
        self._file.write(data)

    def commit(self) -> None:
        """Put the complete file at its path."""
        self._file.close()
        with _parent(self._home, self._parts, make=False) as folder:
            os.replace(self._name, self._parts[-1], src_dir_fd=folder, dst_dir_fd=folder)

    def discard(self) -> None:
        """Remove what was written, unless it is committed."""
        self._file.close()
        # Nothing is there when it was committed.
        with suppress(NotFound), _parent(self._home, self._parts, make=False) as folder:
            os.unlink(self._name, dir_fd=folder)


def read_file(home: Path, path: str, max_bytes: int) -> Iterator[bytes]:
    """Yield a regular file in chunks.

    Raises:
        NotFound: there is no such file, it is no regular file, or a link is on the way.
        LimitExceeded: it is larger than `max_bytes`.
    """
    parts = _parts(path)
    limit = min(max_bytes or MAX_FILE_BYTES, MAX_FILE_BYTES)
    with _parent(home, parts, make=False) as folder:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(parts[-1], flags, dir_fd=folder), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise NotFound(f"path: {path!r} is not a regular file")
            sent = 0
            while data := file.read(min(CHUNK_BYTES, limit - sent + 1)):
                sent += len(data)
                if sent > limit:
                    raise LimitExceeded(f"file: {path!r} is larger than {limit} bytes")
                yield data
