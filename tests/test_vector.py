"""Many desktops from one process: laid out as Gymnasium lays it out, faults and slow policies apart."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import sci_gym  # noqa: F401 (registers the ids)
from sci_gym.cluster import Cluster
from sci_gym.errors import ConfigurationError, DeadlineError, MissingDependencyError
from sci_gym.machines import MachineSpec, SandboxMachine
from sci_gym.specs import Action
from sci_gym.vector import SciVectorEnv
from tests.processes import family

ID = "SciBoard-KAlgebra-v0"
TASKS = ("product-odd", "plot-2d-and-value")
OPTIONS: dict[str, Any] = {"resolution": (800, 600)}
LAUNCHED = Action.wait(0)


def make(**options: Any) -> SciVectorEnv:
    made = gym.make_vec(ID, num_envs=2, tasks=TASKS, **OPTIONS, **options)
    assert isinstance(made.unwrapped, SciVectorEnv)
    return made.unwrapped


@pytest.fixture(scope="module")
def vector() -> Iterator[SciVectorEnv]:
    with closing(make()) as made:
        yield made


def test_it_is_what_make_vec_gives(vector: SciVectorEnv) -> None:
    observation, info = vector.reset(seed=3)
    assert vector.spec is not None
    assert vector.spec.id == ID
    assert vector.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert vector.observation_space.contains(observation)
    assert observation["screenshot"].shape == (2, 600, 800, 3)
    assert list(info["task"]) == list(TASKS), "Each slot has the task that was asked for it."
    assert info["_task"].all()


def test_it_gives_what_the_stock_vector_gives(vector: SciVectorEnv) -> None:
    stock = gym.make_vec(ID, num_envs=2, vectorization_mode="sync", task=TASKS[0], **OPTIONS)
    with closing(stock):
        theirs_first = stock.reset(seed=3)
        ours_first = vector.reset(seed=3, options={"task": TASKS[0]})
        actions = stock.action_space.sample()
        actions["kind"][:] = 0
        for theirs, ours in ((theirs_first, ours_first), (stock.step(actions), vector.step(actions))):
            assert type(ours) is type(theirs)
            assert set(ours[-1]) == set(theirs[-1])
            assert {key: array.dtype for key, array in ours[-1].items() if isinstance(array, np.ndarray)} == {
                key: array.dtype for key, array in theirs[-1].items() if isinstance(array, np.ndarray)
            }
        assert (ours_first[0]["screenshot"] == theirs_first[0]["screenshot"]).all(), (
            "The same seeds, the same desktops."
        )
        assert ours_first[0]["a11y"] == theirs_first[0]["a11y"]


def test_a_slot_that_ends_starts_anew_at_the_next_step(vector: SciVectorEnv) -> None:
    vector.reset(seed=3)
    _, rewards, terminated, truncated, _ = vector.step([Action.done(), LAUNCHED])
    assert terminated.tolist() == [True, False]
    assert rewards.dtype == np.float64
    _, rewards, terminated, truncated, info = vector.step([Action.click(5, 5), LAUNCHED])
    assert not terminated.any()
    assert not truncated.any()
    assert rewards.tolist() == [0, 0]
    assert info["coverage_rate"].tolist() == [0, 0]


def test_only_the_slots_of_the_mask_are_reset(vector: SciVectorEnv) -> None:
    vector.reset(seed=3)
    before = vector.get_attr("unwrapped")[1].task
    _, info = vector.reset(seed=4, options={"reset_mask": np.array([True, False])})
    assert info["_task"].tolist() == [True, False]
    assert vector.get_attr("unwrapped")[1].task is before
    with pytest.raises(ConfigurationError, match="reset_mask"):
        vector.reset(options={"reset_mask": [True, False]})


def test_a_fault_ends_one_slots_episode_and_its_next_step_mends_it(vector: SciVectorEnv) -> None:
    vector.reset(seed=3)
    machine = vector.get_attr("unwrapped")[0].coordinator.machine
    (display,) = machine.parts()["display"]
    os.kill(display, signal.SIGKILL)
    _, _, terminated, truncated, info = vector.step([Action.click(9, 9), Action.click(9, 9)])
    assert truncated.tolist() == [True, False]
    assert not terminated.any()
    assert info["infra_error"]["part"].tolist() == ["display", None]
    observation, _, _, truncated, info = vector.step([Action.click(9, 9), Action.click(9, 9)])
    assert not truncated.any()
    assert "infra_error" not in info
    assert observation["screenshot"][0].any()


def test_slots_are_stepped_as_their_policies_answer(vector: SciVectorEnv) -> None:
    vector.reset(seed=3)
    vector.async_step({0: Action.wait(2.0), 1: LAUNCHED})
    with pytest.raises(ConfigurationError, match="slot 0 is under way"):
        vector.async_step({0: LAUNCHED})
    with pytest.raises(ConfigurationError, match="under way"):
        vector.step([LAUNCHED, LAUNCHED])
    order = []
    for slot, outcome in vector.as_completed(timeout_s=60):
        assert vector.single_observation_space.contains(outcome.observation)
        if not order:
            vector.async_step({1: LAUNCHED})
        order.append(slot)
    assert sorted(order) == [0, 1, 1]
    assert order[0] == 1, "The slot that waits holds up no other."
    vector.async_step({0: Action.wait(2.0)})
    with pytest.raises(DeadlineError, match=r"\[0\]"):
        next(vector.as_completed(timeout_s=0.01))
    assert [slot for slot, _ in vector.as_completed(timeout_s=60)] == [0]


def test_a_curriculum_chooses_each_slots_next_task() -> None:
    asked: list[tuple[int, int, Mapping[str, Any]]] = []

    def choose(slot: int, episode: int, info: Mapping[str, Any]) -> str:
        asked.append((slot, episode, info))
        return TASKS[episode]

    with closing(make(curriculum=choose, autoreset_mode="SameStep")) as vector:
        _, info = vector.reset(seed=3)
        assert list(info["task"]) == [TASKS[0]] * 2
        observation, _, terminated, _, info = vector.step([Action.done(), LAUNCHED])
        assert terminated.tolist() == [True, False]
        assert list(info["task"]) == [TASKS[1], TASKS[0]], (
            "In this mode the next episode begins in the same step."
        )
        assert info["final_info"]["task"].tolist() == [TASKS[0], None]
        assert info["final_obs"][0]["screenshot"].shape == observation["screenshot"][0].shape
    assert [(slot, episode) for slot, episode, _ in sorted(asked, key=lambda one: one[:2])] == [
        (0, 0),
        (0, 1),
        (1, 0),
    ]
    assert asked[-1][2]["task"] == TASKS[0], "It is told how the episode before went."


def test_nothing_is_left_of_a_vector_that_is_closed() -> None:
    before = family(os.getpid())
    with closing(make()) as vector:
        vector.reset(seed=3)
        assert family(os.getpid()) > before
    assert family(os.getpid()) <= before


def test_a_cluster_without_ray_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'sci-gym\[ray\]'"):
        make(cluster=Cluster())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 0}, "num_envs"),
        ({"num_envs": 2, "tasks": ["product-odd"]}, "tasks: must be 2"),
        ({"cluster": Cluster(), "render_mode": "human"}, "render_mode"),
        ({"cluster": Cluster(), "machine": SandboxMachine(MachineSpec())}, "machine: one that is made here"),
    ],
)
def test_what_cannot_be_is_told(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        gym.make_vec(ID, **options, **OPTIONS)
