"""Files below the guest's home, opened so that no link on the way leads out of it.

What is there belongs to the policy's code, which can change it at any moment: a folder is opened once and
kept, and a file is judged by its descriptor, never by its name.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Iterator

from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_vm_agent.errors import InvalidArgument, LimitExceeded, NotFound

MAX_FILE_BYTES = 256 * 2**20
CHUNK_BYTES = 2**20
MAX_PROBED_FILES = 32
MAX_PROBED_BYTES = 32 * 2**20
_DEFAULT_PROBED_BYTES = 2**20
_MAX_PATH_CHARS = 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def check_probe(request: pb.ProbeRequest) -> None:
    """Refuse a probe whose reply would be too large.

    Raises:
        InvalidArgument: it asks for too many files or bytes, or for a path that cannot be.
    """
    if len(request.files) > MAX_PROBED_FILES:
        raise InvalidArgument(f"probe.files: {len(request.files)} of them, at most {MAX_PROBED_FILES}")
    if len(request.files) * (request.max_file_bytes or _DEFAULT_PROBED_BYTES) > MAX_PROBED_BYTES:
        raise InvalidArgument(f"probe.max_file_bytes: more than {MAX_PROBED_BYTES} for all files together")
    for path in request.files:
        path_parts(path)


class Upload:
    """A file that is being written; it appears at its path when it is complete."""

    def __init__(self, home: Path, path: str) -> None:
        """Prepare a file at `path` below `home`; its folders are made."""
        self._path, self._parts = path, path_parts(path)
        self._name = f".sci-gym-{secrets.token_hex(8)}"
        self.size = 0
        with _parent(home, self._parts, make=True) as folder:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.open(self._name, flags, 0o644, dir_fd=folder)
            self._folder = os.dup(folder)

    def write(self, data: bytes) -> None:
        """Append a chunk."""
        if len(data) > CHUNK_BYTES:
            raise InvalidArgument(f"data: a chunk of {len(data)} bytes, at most {CHUNK_BYTES}")
        self.size += len(data)
        if self.size > MAX_FILE_BYTES:
            raise LimitExceeded(f"file: {self._path!r} is larger than {MAX_FILE_BYTES} bytes")
        left = memoryview(data)
        with _errors(self._path):
            while left:
                left = left[os.write(self._file, left) :]

    def commit(self) -> None:
        """Put the complete file at its path."""
        with _errors(self._path):
            os.replace(self._name, self._parts[-1], src_dir_fd=self._folder, dst_dir_fd=self._folder)

    def close(self) -> None:
        """Remove what was written, unless it is committed."""
        with suppress(OSError):
            os.unlink(self._name, dir_fd=self._folder)
        os.close(self._file)
        os.close(self._folder)


def read_file(home: Path, path: str, max_bytes: int) -> Iterator[bytes]:
    """Yield a regular file in chunks.

    Raises:
        NotFound: there is no such file, it is no regular file, or a link is on the way.
        LimitExceeded: it is larger than `max_bytes`.
    """
    limit = min(max_bytes or MAX_FILE_BYTES, MAX_FILE_BYTES)
    # Without O_NONBLOCK a pipe that the policy's code made would block the daemon.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    parts = path_parts(path)
    with _parent(home, parts, make=False) as folder:
        file = os.open(parts[-1], flags, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise NotFound(f"path: {path!r} is not a regular file")
        sent = 0
        while data := _read(file, path, min(CHUNK_BYTES, limit - sent + 1)):
            sent += len(data)
            if sent > limit:
                raise LimitExceeded(f"file: {path!r} is larger than {limit} bytes")
            yield data
    finally:
        os.close(file)


def _read(file: int, path: str, size: int) -> bytes:
    with _errors(path):
        return os.read(file, size)


def path_parts(path: str) -> tuple[str, ...]:
    """The components of a path below the guest's home; InvalidArgument when it is none."""
    if len(path) > _MAX_PATH_CHARS:
        raise InvalidArgument(f"path: {len(path)} characters, at most {_MAX_PATH_CHARS}")
    pure = PurePosixPath(path)
    if not path or "\0" in path or pure.is_absolute() or ".." in pure.parts or not pure.parts:
        raise InvalidArgument(f"path: {path!r} must be relative to the guest's home, without '..'")
    return pure.parts


@contextmanager
def _parent(home: Path, parts: tuple[str, ...], make: bool) -> Iterator[int]:
    """Open the folder that holds the last part, one component at a time, following no link."""
    with _errors("/".join(parts)):
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
        finally:
            os.close(folder)


@contextmanager
def _errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise LimitExceeded(f"file: {path!r} does not fit on the guest's disk") from error
        raise NotFound(f"path: {path!r} cannot be opened ({error.strerror})") from error
