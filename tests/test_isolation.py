"""What code beside the program can reach: it tries."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sci_gym.client import VMAgentClient
from sci_gym.machines import MachineSpec, SandboxMachine, sandbox

# Runs in the guest as a policy's code would, and prints a line for each door that it found open.
BREAK_OUT = r"""
import glob, os, re, socket
def tell(what): print("OPEN", what)
own = os.getpid()
for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("environ", "cmdline", "maps"):
        try:
            path = f"/proc/{pid}/{name}"
            if b"sci_gym_vm_agent" in open(path, "rb").read(): tell(path)
        except OSError: pass
for pid in range(1, 400):
    if pid in (1, own, os.getppid()): continue
    try: os.kill(pid, 0); tell(f"process {pid} of another cell can be signalled")
    except OSError: pass
for root in ("/opt", "/run", "/root", "/guest", "/tmp", "/home", "/usr", "/etc", "/var"):
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            if re.search(r"sci.gym|/agent\.sock$|vm_agent|kalgebra/tasks", path): tell(path)
for path in ("/etc/shadow", "/root", "/proc/kcore", "/sys/fs/cgroup"):
    try:
        open(path).read(); tell(path)
    except OSError: pass
for line in open("/proc/net/unix"):
    name = line.split()[-1]
    if "agent.sock" not in name: continue
    for address in (name, "\0" + name.lstrip("@")):
        try:
            socket.socket(socket.AF_UNIX).connect(address); tell(address)
        except OSError: pass
for address in (("1.1.1.1", 53), ("10.0.2.2", 22), ("127.0.0.1", 22)):
    try:
        socket.create_connection(address, 0.5); tell(address)
    except OSError: pass
try:
    os.setuid(0); tell("root")
except OSError: pass
print("TRIED")
"""

# Makes the bus start a process of the policy's choice in the bus's own place, if it lets it.
ACTIVATE = r"""
mkdir -p ~/.local/share/dbus-1/services
printf '[D-BUS Service]\nName=org.evil.Helper\nExec=/bin/sh -c "touch /tmp/activated"\n' \
  > ~/.local/share/dbus-1/services/org.evil.Helper.service
for bus in "$DBUS_SESSION_BUS_ADDRESS" "$AT_SPI_BUS_ADDRESS"; do
  for name in org.evil.Helper org.freedesktop.impl.portal.PermissionStore ca.desrt.dconf; do
    dbus-send --bus="$bus" --print-reply --dest=org.freedesktop.DBus / \
      org.freedesktop.DBus.StartServiceByName "string:$name" uint32:0 2>&1 \
      | grep -o 'ServiceUnknown\|method return'
  done
done
ls /tmp/activated 2>&1
"""


def test_code_beside_the_program_reaches_neither_daemon_nor_oracle_nor_host(kalgebra: VMAgentClient) -> None:
    result = kalgebra.execute(["/usr/bin/python3", "-"], stdin=BREAK_OUT.encode(), timeout_s=60)
    assert result.stdout.splitlines() == ["TRIED"], result.stdout + result.stderr


def test_the_buses_start_nothing_for_a_program(client: VMAgentClient) -> None:
    result = client.execute(["/bin/sh", "-s"], stdin=ACTIVATE.encode(), timeout_s=20)
    lines = result.stdout.splitlines()
    assert lines[:6] == ["ServiceUnknown"] * 6, result.stdout + result.stderr
    assert "No such file" in lines[6]


def test_no_secret_stands_in_an_argument_list_or_environment() -> None:
    machine = SandboxMachine(MachineSpec(width=640, height=480))
    token = machine.start().token
    try:
        listing = subprocess.run(["ps", "axeww"], capture_output=True, text=True, check=True).stdout
        assert "sci_gym_vm_agent" in listing
        assert token not in listing
    finally:
        machine.stop()


def test_a_fork_bomb_stays_in_its_cell(client: VMAgentClient) -> None:
    bomb = "import os\nwhile True:\n    os.fork()\n"
    result = client.execute(["/usr/bin/python3", "-"], stdin=bomb.encode(), timeout_s=3)
    assert result.timed_out or "BlockingIOError" in result.stderr
    assert client.execute(["echo", "alive"]).stdout == "alive\n"


def test_memory_is_bounded() -> None:
    machine = SandboxMachine(MachineSpec(width=640, height=480, memory_bytes=300 * 2**20))
    client = VMAgentClient(machine.start())
    try:
        eater = "import time\nkeep = []\nwhile True: keep.append(bytearray(2**20))\n"
        result = client.execute(["/usr/bin/python3", "-"], stdin=eater.encode(), timeout_s=60)
        assert result.exit_code == -9, result
        assert not result.timed_out
        assert client.execute(["echo", "alive"]).stdout == "alive\n"
    finally:
        client.close()
        machine.stop()


def test_the_disk_is_bounded() -> None:
    machine = SandboxMachine(MachineSpec(width=640, height=480, disk_bytes=20 * 2**20))
    client = VMAgentClient(machine.start())
    try:
        result = client.execute(["sh", "-c", "head -c 100000000 /dev/zero > ~/big"])
        assert "No space left" in result.stderr
    finally:
        client.close()
        machine.stop()


START = """
import os
from sci_gym.machines import MachineSpec, SandboxMachine
from sci_gym.client import VMAgentClient
machine = SandboxMachine(MachineSpec(width=640, height=480))
print(os.getuid(), VMAgentClient(machine.start()).execute(["id", "-u"]).stdout)
machine.stop()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become an ordinary user; others are one already")
def test_an_ordinary_user_gets_the_same_sandbox() -> None:
    """Where only root can read the interpreter and this checkout, they are shown as the sandbox does it."""
    become = Path(sandbox.__file__).with_name("_ordinary.py")
    folders = {Path(sys.base_prefix), Path(sys.prefix), Path(__file__).parents[1]}
    result = subprocess.run(
        [
            sys.executable,
            "-IS",
            str(become),
            "65534",
            *map(str, sorted(folders)),
            "--",
            sys.executable,
            "-c",
            START,
        ],
        capture_output=True,
        text=True,
        timeout=60,
        cwd="/",
        env={"PATH": "/usr/bin:/bin"},
    )
    assert result.stdout.split() == ["65534", "1000"], result.stderr
