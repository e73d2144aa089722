"""Trees that are laid out as ChimeraX's own packages are: what is found there, and what would be started."""

from __future__ import annotations

from pathlib import Path

import pytest

from sci_gym.envs.chimerax.installation import INSTALLATION
from sci_gym.loader import load_app

PACKAGES = {"chimerax": "ucsf-chimerax", "chimerax-daily": "ucsf-chimerax-daily"}


def lay_out(folder: Path, command: str) -> Path:
    """What ChimeraX's `mkubuntu.py` puts into the .deb, as far as it is looked at; its root."""
    root = folder / "usr" / "lib" / PACKAGES[command]
    for name in ("ChimeraX", "python3.11"):
        program = root / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.touch(0o755)
    (root / "lib" / "python3.11" / "site-packages" / "ChimeraX_Core-1.10.1.dist-info").mkdir(parents=True)
    link = folder / "usr" / "bin" / command
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(f"../../usr/lib/{PACKAGES[command]}/bin/ChimeraX")
    return root


@pytest.mark.parametrize("command", PACKAGES)
def test_the_command_of_a_package_leads_to_its_installation(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = lay_out(tmp_path, command)
    monkeypatch.delenv("SCI_GYM_CHIMERAX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "usr" / "bin"))
    app = load_app("chimerax")
    assert (app.root, app.version, app.to_bring) == (root, "1.10.1", "")
    assert app.programs[0].argv[0] == str(root / "bin" / "python3.11")


@pytest.mark.parametrize("named", ["bin/chimerax", "lib/ucsf-chimerax/bin/ChimeraX", "lib/ucsf-chimerax"])
def test_it_can_be_named_by_command_executable_and_root(named: str, tmp_path: Path) -> None:
    root = lay_out(tmp_path, "chimerax")
    assert INSTALLATION.find(tmp_path / "usr" / named) == root


def test_it_is_found_where_its_packages_put_it() -> None:
    assert {f"/usr/lib/{package}" for package in PACKAGES.values()} <= set(INSTALLATION.usual)
