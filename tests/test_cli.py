"""The command line on the real program: JSON for machines, exit statuses, and that verify can say no."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from sci_gym.loader import load_app
from sci_gym.tasks import load_template, load_templates
from sci_gym.verify import verify

SCI_GYM = Path(sys.executable).with_name("sci-gym")
GOOD = Path(load_app("kalgebra").folder / "tasks" / "product-odd.toml")


def run(*arguments: str, timeout: float = 120) -> tuple[int, Any]:
    command = [str(SCI_GYM), *arguments, "--json"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    return result.returncode, json.loads(result.stdout)


def test_doctor_finds_what_is_there_and_starts_a_desktop() -> None:
    status, report = run("doctor")
    assert (status, report["healthy"], report["install"]) == (0, True, "")
    found = {(one["subject"], one["what"]): one for one in report["findings"]}
    assert found["sandbox", "trial start"]["ok"]
    stats = found["sandbox", "trial episode"]["stats"]
    assert (stats["counters"]["resets"], stats["counters"]["steps"]) == (1, 3)
    assert stats["phases_ms"]["step"]["n"] == 3
    assert any(subject == "libvirt" for subject, _ in found)
    assert found["kalgebra", "/usr/bin/kalgebra"]["detail"] == "/usr/bin/kalgebra"


def test_tasks_are_listed_and_shown() -> None:
    _, listing = run("tasks", "list")
    assert len(listing["tasks"]) >= 15
    assert {task["difficulty"] for task in listing["tasks"]} == {"easy", "medium", "hard"}
    _, shown = run("tasks", "show", "product-odd", "--seed", "4")
    assert "{" not in shown["instruction"]
    assert [node["id"] for node in shown["graph"]] == ["stored"]


def test_the_demo_solves_its_task_and_writes_its_page(tmp_path: Path) -> None:
    status, result = run("demo", "--folder", str(tmp_path))
    assert (status, result["success"], result["coverage_rate"]) == (0, True, 1.0)
    assert sum(result["rewards"]) == pytest.approx(1)
    page = Path(result["page"]).read_text()
    assert page.count("data:image/") >= 5
    assert result["instruction"].split("`")[0] in page


def test_verify_holds_a_good_task() -> None:
    status, result = run("verify", "--app", "kalgebra", "--task", "product-odd", "--seeds", "1")
    assert (status, result["misses"]) == (0, 0)
    (report,) = result["reports"]
    assert report["steps"] == 2


@pytest.mark.parametrize(
    ("change", "misses"),
    [
        (('equals = "product(2*k-1+{d}:k=1..{n})"', 'equals = "{n}"'), ["'gui' scores 0", "CR 0.00"]),
        (('name = "{name}", equals = "product(2*k-1+{d}:k=1..{n})"', 'name = "true", equals = "1"'),
         ["untouched state has CR 1.00", "DONE at once scores 1", "scores 1"]),
    ],
)  # fmt: skip
def test_verify_finds_what_is_wrong_with_a_task(
    tmp_path: Path, change: tuple[str, str], misses: list[str]
) -> None:
    app = load_app("kalgebra")
    text = GOOD.read_text()
    assert change[0] in text
    path = tmp_path / "broken.toml"
    path.write_text(text.replace(*change))
    templates = {**load_templates(app), "broken": load_template(path, app)}

    def make(task: str) -> gym.Env[Any, Any]:
        return gym.make(app.env_id, task=path, resolution=(1280, 800), disable_env_checker=True)

    (report,) = verify(make, templates, ["broken"], [0])
    for miss in misses:
        assert any(miss in found for found in report.misses), report.misses


def test_a_repetition_tells_a_flake_from_a_broken_task() -> None:
    app = load_app("kalgebra")
    tries = []

    def make(task: str) -> gym.Env[Any, Any]:
        tries.append(task)
        if len(tries) == 1:
            raise RuntimeError("a bad moment")
        return gym.make(app.env_id, task=task, resolution=(1280, 800), disable_env_checker=True)

    (report,) = verify(make, load_templates(app), ["product-odd"], [0], retries=1)
    assert not report.misses
    assert report.flaky == ["RuntimeError: a bad moment"]
