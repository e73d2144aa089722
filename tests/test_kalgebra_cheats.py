"""Ways past the work in the real KAlgebra: each scores 0.

What is typed and not plotted or applied, or shown by another program, is in `test_kalgebra_state.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

from sci_gym.oracle import play
from sci_gym.specs import Action
from tests.forging import forge


@pytest.fixture(scope="module")
def env() -> Iterator[Any]:
    made = gym.make(
        "SciBoard-KAlgebra-v0", task="product-odd", interface="hybrid", resolution=(1280, 800),
        disable_env_checker=True,
    )  # fmt: skip
    yield made
    made.close()


def test_a_forged_report_scores_nothing(env: Any) -> None:
    env.reset(seed=2)
    values = env.unwrapped.task.graph.nodes[0].checks[0].arguments
    line = json.dumps({"variable": values["name"], "value": str(values["equals"])})
    *_, info = env.step(Action.code(forge(line), "python"))
    assert "tried" in info["output"]
    *_, info = env.step(Action.done())
    assert (info["success"], info["coverage_rate"]) == (False, 0.0)


def test_a_second_kalgebra_in_front_scores_nothing(env: Any) -> None:
    """It is a program of the policy's; the work is to be done in the one that stands there."""
    env.reset(seed=2)
    env.step(Action.hotkey("ctrl", "n"))
    for _ in range(20):
        if len(env.unwrapped.last.windows) == 2:
            break
        env.step(Action.wait())
    assert [one.title for one in env.unwrapped.last.windows] == ["KAlgebra", "KAlgebra"]
    for *_, info in play(env, env.unwrapped.task.oracle):
        assert info["coverage_rate"] == 0
    assert not info["success"]


def test_values_that_are_typed_and_not_entered_score_nothing(env: Any) -> None:
    env.reset(seed=2)
    text = env.unwrapped.task.oracle[0].action.text
    env.step(Action.type(text.rstrip("\n")))
    *_, info = env.step(Action.done())
    assert (info["success"], info["coverage_rate"]) == (False, 0.0)
