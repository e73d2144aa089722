"""What code beside the program can reach: it tries."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from sci_gym.client import VMAgentClient
from sci_gym.machines import MachineSpec, SandboxMachine, sandbox
from sci_gym_vm_agent.syscalls import refusals

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

# A child turns against its parent, which is the same user in the same cell; prints what it could do.
TURN_ON = r"""
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
held = ctypes.create_string_buffer(b"honest")
reader, writer = os.pipe()
parent, place = os.getpid(), ctypes.addressof(held)
class Span(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
def tell(what, result):
    print(what, "done" if result >= 0 else os.strerror(ctypes.get_errno()), flush=True)
child = os.fork()
if not child:
    os.close(writer)
    mine = ctypes.create_string_buffer(b"forged")
    spans = ctypes.byref(Span(ctypes.addressof(mine), 6)), 1, ctypes.byref(Span(place, 6)), 1, 0
    tell("process_vm_readv", libc.process_vm_readv(parent, *spans))
    tell("process_vm_writev", libc.process_vm_writev(parent, *spans))
    descriptor = libc.syscall(438, os.pidfd_open(parent), writer, 0)
    tell("pidfd_getfd", descriptor)
    for flags in (os.O_WRONLY, os.O_RDWR):
        try:
            tell("mem", os.pwrite(os.open(f"/proc/{parent}/mem", flags), b"forged", place))
        except OSError as error:
            print("mem", error.strerror, flush=True)
    tell("ptrace", libc.ptrace(16, parent, None, None))
    os.kill(parent, signal.SIGCONT)
    os._exit(0)
os.waitpid(child, 0)
print(held.value.decode())
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


def test_no_process_of_a_cell_can_speak_for_another(client: VMAgentClient) -> None:
    """Else a command typed in a program's console could report in the name of the program."""
    result = client.execute(["/usr/bin/python3", "-"], stdin=TURN_ON.encode(), timeout_s=20)
    refused = "Operation not permitted"
    calls = ("process_vm_readv", "process_vm_writev", "pidfd_getfd")
    assert result.stdout.splitlines() == [
        *(f"{call} {refused}" for call in calls), *["mem Read-only file system"] * 2, f"ptrace {refused}",
        "honest",
    ], result.stderr  # fmt: skip


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_refused_calls_are_those_of_the_machine(machine: str) -> None:
    """Runs the filter as the kernel would, on every call of both machines and of another."""
    audits = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7, "i386": 0x40000003}
    refused = {"x86_64": {101, 310, 311, 438}, "aarch64": {117, 270, 271, 438}}[machine]
    program = list(struct.iter_unpack("=HBBI", refusals(machine)))
    kinds = {number: run_filter(program, number, audits[machine]) for number in range(600)}
    assert {number for number, kind in kinds.items() if kind != "allow"} == refused
    assert run_filter(program, 0x40000000 + 521, audits[machine]) == "refuse", "x32's ptrace"
    assert run_filter(program, 26, audits["i386"]) == "kill"


def run_filter(program: list[tuple[int, int, int, int]], number: int, audit: int) -> str:
    word, at = 0, 0
    while True:
        code, yes, no, value = program[at]
        at += 1
        if code == 0x20:
            word = {0: number, 4: audit}[value]
        elif code == 0x06:
            return {0x7FFF0000: "allow", 0x80000000: "kill", 0x00050001: "refuse"}[value]
        else:
            at += yes if (word == value if code == 0x15 else word >= value) else no


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
