"""What a browser makes of a page."""

from __future__ import annotations

import subprocess
from pathlib import Path

_TIMEOUT_S = 240.0
_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


def dump_dom(url: str, folder: Path) -> str:
    """The page after its scripts have run; the browser's profile is in `folder`."""
    command = ["chromium", *_FLAGS, f"--user-data-dir={folder / 'profile'}", "--dump-dom", url]
    return subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True).stdout
