"""What a recording was made with."""

from __future__ import annotations

import functools
import importlib.metadata
import platform
import subprocess

from sci_gym.app import App
from sci_gym_protos import PROTOCOL_VERSION

_QUERY_S = 10.0
_PACKAGES = ("sci-gym", "gymnasium", "numpy")


def versions_of(app: App) -> dict[str, str]:
    """Python, our package, what it rests on, and this host's Debian packages of the app's programs.

    The programs of a virtual or remote machine are those of its image, and not among them.
    """
    own = {name: _version(name) for name in _PACKAGES}
    debian = _debian_versions(tuple(sorted({one.package for one in app.requirements})))
    return {"python": platform.python_version(), "protocol": str(PROTOCOL_VERSION), **own, **debian}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


@functools.cache
def _debian_versions(packages: tuple[str, ...]) -> dict[str, str]:
    """Versions of the packages that are installed; none where there is no dpkg."""
    command = ["dpkg-query", "--show", "--showformat=${Package} ${Version}\\n", *packages]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=_QUERY_S, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return {}
    pairs = (line.split(" ", 1) for line in told.splitlines())
    return {f"debian:{pair[0]}": pair[1] for pair in pairs if len(pair) == 2 and pair[1]}
