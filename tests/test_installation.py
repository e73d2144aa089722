"""Programs that a user brings: how they are found, told, and shown to the guest."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any, ClassVar

import pytest
from typer.testing import CliRunner

from sci_gym.app import ProgramSpec
from sci_gym.cli import app as cli
from sci_gym.client import VMAgentClient
from sci_gym.doctor import examine, missing_packages
from sci_gym.errors import ConfigurationError, MissingDependencyError
from sci_gym.installation import BroughtApp, Installation, shown_folders
from sci_gym.loader import load_app, make
from sci_gym.machines import MachineSpec, SandboxMachine
from sci_gym.specs import Observation

TOY = Installation(
    title="Toy",
    variable="SCI_GYM_TOY",
    executable="bin/toy",
    commands=("toy-of-nobody", "toy"),
    usual=("/nonexistent/toy",),
    advice="Get Toy at its maker's, who asks you to accept a licence.",
    version=lambda root: (root / "version").read_text(),
)


class ToyApp(BroughtApp):
    """An app that is never started."""

    name: ClassVar[str] = "toy"
    title: ClassVar[str] = "Toy"
    installation: ClassVar[Installation] = TOY

    @classmethod
    def started(cls, root: Path) -> tuple[ProgramSpec, ...]:
        return (ProgramSpec("toy", (str(root / "bin" / "toy"),)),)

    def ready(self, observation: Observation) -> bool:
        return False

    def read_state(self, observation: Observation) -> dict[str, Any]:
        return {}


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """An installation."""
    executable = tmp_path / "toy-1.2" / "bin" / "toy"
    executable.parent.mkdir(parents=True)
    executable.write_text("#!/bin/sh\necho the toy runs\n")
    executable.chmod(0o755)
    (tmp_path / "toy-1.2" / "version").write_text("1.2")
    return tmp_path / "toy-1.2"


def test_it_is_named_by_option_or_variable_or_found_on_path(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SCI_GYM_TOY", raising=False)
    assert TOY.find() == Path("/nonexistent/toy")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "toy").symlink_to(toy / "bin" / "toy")
    monkeypatch.setenv("PATH", str(tmp_path / "links"))
    assert TOY.find() == toy
    monkeypatch.setenv("SCI_GYM_TOY", str(tmp_path / "other"))
    assert TOY.find() == tmp_path / "other"
    assert TOY.find(toy) == TOY.find(str(toy / "bin" / "toy")) == toy
    app = ToyApp.at(toy)
    assert app.version == "1.2"
    assert app.programs[0].argv == (str(toy / "bin" / "toy"),)


def test_what_is_missing_is_told_with_what_to_do(toy: Path) -> None:
    machine = SandboxMachine(MachineSpec())
    machine.require(ToyApp.at(toy).requirements)
    with pytest.raises(MissingDependencyError, match=r"needs /wrong/bin/toy .*accept a licence") as told:
        machine.require(ToyApp.at("/wrong").requirements)
    assert "apt-get" not in str(told.value)


def test_a_home_is_not_shown(monkeypatch: pytest.MonkeyPatch, toy: Path) -> None:
    monkeypatch.setenv("HOME", str(toy / "lib"))
    with pytest.raises(ConfigurationError, match="would see all of"):
        shown_folders(ToyApp.at(toy).requirements)
    assert not shown_folders(ToyApp.at("/usr").requirements)


def test_only_an_app_whose_program_is_brought_takes_an_installation() -> None:
    with pytest.raises(ConfigurationError, match="leave it out"):
        load_app("kalgebra", "/opt/kalgebra")
    with pytest.raises(ConfigurationError, match="leave it out"):
        make(app="kalgebra", installation="/opt/kalgebra")


def test_programs_see_it_and_cannot_change_it(toy: Path) -> None:
    machine = SandboxMachine(MachineSpec(width=640, height=480))
    machine.require(ToyApp.at(toy).requirements)
    with contextlib.closing(VMAgentClient(machine.start())) as client, contextlib.ExitStack() as stack:
        stack.callback(machine.stop)
        ran = client.execute([str(toy / "bin" / "toy")])
        wrote = client.execute(["/bin/sh", "-c", f"echo x > {toy}/bin/toy"])
        others = client.execute(["/bin/ls", str(toy.parent)])
    assert ran.stdout == "the toy runs\n"
    assert wrote.exit_code != 0
    assert others.stdout == f"{toy.name}\n"


def test_verify_leaves_out_what_nobody_brought(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SCI_GYM_CHIMERAX", str(tmp_path))
    result = CliRunner().invoke(cli, ["verify", "--app", "chimerax", "--json"])
    assert json.loads(result.stdout) == {"misses": 0, "left_out": ["ChimeraX"], "reports": []}
    assert "chimerax/download" in result.stderr
    assert result.exit_code == 1  # nothing that was asked for was checked


def test_doctor_tells_what_to_bring(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SCI_GYM_CHIMERAX", str(tmp_path))
    (finding,) = [one for one in examine(trial=False) if one.what.endswith("bin/ChimeraX")]
    assert (finding.ok, finding.needed) == (False, False)
    assert "licence" in finding.fix
    assert "chimerax" not in " ".join(missing_packages())
