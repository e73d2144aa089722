"""Several programs on one desktop keep what one program keeps, and a policy can go from one to the other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from sci_gym.app import App
from sci_gym.errors import MissingDependencyError
from sci_gym.loader import load_app
from sci_gym.specs import Action
from sci_gym.testing import AppSuite

ENV_ID = "SciBoard-CrossApp-v0"


@pytest.fixture(scope="module")
def env() -> Iterator[gym.Env[Any, Any]]:
    made = gym.make(ENV_ID, task="copy-expression", resolution=(1280, 800), disable_env_checker=True)
    yield made
    made.close()


class TestApp(AppSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def app(cls) -> App:
        return load_app("crossapp")


def test_a_task_that_needs_what_nobody_brought_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCI_GYM_CHIMERAX", str(tmp_path))
    made = gym.make(ENV_ID, task="residue-share", disable_env_checker=True)
    with contextlib.closing(made), pytest.raises(MissingDependencyError, match="chimerax/download"):
        made.reset(seed=0)


def in_front(env: gym.Env[Any, Any]) -> str:
    (active,) = [window for window in env.unwrapped.last.windows if window.active]  # type: ignore[attr-defined]
    return str(active.program)


def test_the_app_has_the_programs_of_its_members_and_no_code_of_theirs() -> None:
    app = load_app("crossapp")
    assert [part.name for part in app.parts] == ["kalgebra", "texstudio", "grass_gis", "chimerax", "lean"]
    assert [program.name for program in app.programs] == ["kalgebra", "texstudio"]
    assert (dict(app.verbs), dict(app.predicates)) == ({}, {})


def test_alt_tab_brings_the_other_window_to_the_front_at_once(env: gym.Env[Any, Any]) -> None:
    _, info = env.reset(seed=1)
    assert in_front(env) == "kalgebra"
    assert {node.program for node in info["nodes"] if node.box} == {"kalgebra"}
    *_, info = env.step(Action.hotkey("alt", "tab"))
    assert in_front(env) == "texstudio"
    assert {node.program for node in info["nodes"] if node.box} == {"texstudio"}
    env.step(Action.hotkey("alt", "tab"))
    assert in_front(env) == "kalgebra"


def test_the_clipboard_goes_from_one_program_to_the_other(env: gym.Env[Any, Any]) -> None:
    env.reset(seed=1)
    for action in (
        Action.type("12*12"), Action.hotkey("ctrl", "a"), Action.hotkey("ctrl", "c"),
        Action.hotkey("alt", "tab"), Action.hotkey("ctrl", "end"), Action.hotkey("ctrl", "v"),
    ):  # fmt: skip
        env.step(action)
    state = env.unwrapped.app.read_state(env.unwrapped.last)  # type: ignore[attr-defined]
    assert state["texstudio"]["documents"]["paper.tex"]["text"].endswith("12*12")
    assert state["kalgebra"]["input"] == "12*12"


def test_each_program_is_judged_by_its_own_state(env: gym.Env[Any, Any]) -> None:
    """A definition that is shown in the paper is not known to KAlgebra."""
    _, info = env.reset(seed=1)
    state = env.unwrapped.app.read_state(env.unwrapped.last)  # type: ignore[attr-defined]
    assert ":=x->" in state["texstudio"]["documents"]["paper.tex"]["text"]
    assert info["graph"]["function"] == "Evaluating"
