"""The virtual machine keeps what every machine keeps, and an environment in it what all environments do."""

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

from sci_gym.machines import Machine
from sci_gym.testing import EnvSuite, MachineSuite
from tests.virtual import make_machine


@pytest.mark.timeout(900)
class TestLibvirt(MachineSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def machine(cls) -> Iterator[Machine]:
        machine = make_machine()
        yield machine
        machine.stop()


@pytest.mark.program
@pytest.mark.timeout(900)
class TestKAlgebraInAVirtualMachine(EnvSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def env(cls) -> Iterator[gym.Env[Any, Any]]:
        make_machine()  # or skip
        env = gym.make(
            "SciBoard-KAlgebra-v0", machine="libvirt", task="product-odd", disable_env_checker=True
        )
        yield env
        env.close()
