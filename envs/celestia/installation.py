"""Where Celestia is, and how to get it."""

from __future__ import annotations

import re
from pathlib import Path

from sci_gym.installation import Installation

_ADVICE = (
    "Celestia is free software (GPL-2.0-or-later): install celestia-qt6 1.7 as "
    "https://celestiaproject.space/download.html tells, or unpack its AppImage by --appimage-extract, and "
    "name the folder that holds bin/celestia-qt6 by SCI_GYM_CELESTIA or gym.make(..., installation=...)."
)
_LIBRARY = re.compile(r"libcelestia-1\.7\.so\.(\d+(?:\.\d+)+)|libcelestia\.so\.(\d+(?:\.\d+)+)")


def _version(root: Path) -> str:
    """As the name of its library tells it."""
    names = [path.name for path in sorted(root.glob("lib*/**/libcelestia*.so.*"))]
    found = [match for match in map(_LIBRARY.fullmatch, names) if match]
    return max((one[1] or one[2] for one in found), key=len, default="")


INSTALLATION = Installation(
    title="Celestia",
    variable="SCI_GYM_CELESTIA",
    executable="bin/celestia-qt6",
    commands=("celestia-qt6", "celestia-qt", "celestia"),
    usual=("/usr", "/usr/local"),
    advice=_ADVICE,
    version=_version,
)
