"""Apps made of other apps, and what is on screen where windows cover each other."""

from __future__ import annotations

import numpy as np

from sci_gym.loader import load_app
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
        late = [part.name for part in app.late_parts(task)]
        assert late == (["grass_gis"] if "grass_gis" in task.apps else [])
