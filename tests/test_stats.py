"""What `stats()` tells of real episodes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

from sci_gym import Action
from sci_gym.errors import DeadlineError, InfrastructureError
from sci_gym.stats import COUNTERS, MAX_SAMPLES, Stats
from tests.processes import kill_below

HOST_PHASES = {"reset", "machine", "launch", "ready", "setup", "observe", "step"}
DAEMON_PHASES = {"act", "react", "settle", "capture", "tree"}


@pytest.fixture
def env() -> Iterator[gym.Env[Any, Any]]:
    made = gym.make(
        "SciBoard-KAlgebra-v0", task="product-odd", resolution=(1280, 800), disable_env_checker=True
    )
    yield made
    made.close()


def test_an_episode_is_counted_and_timed(env: Any) -> None:
    env.reset(seed=0)
    for _ in range(3):
        env.step(Action.wait(0))
    stats = env.unwrapped.stats()
    assert json.loads(json.dumps(stats)) == stats
    assert set(stats["counters"]) == set(COUNTERS)
    assert (stats["counters"]["resets"], stats["counters"]["steps"]) == (1, 3)
    phases = stats["phases_ms"]
    assert set(phases) == HOST_PHASES | DAEMON_PHASES
    assert {phase: phases[phase]["n"] for phase in ("reset", "machine", "step", "tree")} == {
        "reset": 1, "machine": 1, "step": 3, "tree": 3,
    }  # fmt: skip
    for one in phases.values():
        assert 0 <= one["min"] <= one["median"] <= one["max"]
    inside = sum(phases[phase]["last"] for phase in ("machine", "launch", "ready", "setup", "observe"))
    assert inside <= phases["reset"]["last"]


def test_a_fault_is_counted_with_its_part(env: Any) -> None:
    env.reset(seed=0)
    kill_below("Xvfb")
    *_, info = env.step(Action.click(5, 5))
    stats = env.unwrapped.stats()
    assert stats["counters"]["step_faults"] == 1
    assert stats["faults"] == {info["infra_error"]["part"]: 1}
    _, info = env.reset(seed=0)
    assert "infra_error" not in info


def test_a_deadline_is_counted_apart() -> None:
    stats = Stats()
    stats.fault("step_faults", InfrastructureError("display", "is gone"))
    stats.fault("step_faults", DeadlineError("daemon", "no answer"))
    counters = stats.summary()["counters"]
    assert (counters["step_faults"], counters["deadlines_met"]) == (2, 1)


def test_samples_are_bounded() -> None:
    stats = Stats()
    for number in range(3 * MAX_SAMPLES):
        stats.sample("step", float(number))
    told = stats.summary()["phases_ms"]["step"]
    assert (told["n"], told["min"], told["last"]) == (MAX_SAMPLES, 2 * MAX_SAMPLES, 3 * MAX_SAMPLES - 1)
