"""Desktops on the nodes of a Ray cluster: two nodes on this machine, one of which is killed in mid-rollout."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import gymnasium as gym
import pytest

import sci_gym  # noqa: F401 (registers the ids)
from sci_gym.cluster import Cluster
from sci_gym.errors import ConfigurationError
from sci_gym.specs import Action
from sci_gym.vector import SciVectorEnv
from tests.processes import family, wait_until_gone

ray = pytest.importorskip("ray", reason="needs pip install 'sci-gym[ray]'")
local = pytest.importorskip("ray.cluster_utils")

ID = "SciBoard-KAlgebra-v0"
TASK = "product-odd"
NOTHING = Action.wait(0)
NODE: dict[str, Any] = {"num_cpus": 2, "memory": 4 * 2**30, "object_store_memory": 100 * 2**20}


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """A cluster with a head, to which this process is connected."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_enable_metrics_collection", "0")
        started = local.Cluster(
            initialize_head=True, head_node_args={**NODE, "include_dashboard": False}
        )
        ray.init(address=started.address, log_to_driver=False)
        yield started
        ray.shutdown()
        started.shutdown()


def make(**options: Any) -> SciVectorEnv:
    made = gym.make_vec(ID, resolution=(640, 480), task=TASK, cluster=Cluster(memory_bytes=2**30), **options)
    assert isinstance(made.unwrapped, SciVectorEnv)
    return made.unwrapped


def test_a_lost_node_ends_its_slots_episode_and_another_node_goes_on(nodes: Any) -> None:
    lost = nodes.add_node(**NODE)
    with closing(make(num_envs=2)) as vector:
        _, info = vector.reset(seed=3)
        print(info)
        places = vector.get_attr("place")
        print(places)
        assert len({place["node"] for place in places}) == 2, "The slots are spread over the nodes."
        slot = [place["node"] for place in places].index(lost.node_id)
        vector.step([NOTHING, NOTHING])
        desktop = family(places[slot]["pid"])
        print(desktop)
        nodes.remove_node(lost, allow_graceful=False)
        assert not wait_until_gone(desktop)
        observation, rewards, terminated, truncated, info = vector.step([NOTHING, NOTHING])
        print(info["infra_error"], rewards, truncated)
        assert truncated.tolist() == [number == slot for number in range(2)]
        observation, rewards, terminated, truncated, info = vector.step([NOTHING, NOTHING])
        assert not truncated.any()
        print(vector.get_attr("place"))
