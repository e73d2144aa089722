"""Machines: where a desktop and its daemon run. A kind is a module here that names its class `MACHINE`."""

from sci_gym.machines._registry import load_machine, machine_names
from sci_gym.machines.base import Endpoint, Machine, MachineSpec, Snapshot
from sci_gym.machines.sandbox import SandboxMachine

__all__ = [
    "Endpoint",
    "Machine",
    "MachineSpec",
    "SandboxMachine",
    "Snapshot",
    "load_machine",
    "machine_names",
]
