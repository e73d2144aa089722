"""Desktops on a Ray cluster of nodes on this machine: a node is killed, an actor is silent, a driver dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import gymnasium as gym
import pytest

import sci_gym  # noqa: F401 (registers the ids)
from sci_gym.cluster import Cluster
from sci_gym.errors import ActionError, ConfigurationError
from sci_gym.specs import Action
from sci_gym.vector import SciVectorEnv
from tests.processes import family, wait_until_gone

ray = pytest.importorskip("ray", reason="needs Ray: pip install 'sci-gym[ray]'")
local = pytest.importorskip("ray.cluster_utils")

ID = "SciBoard-KAlgebra-v0"
TASKS = ("product-odd", "plot-2d-and-value")
SIZE = (640, 480)
NOTHING = Action.wait(0)
PLACE_S = 180.0  # other tests may keep the cores busy
NODE: dict[str, Any] = {
    "num_cpus": 2, "memory": 4 * 2**30, "object_store_memory": 100 * 2**20,
    "include_dashboard": False, "include_log_monitor": False, "no_monitor": True,
}  # fmt: skip
DRIVER = """
import sys, gymnasium as gym
from sci_gym.cluster import Cluster
envs = gym.make_vec(sys.argv[1], num_envs=1, resolution=(640, 480), cluster=Cluster(sys.argv[2])).unwrapped
envs.reset(seed=0)
print(envs.call("place")[0]["pid"], flush=True)
sys.stdin.readline()
"""


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """A cluster of one node, to which this process is connected."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_enable_metrics_collection", "0")
        started = local.Cluster(initialize_head=True, head_node_args=NODE)
        try:
            ray.init(address=started.address, log_to_driver=False)
            yield started
        finally:
            ray.shutdown()
            started.shutdown()


def make(cluster: Cluster | None = None, **options: Any) -> SciVectorEnv:
    where = cluster or Cluster(place_s=PLACE_S)
    made = gym.make_vec(ID, resolution=SIZE, cluster=where, **{"task": TASKS[0], **options})
    assert isinstance(made.unwrapped, SciVectorEnv)
    return made.unwrapped


def test_the_slots_of_a_node_that_is_killed_go_on_elsewhere(nodes: Any) -> None:
    doomed = nodes.add_node(**NODE)
    with closing(make(num_envs=2)) as vector:
        vector.reset(seed=3)
        places = vector.call("place")
        assert len({place["node"] for place in places}) == 2, "The slots are spread over the nodes."
        lost = [place["node"] for place in places].index(doomed.node_id)
        kept = 1 - lost
        before, *_ = vector.step([NOTHING, NOTHING])
        desktop = family(places[lost]["pid"])
        assert len(desktop) > 10

        vector.async_step({lost: Action.wait(30)})
        nodes.remove_node(doomed, allow_graceful=False)
        ((number, outcome),) = vector.as_completed(timeout_s=100)
        assert (number, outcome.reward, outcome.terminated, outcome.truncated) == (lost, 0, False, True)
        assert outcome.info["infra_error"]["part"] == "node"
        assert outcome.info["infra_error"]["error"] == "DisconnectedError"
        assert (outcome.observation["screenshot"] == before["screenshot"][lost]).all(), "It is the last one."
        assert not wait_until_gone(desktop)

        observation, _, _, truncated, info = vector.step([NOTHING, NOTHING])
        assert not truncated.any(), info.get("infra_error")
        assert observation["screenshot"][lost].any()
        now = vector.call("place")
        assert now[kept] == places[kept], "The other slot is not touched."
        assert now[lost]["node"] == places[kept]["node"]
        assert info["task"][lost] == TASKS[0]


def test_an_actor_that_falls_silent_is_given_up(nodes: Any) -> None:
    with closing(make(Cluster(answer_s=5, place_s=PLACE_S), num_envs=1)) as vector:
        vector.reset(seed=3)
        (place,) = vector.call("place")
        desktop = family(place["pid"])
        os.kill(place["pid"], signal.SIGSTOP)
        _, _, _, truncated, info = vector.step([NOTHING])
        assert truncated.all()
        assert info["infra_error"]["error"].tolist() == ["DeadlineError"]
        assert not wait_until_gone(desktop, 60)


def test_it_is_the_environment_itself_elsewhere(nodes: Any) -> None:
    def name(slot: int, episode: int, info: Any) -> str:
        return TASKS[episode]

    def double(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
        return gym.wrappers.TransformReward(env, lambda reward: 2 * float(reward) + 1)

    with gym.make(ID, task=TASKS[0], resolution=SIZE) as here:
        expected, told = here.reset(seed=3)
    with closing(make(num_envs=1, task=None, curriculum=name, wrap=double, spares=1)) as vector:
        observation, info = vector.reset(seed=3)
        assert info["instruction"].tolist() == [told["instruction"]], "The same seed, the same task."
        assert observation["a11y"] == (expected["a11y"],)
        with pytest.raises(ActionError, match="outside the screen of 640x480"):
            vector.step([Action.click(9999, 0)])
        _, rewards, terminated, _, _ = vector.step([Action.done()])
        assert (rewards.tolist(), terminated.tolist()) == ([1], [True])
        observation, _, _, _, info = vector.step([NOTHING])
        assert info["task"].tolist() == [TASKS[1]]
        assert vector.call("stats")[0]["counters"]["resets"] == 2
        (env,) = vector.call("unwrapped")
        last, *_ = env.step(NOTHING)
        last["screenshot"][:] = 0  # it is ours to write to
        desktop = family(vector.call("place")[0]["pid"])
    assert not wait_until_gone(desktop), "Nothing is left of a vector that is closed."


def test_nothing_is_left_of_a_driver_that_is_killed(nodes: Any) -> None:
    command = [sys.executable, "-c", DRIVER, ID, nodes.address]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        desktop = family(int(driver.stdout.readline()))
        assert len(desktop) > 10
        driver.kill()
    assert not wait_until_gone(desktop)


def test_a_cluster_without_room_says_so(nodes: Any) -> None:
    with closing(make(Cluster(memory_bytes=2**40, place_s=0.5), num_envs=1)) as vector:
        _, info = vector.reset()
    (message,) = info["infra_error"]["message"]
    assert "no node with 1 cores and 1024.0 GiB free" in message
    assert "of 4.0 GiB free" in message


def test_another_cluster_than_the_one_in_use_is_refused(nodes: Any) -> None:
    with pytest.raises(ConfigurationError, match=f"is connected to {nodes.address}, not to 127.0.0.1:1"):
        make(Cluster(address="127.0.0.1:1"), num_envs=1)


def test_a_worker_of_ray_makes_an_environment_by_its_id(nodes: Any) -> None:
    def play(env_id: str) -> tuple[bool, float]:
        import gymnasium  # and nothing of ours, as in a rollout worker of RLlib

        with gymnasium.make(env_id, task="product-odd", resolution=(640, 480)) as env:
            observation, _ = env.reset(seed=0)
            _, reward, *_ = env.step({**env.action_space.sample(), "kind": 0})
            return env.observation_space.contains(observation), float(reward)

    assert ray.get(ray.remote(play).remote(f"sci_gym:{ID}"), timeout=PLACE_S) == (True, 0.0)


def test_rllib_learns_by_an_id(nodes: Any) -> None:
    """PPO of RLlib steps two desktops in a worker of its own, and updates its network."""
    ppo = pytest.importorskip("ray.rllib.algorithms.ppo", reason="needs RLlib: pip install 'sci-gym[rllib]'")
    options = {"task": "product-odd", "resolution": SIZE, "dtype": "float32"}
    config = (
        ppo.PPOConfig()
        .environment("sci_gym:SciBoard-KAlgebra-Marks-v0", env_config=options)
        .env_runners(num_env_runners=1, num_envs_per_env_runner=2, rollout_fragment_length=8)
        .training(train_batch_size_per_learner=16, minibatch_size=8, num_epochs=1)
    )
    algorithm = config.build_algo()
    try:
        result = algorithm.train()
    finally:
        algorithm.stop()
    assert result["env_runners"]["num_env_steps_sampled"] >= 16
    assert result["learners"]["default_policy"]["num_trainable_parameters"] > 1000
