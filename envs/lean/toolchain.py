"""Where Lean is: a toolchain of elan's, one that is named, or Lean's library with the small core."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

from sci_gym.envs.lean.small_core import CORE_NOTE, small_core_root
from sci_gym.installation import Installation

ELAN = Path("~/.elan").expanduser()
_VERSION_S = 20.0


class Toolchain(Installation):
    """An installation of Lean; elan's own folder stands for its default toolchain."""

    def find(self, given: str | Path | None = None) -> Path:
        """The toolchain's root: elan's own `lean` only chooses one, as its settings in the home say."""
        root = super().find(given)
        return _default_toolchain(root) if (root / "toolchains").is_dir() else root

    def holds(self, root: Path) -> bool:
        """Whether a folder is a toolchain, or elan's with one in it; where Debian puts elan is neither."""
        whole = super().holds(root) and (root / "lib" / "lean").is_dir()
        return whole or any((root / "toolchains").glob("*/bin/lean"))


def _default_toolchain(elan: Path) -> Path:
    """What is elan's default toolchain, else its last by name; its own root where it has none."""
    folders = sorted(path for path in (elan / "toolchains").iterdir() if (path / "bin" / "lean").is_file())
    try:
        name = str(tomllib.loads((elan / "settings.toml").read_text())["default_toolchain"])
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        name = ""
    wanted = elan / "toolchains" / name.replace("/", "--").replace(":", "---")
    return (wanted if wanted in folders else [elan, *folders][-1]).resolve()


def version(root: Path) -> str:
    """What its `lean` tells of itself, and whether its core is the small one."""
    try:
        asked = subprocess.run(
            [root / "bin" / "lean", "--short-version"],
            capture_output=True, text=True, timeout=_VERSION_S, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.strip() + (", with the small core" if (root / CORE_NOTE).is_file() else "")


LEAN = Toolchain(
    title="Lean",
    variable="SCI_GYM_LEAN",
    executable="bin/lean",
    commands=("lean",),
    usual=(str(ELAN), str(small_core_root())),
    advice=(
        "Install Lean 4 with elan, as lean-lang.org tells (Apache 2.0), or name a toolchain's folder by "
        "SCI_GYM_LEAN or installation=. To try the environment without one, with Lean's library and a small "
        "core: pip install 'sci-gym[lean]' && python -m sci_gym.envs.lean.small_core"
    ),
    version=version,
)
