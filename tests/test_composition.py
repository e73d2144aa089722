"""Apps made of other apps, and what is on screen where windows cover each other."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from sci_gym.cli import app as cli
from sci_gym.loader import lacking, load_app, select_tasks
from sci_gym.specs import A11yNode, A11yTree, Box, State, Window
from sci_gym.tasks import load_templates

SHOWS = 1 << State.SHOWING | 1 << State.VISIBLE
LEFT, RIGHT, WHOLE = Box(0, 0, 50, 100), Box(50, 0, 50, 100), Box(0, 0, 100, 100)


def tree() -> A11yTree:
    places = {"a": Box(10, 10, 10, 10), "b": Box(70, 10, 10, 10)}
    nodes = []
    for program, box in places.items():
        root = len(nodes)
        nodes.append(A11yNode(root, -1, "application", program, states=SHOWS, program=program))
        nodes.append(A11yNode(root + 1, root, "push button", program, states=SHOWS, box=box, program=program))
    return A11yTree(tuple(nodes))


def on_screen(*windows: tuple[str, Box]) -> list[str]:
    stacked = tuple(Window(n, name, box, False, name) for n, (name, box) in enumerate(windows))
    return [node.name for node in tree().uncovered(stacked) if node.role == "push button"]


def test_what_another_programs_window_covers_is_not_on_screen() -> None:
    assert on_screen(("a", WHOLE), ("b", WHOLE)) == ["b"]
    assert on_screen(("b", WHOLE), ("a", WHOLE)) == ["a"]
    assert on_screen(("b", WHOLE), ("a", LEFT)) == ["a", "b"]
    assert on_screen(("a", LEFT), ("b", RIGHT)) == ["a", "b"]
    assert on_screen(("a", WHOLE)) == [
        "a",
        "b",
    ]  # one program covers nothing of its own, nor what has no window


def test_tasks_across_programs_branch_and_join() -> None:
    app = load_app("crossapp")
    templates = load_templates(app)
    assert len(templates) >= 8
    for template in templates.values():
        nodes = template.instantiate(np.random.default_rng(0)).graph.nodes
        assert any(len(node.after) > 1 for node in nodes), f"{template.id} joins nothing"
        assert len({node.application for node in nodes}) > 1, f"{template.id} stays in one program"
        assert {node.application for node in nodes} <= {part.name for part in app.parts}


def test_programs_on_demand_are_those_of_tasks_that_speak_of_them() -> None:
    app = load_app("crossapp")
    for template in load_templates(app).values():
        task = template.instantiate(np.random.default_rng(0))
        late = {part.name for part in app.late_parts(task)}
        assert late == set(app.on_demand) & task.apps


def test_what_nobody_brought_is_left_out_and_the_rest_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCI_GYM_CHIMERAX", str(tmp_path))
    app = load_app("crossapp")
    assert not app.to_bring
    assert not any("ChimeraX" in one.command for one in app.requirements)
    templates = load_templates(app)
    absent = {name for name, one in templates.items() if "chimerax/download" in lacking(app, one)}
    assert absent == {"distance-in-paper", "figure-from-paper", "model-without-water", "residue-share"}
    draw = select_tasks(app, None)
    drawn = {draw(np.random.default_rng(seed)).id for seed in range(200)}
    assert "grid-report" in drawn
    assert not drawn & absent
    result = CliRunner().invoke(cli, ["verify", "--app", "crossapp", "--task", "residue-share", "--json"])
    assert json.loads(result.stdout) == {"misses": 0, "left_out": ["residue-share"], "reports": []}
    assert "chimerax/download" in result.stderr


def test_what_somebody_brought_is_shown_to_the_desktop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable = tmp_path / "bin" / "ChimeraX"
    executable.parent.mkdir()
    executable.touch(0o755)
    monkeypatch.setenv("SCI_GYM_CHIMERAX", str(tmp_path))
    app = load_app("crossapp")
    assert str(tmp_path) in [one.shown for one in app.requirements]
    assert not any("chimerax" in lacking(app, one) for one in load_templates(app).values())
