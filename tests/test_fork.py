"""What forks take along, and what machines that cannot fork say."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from sci_gym.coordinator import Coordinator
from sci_gym.errors import ConfigurationError
from sci_gym.evaluation import GraphRun, PredicateSet, right_stop
from sci_gym.loader import load_app, select_tasks
from sci_gym.machines import MachineSpec, SandboxMachine
from sci_gym.specs import Action, Evidence, Kind, Status

APP = load_app("kalgebra")


def test_a_copied_walk_goes_on_on_its_own() -> None:
    task = select_tasks(APP, "product-odd")(np.random.default_rng(0))
    run = GraphRun(task.graph, PredicateSet.of(APP), right_stop(task))
    twin = run.copy()
    nothing = Evidence(state={APP.name: {}}, files={}, stop=Kind.DONE, answer=None)
    run._completed.append(task.graph.nodes[0].id)
    assert run.verdict(nothing).status[task.graph.nodes[0].id] is Status.COMPLETED
    assert twin.verdict(nothing).status[task.graph.nodes[0].id] is Status.EVALUATING


def test_nothing_can_be_kept_before_an_episode() -> None:
    fresh = gym.make("SciBoard-KAlgebra-v0", disable_env_checker=True)
    for call in (fresh.unwrapped.snapshot, lambda: fresh.unwrapped.fork(2)):  # type: ignore[attr-defined]
        with pytest.raises(gym.error.ResetNeeded):
            call()
    fresh.close()


def test_a_sandbox_says_which_machine_can_fork(env: gym.Env[Any, Any]) -> None:
    env.reset(seed=1)
    for call in (env.unwrapped.snapshot, lambda: env.unwrapped.fork(2)):  # type: ignore[attr-defined]
        with pytest.raises(ConfigurationError, match="the sandbox cannot fork; use machine='libvirt'"):
            call()
    *_, truncated, info = env.step(Action.wait(0))
    assert not truncated, info


@pytest.mark.parametrize("count", [0, -1])
def test_no_fork_is_refused(env: gym.Env[Any, Any], count: int) -> None:
    with pytest.raises(ConfigurationError, match="at least 1"):
        env.unwrapped.fork(count)  # type: ignore[attr-defined]


def test_an_episode_is_recalled_as_it_was(env: gym.Env[Any, Any]) -> None:
    """A copy is neither touched by what the episode does next, nor touches it."""
    env.reset(seed=1)
    playing: Any = env.unwrapped
    env.step(Action.move_to(9, 9))
    kept = playing._episode.copy()
    env.step(Action.done())
    assert (kept.steps, kept.over, kept.last.cursor) == (1, False, (9, 9))
    assert (playing._episode.steps, playing._episode.over) == (2, True)
    assert kept.task is playing.task


def test_a_fork_of_one_given_machine_does_not_take_it_for_a_reset() -> None:
    machine = SandboxMachine(MachineSpec(width=640, height=480))
    task = select_tasks(APP, "product-odd")(np.random.default_rng(0))
    machine.start()
    try:
        fork = Coordinator(lambda: machine, APP)._beside()
        with pytest.raises(ConfigurationError, match="name its kind"):
            fork.reset(task)
        assert machine.running
    finally:
        machine.stop()
