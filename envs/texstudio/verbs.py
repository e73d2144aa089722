"""Set-up verbs: files of the home, and documents opened as a user would, until the state shows the result."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping

from sci_gym.app import Desktop
from sci_gym.envs.texstudio.state import HOME, observed
from sci_gym.specs import Action, Observation

_OPEN_DIALOG = "Open Files"


def file(desktop: Desktop, *, path: str, text: str) -> None:
    """Write a text file below the guest's home, such as `refs.bib`."""
    desktop.put_file(path, text.encode())


def graphic(desktop: Desktop, *, path: str, width: int = 120, height: int = 80) -> None:
    """Write a PNG below the guest's home: steps that rise from left to right, of that size in pixels."""
    rows = [
        b"\0"
        + bytes(
            0 if height - row <= height * (column // 10 + 1) * 10 // width else 255 for column in range(width)
        )
        for row in range(height)
    ]
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(rows))), (b"IEND", b""))
    desktop.put_file(path, b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*each) for each in chunks))


def document(desktop: Desktop, *, path: str, text: str) -> None:
    """Write a document below the guest's home, and open it in a tab of its own, in front."""
    desktop.put_file(path, text.encode())
    open_document(desktop, path)


def open_document(desktop: Desktop, path: str) -> None:
    """Open a file of the home in a tab of its own, in front."""
    seen = desktop.act(Action.hotkey("ctrl", "o"))
    _until(desktop, seen, "its dialog for files is open", _asks_for_file)
    seen = desktop.act(Action.type(f"{HOME / path}\n"))
    _until(desktop, seen, f"{path} is open", lambda shown: _has_open(shown, path))


VERBS: Mapping[str, Callable[..., None]] = {verb.__name__: verb for verb in (file, graphic, document)}
"""By name, as task files call them after `texstudio.`."""


def _until(desktop: Desktop, seen: Observation, what: str, holds: Callable[[Observation], bool]) -> None:
    """Return once a condition holds, at once if it does of the observation already made."""
    if not holds(seen):
        desktop.wait_for(f"TeXstudio: {what}", holds)


def _asks_for_file(seen: Observation) -> bool:
    return any(window.title == _OPEN_DIALOG for window in seen.windows)


def _has_open(seen: Observation, path: str) -> bool:
    return path in observed(seen)["documents"] and not _asks_for_file(seen)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
