"""Which kinds of machines there are: the modules of this package that offer a class as `MACHINE`.

A module is imported when its machine is asked for, so that what it needs may be missing elsewhere.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from sci_gym.errors import UnknownNameError
from sci_gym.machines.base import Machine

AUTO = "auto"
DEFAULT = "sandbox"
_NO_MACHINES = {"base"}


def machine_names() -> list[str]:
    """The names that `load_machine` knows, "auto" apart."""
    modules = {module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)])}
    return sorted(name for name in modules - _NO_MACHINES if not name.startswith("_"))


def load_machine(name: str) -> type[Machine]:
    """The class of a kind of machine.

    Raises:
        UnknownNameError: there is no such kind.
    """
    chosen = DEFAULT if name == AUTO else name
    if chosen not in machine_names():
        raise UnknownNameError("machine", chosen, [AUTO, *machine_names()])
    machine: type[Machine] = importlib.import_module(f"sci_gym.machines.{chosen}").MACHINE
    return machine
