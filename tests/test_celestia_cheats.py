"""Ways to pass a check of Celestia's without the work, and ways around an interface, on the real program."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

from sci_gym.specs import Action
from tests.brought import click, state_of
from tests.forging import forge

pytestmark = [pytest.mark.needs_installation("celestia"), pytest.mark.timeout(900)]

TASK = "celestia", "select-moon"
MARS = '{"what":"selection","is":{"path":"Sol/Mars","type":"planet","name":"Mars"}}'
SETUP = """
[[setup]]
verb = "paused"
yes = false

[[setup]]
verb = "file"
path = "evil.cel"
text = "{{ timerate {{ rate 500 }} }}"

[[setup]]
verb = "file"
path = "evil.celx"
text = "celestia:settimescale(500)"
"""


def scale_after(env: gym.Env[Any, Any], script: str) -> float:
    """How fast time flows after a script of the home was opened, and whatever is said of it was closed."""
    click(env, "menu item", "File")
    click(env, "menu item", "Open Script...")
    env.step(Action.wait())
    env.step(Action.type(f"/home/user/{script}\n"))
    for _ in range(3):
        env.step(Action.wait())
    scale = float(state_of(env)["time"]["scale"])
    env.step(Action.press("esc"))
    return scale


def test_a_policys_code_cannot_report(hybrid: gym.Env[Any, Any]) -> None:
    hybrid.step(Action.code(forge(MARS), "python"))
    hybrid.step(Action.wait())
    assert state_of(hybrid)["selection"]["path"] == "Sol/Earth"


def test_a_script_in_lua_is_refused(hybrid: gym.Env[Any, Any]) -> None:
    assert scale_after(hybrid, "evil.celx") == 1


def test_a_script_of_celestias_own_commands_runs(hybrid: gym.Env[Any, Any]) -> None:
    assert scale_after(hybrid, "evil.cel") == 500


def test_in_gui_scripts_are_refused(gui: gym.Env[Any, Any]) -> None:
    assert scale_after(gui, "evil.celx") == 1
    assert scale_after(gui, "evil.cel") == 1


def test_in_gui_no_script_is_offered_by_itself(gui: gym.Env[Any, Any]) -> None:
    """The demo, and the key that starts it, are gone."""
    click(gui, "menu item", "File")
    world: Any = gui.unwrapped
    assert "Run Demo" not in [node.name for node in world.last.showing if node.role == "menu item"]
    gui.step(Action.press("esc"))
    gui.step(Action.type("d"))
    gui.step(Action.wait())
    assert state_of(gui)["selection"]["path"] == "Sol/Earth"
