"""After any way out, nothing of a desktop is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sci_gym.errors import DisconnectedError, InfrastructureError
from sci_gym.client import VMAgentClient
from sci_gym.machines import MachineSpec, SandboxMachine

START = """
import os, sys, threading
from sci_gym.machines import MachineSpec, SandboxMachine
machine = SandboxMachine(MachineSpec(width=640, height=480))
def go():
    machine.start()
thread = threading.Thread(target=go)  # a desktop outlives the thread that started it
thread.start(); thread.join()
print(machine._folder, flush=True)
"""


def processes_of(folder: str) -> list[int]:
    """Processes whose command line names a machine's folder, its bwrap processes among them."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and folder.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def family(pid: int) -> set[int]:
    """A process and all below it."""
    children: list[str] = []
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            children += (thread / "children").read_text().split()
    except OSError:
        return set()
    return {pid}.union(*(family(int(child)) for child in children))


def wait_until_gone(pids: set[int], deadline_s: float = 20) -> set[int]:
    end = time.monotonic() + deadline_s
    left = pids
    while left and time.monotonic() < end:
        left = {pid for pid in left if Path(f"/proc/{pid}/cmdline").exists() and not is_zombie(pid)}
    return left


def is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def start_child(ending: str) -> tuple[subprocess.Popen[str], set[int]]:
    child = subprocess.Popen(
        [sys.executable, "-c", START + ending], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    folder = child.stdout.readline().strip()
    pids = set().union(*(family(pid) for pid in processes_of(folder)))
    assert len(pids) >= 8, "a desktop has its X server, buses, registry, window manager and daemon"
    return child, pids


@pytest.mark.parametrize(
    ("ending", "number"),
    [
        pytest.param("sys.stdin.read()", signal.SIGKILL, id="kill -9"),
        pytest.param("sys.stdin.read()", signal.SIGINT, id="Ctrl-C"),
        pytest.param("sys.stdin.read()", signal.SIGTERM, id="terminate"),
        pytest.param("raise RuntimeError('user code')", None, id="exception"),
        pytest.param("os._exit(3)", None, id="_exit"),
    ],
)
def test_nothing_is_left(ending: str, number: int | None) -> None:
    child, pids = start_child(ending)
    if number is not None:
        child.send_signal(number)
    child.communicate(timeout=20)
    assert not wait_until_gone(pids)


def test_a_stopped_daemon_still_dies_with_its_parent() -> None:
    child, pids = start_child("sys.stdin.read()")
    for pid in pids:
        if b"-m\0sci_gym_vm_agent" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGSTOP)
    child.kill()
    child.communicate(timeout=20)
    assert not wait_until_gone(pids)


def test_a_killed_daemon_is_named_and_leaves_nothing() -> None:
    machine = SandboxMachine(MachineSpec(width=640, height=480))
    client = VMAgentClient(machine.start(), call_s=10)
    pids = family(os.getpid()) - {os.getpid()}
    client.hello()
    daemons = [pid for pid in pids if b"-m\0sci_gym_vm_agent\0" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    os.kill(max(daemons), signal.SIGKILL)
    with pytest.raises(DisconnectedError, match="daemon"):
        client.screen_size()
    client.close()
    machine.stop()
    assert not wait_until_gone(pids)


def test_a_dead_display_is_named() -> None:
    machine = SandboxMachine(MachineSpec(width=640, height=480))
    client = VMAgentClient(machine.start(), call_s=20)
    try:
        servers = [pid for pid in family(os.getpid()) if Path(f"/proc/{pid}/comm").read_text() == "Xvfb\n"]
        os.kill(max(servers), signal.SIGKILL)
        with pytest.raises(InfrastructureError, match="display"):
            client.cursor()
        assert client.health()["display"] != ""
    finally:
        client.close()
        machine.stop()


def test_a_machine_leaves_no_file() -> None:
    before = set(Path("/tmp").glob("sci-gym-*"))
    machine = SandboxMachine(MachineSpec(width=640, height=480))
    machine.start()
    machine.stop()
    assert set(Path("/tmp").glob("sci-gym-*")) == before
