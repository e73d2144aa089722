"""The sandbox machine keeps what every machine keeps."""

from collections.abc import Iterator

import pytest

from sci_gym.machines import Machine, MachineSpec, SandboxMachine
from sci_gym.testing import MachineSuite


class TestSandbox(MachineSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def machine(cls) -> Iterator[Machine]:
        machine = SandboxMachine(MachineSpec(width=1280, height=800))
        yield machine
        machine.stop()
