"""Where ChimeraX is, and how to get it."""

from __future__ import annotations

import re
from pathlib import Path

from sci_gym.installation import Installation

_ADVICE = (
    "ChimeraX is free for academic and government use, and UCSF asks you to accept its licence: get it at "
    "https://www.rbvi.ucsf.edu/chimerax/download.html, install the .deb or unpack it, and name the folder "
    "that holds bin/ChimeraX by SCI_GYM_CHIMERAX or gym.make(..., installation=...)."
)
_CORE = re.compile(r"chimerax_core-(.+)\.dist-info", re.IGNORECASE)


def _version(root: Path) -> str:
    """As the core package of the installation's own Python tells it."""
    for path in sorted(root.glob("lib/python3.*/site-packages/*.dist-info")):
        if found := _CORE.fullmatch(path.name):
            return found[1]
    return ""


def python_of(root: Path) -> Path:
    """The installation's own Python, from which its launcher differs by nothing but a name and options."""
    found = sorted(root.glob("bin/python3.*"))
    return found[0] if found else root / "bin" / "python3"


INSTALLATION = Installation(
    title="ChimeraX",
    variable="SCI_GYM_CHIMERAX",
    executable="bin/ChimeraX",
    commands=("chimerax", "chimerax-daily", "ChimeraX"),
    usual=(
        "/usr/lib/ucsf-chimerax",
        "/usr/lib/ucsf-chimerax-daily",
        "/usr/libexec/UCSF-ChimeraX",
        "/opt/UCSF/ChimeraX",
    ),
    advice=_ADVICE,
    version=_version,
)
