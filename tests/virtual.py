"""Virtual machines for tests, where this host can run them."""

from __future__ import annotations

import pytest

from sci_gym.errors import MissingDependencyError
from sci_gym.images import find_image
from sci_gym.machines import MachineSpec
from sci_gym.machines.libvirt import LibvirtMachine

SPEC = MachineSpec()


def make_machine() -> LibvirtMachine:
    """A machine that is not started; skips the test where something is missing, naming it."""
    lacking = LibvirtMachine.missing()
    if lacking:
        pytest.skip(f"needs {', '.join(lacking)} (apt-get install {' '.join(set(lacking.values()))})")
    try:
        find_image(())
    except MissingDependencyError as error:
        pytest.skip(str(error))
    return LibvirtMachine(SPEC)
