"""Faults on the real program: each is told by its part, in time, and the next desktop is healthy."""

from __future__ import annotations

import pytest

from sci_gym.chaos import choose, run
from sci_gym.errors import ConfigurationError, UnknownNameError
from sci_gym.loader import load_app
from sci_gym.machines import Endpoint, Machine, MachineSpec, SandboxMachine
from tests import test_cli

CASES = (
    "kill program in a step",
    "stop display in a step",
    "kill window manager in a step",
    "kill sandbox in a reset",
    "lose a step's reply",
    "flood the screen",
)


def test_every_fault_is_told_and_mended() -> None:
    outcomes = list(run(load_app("kalgebra"), "sandbox", choose(CASES)))
    assert {outcome.case: outcome.misses for outcome in outcomes if outcome.misses} == {}
    assert len(outcomes) == len(CASES)


def test_what_the_policy_does_to_itself_is_no_fault() -> None:
    status, result = test_cli.run("chaos", "--only", "closes the window")
    assert (status, result["misses"]) == (0, 0), result
    (case,) = result["cases"]
    assert (case["expected"], case["met"]) == ("no fault", "no fault")
    assert 0 < case["seconds"] < case["deadline_s"]


def test_an_unknown_case_is_named() -> None:
    with pytest.raises(UnknownNameError, match="kill daemon"):
        choose(["kill demon"])


def test_what_the_host_cannot_see_is_not_broken() -> None:
    of_libvirt, of_sandbox = ({case.name for case in choose(None, name)} for name in ("libvirt", "sandbox"))
    assert "damage the saved machine" in of_libvirt - of_sandbox
    assert "kill display in a step" in of_sandbox - of_libvirt
    assert "fill the disk" in of_libvirt & of_sandbox


def test_every_part_of_a_sandbox_has_its_process() -> None:
    machine = SandboxMachine(MachineSpec(width=640, height=480))
    assert machine.parts() == {}
    machine.start()
    try:
        parts = machine.parts()
    finally:
        machine.stop()
    assert set(parts) == {
        "sandbox", "daemon", "display", "session bus", "accessibility bus", "accessibility registry",
        "window manager",
    }  # fmt: skip
    assert all(len(pids) == 1 for pids in parts.values())


def test_a_machine_that_cannot_tell_its_processes_says_so() -> None:
    class Far(Machine):
        def start(self) -> Endpoint:
            return Endpoint("far:1", "")

        restore = start
        running = True

        def stop(self) -> None:
            return

        def require(self, requirements: object) -> None:
            return

        @classmethod
        def missing(cls) -> dict[str, str]:
            return {}

    far = Far(MachineSpec())
    assert far.fault() is None
    with pytest.raises(ConfigurationError, match="Far cannot tell its processes"):
        far.parts()
