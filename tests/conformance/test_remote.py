"""The remote machine keeps what every machine keeps, and KAlgebra on it what every environment keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

from sci_gym.machines import Machine, MachineSpec
from sci_gym.machines.remote import RemoteMachine
from sci_gym.testing import EnvSuite, MachineSuite
from tests.kept import Kept, keep


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    with keep(tmp_path_factory.mktemp("kept")) as daemon:
        yield daemon


class TestRemote(MachineSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def machine(cls, kept: Kept) -> Iterator[Machine]:
        machine = RemoteMachine(MachineSpec(width=1280, height=800), **kept.options)
        yield machine
        machine.stop()


class TestKAlgebra(EnvSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def env(cls, kept: Kept) -> Iterator[gym.Env[Any, Any]]:
        env = gym.make(
            "SciBoard-KAlgebra-v0", task="product-odd", resolution=(1280, 800), disable_env_checker=True,
            machine="remote", machine_options=kept.options,
        )  # fmt: skip
        yield env
        env.close()
