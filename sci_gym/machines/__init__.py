"""Machines: where a desktop and its daemon run."""

from sci_gym.machines.base import Endpoint, Machine, MachineSpec, Snapshot
from sci_gym.machines.libvirt import LibvirtMachine
from sci_gym.machines.sandbox import SandboxMachine

__all__ = ["Endpoint", "LibvirtMachine", "Machine", "MachineSpec", "SandboxMachine", "Snapshot"]
