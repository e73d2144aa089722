"""The virtual machine keeps what every machine keeps."""

from collections.abc import Iterator

import pytest

from sci_gym.machines import Machine
from sci_gym.testing import MachineSuite
from tests.virtual import make_machine


@pytest.mark.timeout(900)
class TestLibvirt(MachineSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def machine(cls) -> Iterator[Machine]:
        machine = make_machine()
        yield machine
        machine.stop()
