"""After any way out, nothing of a desktop is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sci_gym.client import VMAgentClient
from sci_gym.errors import DisconnectedError, InfrastructureError
from sci_gym.machines import MachineSpec, SandboxMachine
from tests.processes import family, named, wait_until_gone

START = """
import os, sys, threading
from sci_gym.machines import MachineSpec, SandboxMachine
machine = SandboxMachine(MachineSpec(width=640, height=480))
def go():
    machine.start()
thread = threading.Thread(target=go)  # a desktop outlives the thread that started it
thread.start(); thread.join()
print(machine._folder, flush=True)
sys.stdin.readline()
"""


def start_child(ending: str) -> tuple[subprocess.Popen[str], set[int], Path]:
    child = subprocess.Popen(
        [sys.executable, "-c", START + ending], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    folder = child.stdout.readline().strip()
    pids = set().union(*(family(pid) for pid in named(folder)))
    assert len(pids) >= 8, "a desktop has its X server, buses, registry, window manager and daemon"
    return child, pids, Path(folder)


@pytest.mark.parametrize(
    ("ending", "number"),
    [
        pytest.param("pass", signal.SIGKILL, id="kill -9"),
        pytest.param("pass", signal.SIGINT, id="Ctrl-C"),
        pytest.param("pass", signal.SIGTERM, id="terminate"),
        pytest.param("raise RuntimeError('user code')", None, id="exception"),
        pytest.param("os._exit(3)", None, id="_exit"),
    ],
)
def test_nothing_is_left(ending: str, number: int | None) -> None:
    child, pids, _ = start_child(ending)
    if number is not None:
        child.send_signal(number)
        child.wait(20)
    child.communicate("\n", timeout=20)
    assert not wait_until_gone(pids)


def test_a_stopped_daemon_still_dies_with_its_parent() -> None:
    child, pids, _ = start_child("pass")
    for pid in pids:
        if b"-m\0sci_gym_vm_agent" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGSTOP)
    child.kill()
    child.wait(20)
    assert not wait_until_gone(pids)


def test_a_killed_daemon_is_named_and_leaves_nothing() -> None:
    machine = SandboxMachine(MachineSpec(width=640, height=480))
    client = VMAgentClient(machine.start(), call_s=10)
    pids = family(os.getpid()) - {os.getpid()}
    client.hello()
    os.kill(machine.parts()["daemon"][0], signal.SIGKILL)
    with pytest.raises(DisconnectedError, match="daemon"):
        client.screen_size()
    client.close()
    machine.stop()
    assert not wait_until_gone(pids)


def test_a_dead_display_is_named() -> None:
    machine = SandboxMachine(MachineSpec(width=640, height=480))
    client = VMAgentClient(machine.start(), call_s=20)
    try:
        os.kill(machine.parts()["display"][0], signal.SIGKILL)
        with pytest.raises(InfrastructureError, match="display"):
            client.cursor()
        assert client.health()["display"] != ""
    finally:
        client.close()
        machine.stop()


def test_the_next_machine_removes_what_a_killed_process_left() -> None:
    child, pids, folder = start_child("pass")
    child.kill()
    child.wait(20)
    assert not wait_until_gone(pids)
    assert folder.exists()
    machine = SandboxMachine(MachineSpec(width=640, height=480))
    machine.start()
    machine.stop()
    assert not folder.exists()


def test_a_machine_leaves_no_file(folders: Path) -> None:
    machine = SandboxMachine(MachineSpec(width=640, height=480))
    machine.start()
    assert list(folders.iterdir())
    machine.stop()
    assert not list(folders.iterdir())
