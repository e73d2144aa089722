"""ScienceBoard's tasks on the real KAlgebra: our own file, and the published ones where they are."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

from sci_gym.oracle import play
from sci_gym.specs import Action, Kind, OracleStep
from tests.scienceboard import Played, play_all
from tests.test_scienceboard import OWN, PUBLISHED, published

SAMPLE = ("A-01", "B-03", "B-06", "C-09", "D-03")
"""Of each kind one: a value, a number of plots, a style, a script with a polar plot, an answer."""


@pytest.fixture
def own() -> Any:
    made = gym.make("SciBoard-KAlgebra-v0", task=f"scienceboard:{OWN / 'KAlgebra' / 'X-01.json'}",
                    reward="sparse", resolution=(1280, 800), disable_env_checker=True)  # fmt: skip
    yield made
    made.close()


@pytest.mark.program
def test_our_own_file_is_set_up_played_and_judged(own: gym.Env[Any, Any]) -> None:
    _, info = own.reset(seed=1)
    assert not info["success"]
    stage = own.unwrapped.coordinator  # type: ignore[attr-defined]
    assert stage.client.get_file("copied.kal") == b"a := 4\nb := 5\n"
    state = own.unwrapped.app.read_state(own.unwrapped.last)  # type: ignore[attr-defined]
    assert state["tab"] == "Calculator"
    (plot,) = state["plots_2d"]
    assert (plot["plot"], len(plot["color"])) == ("x^2-3", 7)
    steps = (
        OracleStep(Action.hotkey("ctrl", "l")),
        OracleStep(Action.type("copied.kal\n")),
        OracleStep(Action.done()),
    )
    *_, (action, reward, terminated, _, info) = play(own, steps)
    assert (action.kind, reward, terminated, info["success"]) == (Kind.DONE, 1.0, True, True)


@published
@pytest.mark.program
def test_a_sample_of_the_published_tasks_is_solved_and_none_passes_untouched() -> None:
    folder = PUBLISHED / "scienceboard-verified" / "KAlgebra"
    found = {one.task: one for one in play_all("KAlgebra", folder, SAMPLE)}
    assert len(found) == len(SAMPLE)
    for name, one in found.items():
        assert one == Played(name, initialised=True, untouched=False, solved=True)
