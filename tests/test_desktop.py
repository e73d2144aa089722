"""Programs, windows and the daemon's end, over the wire."""

from __future__ import annotations

import time

import pytest

from sci_gym import codec
from sci_gym.client import VMAgentClient
from sci_gym.errors import ConfigurationError, SciGymError
from sci_gym.machines import MachineSpec, SandboxMachine
from sci_gym.specs import Action
from sci_gym_protos import vm_agent_pb2 as pb
from tests.processes import family, wait_until_gone


def settle(client: VMAgentClient, action: Action | None = None) -> pb.StepReply:
    request = codec.pack_input(action or Action.wait(), (0, 0), 1280, 800)
    policy = pb.SettlePolicy(quiet_ms=150, deadline_ms=8000)
    return client.step(request, policy, pb.ObserveRequest(), pb.ProbeRequest())


def test_a_program_is_listed_with_its_state_and_closed(kalgebra: VMAgentClient) -> None:
    settle(kalgebra)
    (program,) = kalgebra.programs()
    assert (program.name, program.running, program.launches) == ("kalgebra", True, 1)
    assert any('"viewport' in line or '"plotter"' in line for line in program.state)
    ended = kalgebra.end_program(program.id)
    assert not ended.running
    assert not kalgebra.programs()
    assert not kalgebra.windows()
    with pytest.raises(ConfigurationError, match=f"program {program.id}"):
        kalgebra.end_program(program.id)


def test_a_name_is_taken_while_its_program_runs(kalgebra: VMAgentClient) -> None:
    with pytest.raises(ConfigurationError, match="'kalgebra' is running"):
        kalgebra.launch("kalgebra", ["/usr/bin/kalgebra"])


def test_windows_are_told_raised_and_closed(kalgebra: VMAgentClient) -> None:
    settle(kalgebra)
    (main,) = kalgebra.windows()
    assert (main.title, main.active, main.program_id) == ("KAlgebra", True, kalgebra.programs()[0].id)
    settle(kalgebra, Action.hotkey("ctrl", "l"))  # the dialog to load a script
    dialog = kalgebra.windows()[-1]
    assert dialog.id != main.id
    assert dialog.active
    kalgebra.close_window(dialog.id)
    settle(kalgebra)
    assert [one.id for one in kalgebra.windows()] == [main.id]
    with pytest.raises(ConfigurationError, match=f"window {dialog.id}"):
        kalgebra.activate_window(dialog.id)


def test_a_second_window_of_the_same_program_is_not_the_launched_one(kalgebra: VMAgentClient) -> None:
    """What a policy starts itself cannot stand in for the program whose state is judged."""
    settle(kalgebra, Action.hotkey("ctrl", "n"))  # Session > New starts a process of its own
    end = time.monotonic() + 60
    owners: list[str] = []
    while len(owners) < 2 and time.monotonic() < end:
        settle(kalgebra)
        kalgebra.observe(pb.ObserveRequest(tree=pb.ObserveRequest.TREE_ALL))
        owners = [node.program for node in kalgebra.tree if node.role == "application"]
    assert sorted(owners) == ["", "kalgebra"]


def test_shutdown_ends_the_machine() -> None:
    machine = SandboxMachine(MachineSpec(width=640, height=480))
    client = VMAgentClient(machine.start())
    pids = family(machine._process.pid) if machine._process else set()
    client.shutdown()
    assert not wait_until_gone(pids - {machine._process.pid if machine._process else 0})
    with pytest.raises(SciGymError):
        client.hello()
    assert not machine.running
    client.close()
    machine.stop()
