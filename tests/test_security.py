"""Who has no token gets nothing; what the policy's code does to files, processes and commands is bounded."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import psutil
import pytest

from sci_gym.client import VMAgentClient
from sci_gym.errors import ConfigurationError, ProtocolError, SciGymError
from sci_gym.machines import Endpoint, MachineSpec, SandboxMachine
from sci_gym_protos import PROTOCOL_VERSION
from sci_gym_protos import vm_agent_pb2 as pb
from tests.processes import daemons
from tests.raw import METHODS, assert_serves, call, channel, metadata

SIDE = MachineSpec(width=640, height=480)
YEARS_S = 1e9


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    machine = SandboxMachine(SIDE)
    yield machine.start()
    machine.stop()


@pytest.fixture(scope="module")
def daemon(endpoint: Endpoint) -> psutil.Process:
    return psutil.Process(max(daemons()))


@pytest.fixture
def client(endpoint: Endpoint) -> Iterator[VMAgentClient]:
    made = VMAgentClient(endpoint)
    yield made
    made.close()


def run(client: VMAgentClient, script: str, timeout_s: float = 20) -> str:
    result = client.execute(["/bin/bash", "-s"], stdin=script.encode(), timeout_s=timeout_s)
    return result.stdout + result.stderr


def code_of(endpoint: Endpoint, name: str, given: object, timeout_s: float | None = 10) -> grpc.StatusCode:
    with channel(endpoint.address) as opened, pytest.raises(grpc.RpcError) as caught:
        call(opened, name, [b""], given, timeout_s)
    return caught.value.code()


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_call_wants_token_version_and_deadline(endpoint: Endpoint, name: str) -> None:
    token = endpoint.token
    for given in (
        (),
        metadata(""),
        metadata(token[:-1]),
        metadata(token + "x"),
        metadata(token.swapcase()),
        (("authorization", token), ("sci-gym-protocol", str(PROTOCOL_VERSION))),
        (("authorization", f"bearer {token}"), ("sci-gym-protocol", str(PROTOCOL_VERSION))),
    ):
        assert code_of(endpoint, name, given) is grpc.StatusCode.UNAUTHENTICATED
    for version in ("", "0", PROTOCOL_VERSION + 1, f"{PROTOCOL_VERSION}.0", "x" * 5000):
        assert code_of(endpoint, name, metadata(token, version)) is grpc.StatusCode.FAILED_PRECONDITION
    for timeout_s in (None, YEARS_S):
        assert code_of(endpoint, name, metadata(token), timeout_s) is grpc.StatusCode.INVALID_ARGUMENT


def test_a_refused_stream_is_not_read(endpoint: Endpoint) -> None:
    """Who has no token cannot keep a call open by sending on and on."""

    def endless() -> Iterator[bytes]:
        while True:
            yield b""

    with channel(endpoint.address) as opened, pytest.raises(grpc.RpcError) as caught:
        opened.stream_unary("/sci_gym.v1.VmAgent/PutFile")(endless(), timeout=20)
    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED


def test_the_token_is_in_no_text(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    machine = SandboxMachine(SIDE)
    endpoint = machine.start()
    client = VMAgentClient(endpoint, call_s=5)
    try:
        folder = Path(endpoint.address.removeprefix("unix:")).parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        with pytest.raises(SciGymError) as caught:
            client.send("Launch", pb.LaunchRequest(name="a", argv=["/nope"], register_ms=1))
        texts = [repr(endpoint), str(endpoint), repr(client), repr(machine), repr(caught.value), caplog.text]
        texts.append((folder.parent / "daemon.log").read_text())
        texts.append(subprocess.run(["ps", "axeww"], capture_output=True, text=True, check=True).stdout)
        machine.stop()
        with pytest.raises(SciGymError) as caught:
            client.hello()
        texts += [repr(caught.value), repr(caught.value.__cause__)]
        assert not [text for text in texts if endpoint.token in text]
    finally:
        client.close()
        machine.stop()


HOSTILE_COMMANDS = {
    "ignores SIGTERM": "trap '' TERM HUP INT; while :; do :; done",
    "prints without end": "exec yes",
    "complains without end": "exec yes >&2",
    "forks without end": "f() { f | f & }; f; sleep 100",
    "starts sessions without end": "while :; do setsid sleep 100 & done",
    "reads what never comes": "exec 3<>/dev/ptmx; read -u 3",
    "stops itself": "kill -STOP $$",
}


@pytest.mark.parametrize("script", HOSTILE_COMMANDS.values(), ids=HOSTILE_COMMANDS)
def test_a_hostile_command_ends_at_its_time_limit(
    daemon: psutil.Process, client: VMAgentClient, script: str
) -> None:
    before = below(daemon)
    result = client.execute(["/bin/bash", "-c", script], timeout_s=0.7, max_output_bytes=100_000)
    assert result.timed_out
    assert len(result.stdout) + len(result.stderr) <= 100_000
    assert wait_for(lambda: below(daemon) <= before), "its processes are gone"
    assert run(client, "echo alive") == "alive\n"


def test_a_command_is_over_when_it_exits(client: VMAgentClient) -> None:
    """Whatever it left running in the background holds its pipes open."""
    result = client.execute(["/bin/sh", "-c", "setsid sleep 100 & echo done"], timeout_s=30)
    assert (result.stdout, result.exit_code, result.timed_out) == ("done\n", 0, False)


def test_a_cancelled_command_is_reaped(endpoint: Endpoint, daemon: psutil.Process) -> None:
    before = below(daemon)
    request = pb.ExecRequest(argv=["yes"], timeout_ms=60_000, max_output_bytes=2**30).SerializeToString()
    with channel(endpoint.address) as opened:
        stream = opened.unary_stream("/sci_gym.v1.VmAgent/Exec")(
            request, timeout=30, metadata=metadata(endpoint.token)
        )
        next(stream)
        stream.cancel()
    assert wait_for(lambda: below(daemon) <= before), "its processes are gone"


def test_many_commands_leak_nothing(daemon: psutil.Process, client: VMAgentClient) -> None:
    for _ in range(5):
        client.execute(["true"])
    before = daemon.num_fds(), daemon.num_threads(), len(daemon.children(recursive=True))
    for _ in range(int(os.environ.get("SCI_GYM_EXECS", "100"))):
        client.execute(["true"])
    after = daemon.num_fds(), daemon.num_threads(), len(daemon.children(recursive=True))
    assert after <= before


def below(daemon: psutil.Process) -> set[int]:
    return {one.pid for one in daemon.children(recursive=True)}


def wait_for(holds: Callable[[], bool], deadline_s: float = 20) -> bool:
    end = time.monotonic() + deadline_s
    while not holds() and time.monotonic() < end:
        pass
    return holds()


TRICKS = """
cd; rm -rf tricks; mkdir tricks; cd tricks
echo inside > file; ln file hard; ln -s file link; ln -s / root; ln -s .. up; ln -s /proc/self/root proc
mkfifo pipe; mkdir folder; truncate -s 300G sparse; ln -s loop loop
/usr/bin/python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('socket')"
echo closed > closed; chmod 0 closed
"""
UNREADABLE = ("link", "root/etc/passwd", "up/tricks/file", "proc/etc/passwd", "pipe", "folder", "loop",
              "socket", "closed", "none", "file/below")  # fmt: skip


def test_file_tricks_lead_nowhere(client: VMAgentClient) -> None:
    assert run(client, TRICKS) == ""
    paths = [f"tricks/{name}" for name in UNREADABLE]
    for path in paths:
        with pytest.raises(ConfigurationError):
            client.get_file(path)
    files = client.probe(
        pb.ProbeRequest(files=[*paths, "tricks/hard", "tricks/sparse"], max_file_bytes=99)
    ).files
    assert [one.exists for one in files] == [False] * len(UNREADABLE) + [True, True]
    assert files[-2].data == b"inside\n"
    assert files[-1].truncated
    with pytest.raises(ConfigurationError, match="larger than"):
        client.get_file("tricks/sparse", max_bytes=1000)


@pytest.mark.parametrize("name", ["root/tmp/x", "up/x", "proc/tmp/x", "pipe/x", "file/x", "folder", "loop/x"])
def test_nothing_is_written_through_a_trick(client: VMAgentClient, name: str) -> None:
    run(client, TRICKS)
    with pytest.raises(ConfigurationError):
        client.put_file(f"tricks/{name}", b"x")
    assert ".sci-gym" not in run(client, "find ~ /tmp -name '.sci-gym*' 2>/dev/null")


def test_writing_replaces_a_link_and_not_its_target(client: VMAgentClient) -> None:
    run(client, TRICKS)
    for name in ("link", "pipe", "socket", "loop", "hard"):
        client.put_file(f"tricks/{name}", b"new")
        assert client.get_file(f"tricks/{name}") == b"new"
    assert client.get_file("tricks/file") == b"inside\n"


def test_a_full_disk_and_a_closed_home_are_named() -> None:
    machine = SandboxMachine(MachineSpec(width=640, height=480, disk_bytes=10 * 2**20))
    client = VMAgentClient(machine.start())
    try:
        with pytest.raises(ConfigurationError, match="does not fit"):
            client.put_file("big", bytes(30 * 2**20))
        assert ".sci-gym" not in run(client, "ls -a")
        run(client, "chmod 0 ~")
        with pytest.raises(ConfigurationError, match="Permission denied"):
            client.get_file("file")
        with pytest.raises(ConfigurationError, match="Permission denied"):
            client.put_file("file", b"x")
        assert not client.probe(pb.ProbeRequest(files=["file"])).files[0].exists
    finally:
        client.close()
        machine.stop()


# Swaps a folder for a link out of the home, and a file for a link and a pipe, as fast as it can.
RACE = r"""
import os, time
os.chdir(os.path.expanduser("~"))
os.mkdir("raced"); open("raced/environ", "w").write("inside")
print("racing", flush=True)
end = time.monotonic() + 60
while time.monotonic() < end:
    os.rename("raced", "real"); os.symlink("/proc/1", "raced"); os.unlink("raced"); os.rename("real", "raced")
    os.rename("raced/environ", "real"); os.symlink("/proc/1/environ", "raced/environ")
    os.unlink("raced/environ")
    os.mkfifo("raced/environ"); os.rename("real", "raced/environ")
"""


def test_a_race_between_check_and_use_leads_nowhere(endpoint: Endpoint, client: VMAgentClient) -> None:
    request = pb.ExecRequest(argv=["/usr/bin/python3", "-c", RACE], timeout_ms=60_000).SerializeToString()
    with channel(endpoint.address) as opened:
        racing = opened.unary_stream("/sci_gym.v1.VmAgent/Exec")(
            request, timeout=60, metadata=metadata(endpoint.token)
        )
        assert b"racing" in next(racing)
        seen = {read(client) for _ in range(400)}
        assert seen <= {b"inside", None}
        assert racing.is_active(), "it raced to the end"
        racing.cancel()


def read(client: VMAgentClient) -> bytes | None:
    try:
        return client.get_file("raced/environ")
    except ConfigurationError:
        return None


def test_a_file_that_changes_while_it_is_read_is_bounded(endpoint: Endpoint, client: VMAgentClient) -> None:
    grow = "cd; echo go; while :; do head -c 1000000 /dev/zero >> grows; : > grows; done"
    request = pb.ExecRequest(argv=["/bin/sh", "-c", grow], timeout_ms=60_000).SerializeToString()
    with channel(endpoint.address) as opened:
        growing = opened.unary_stream("/sci_gym.v1.VmAgent/Exec")(
            request, timeout=60, metadata=metadata(endpoint.token)
        )
        next(growing)
        for _ in range(50):
            (file,) = client.probe(pb.ProbeRequest(files=["grows"], max_file_bytes=500_000)).files
            assert len(file.data) <= 500_000
        growing.cancel()
    assert_serves(endpoint)


LOOK = r"""
import ctypes, os
for folder, folders, names in os.walk("/"):
    folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/usr")]
    for name in names:
        print("FILE", os.path.join(folder, name))
for pid in filter(str.isdigit, os.listdir("/proc")):
    try: print("ENVIRON", open(f"/proc/{pid}/environ").read().replace("\0", " "))
    except OSError: pass
for name in ("shm", "msg", "sem"):
    print("IPC", len(open(f"/proc/sysvipc/{name}").readlines()) - 1)
print("KEYS", open("/proc/keys").read())
libc = ctypes.CDLL(None)
buffer = ctypes.create_string_buffer(4096)
print("KEY", libc.syscall(%d, 10, -3, b"user", b"sci-gym-host-key", 0))
print("CAPS", [line.split()[1] for line in open("/proc/self/status") if line.startswith("CapEff")])
"""
SEEN_FROM_A_CELL = ("/etc/", "/var/cache/fontconfig/", "/var/lib/texmf/", "/var/lib/dbus/", "/home/user/",
                    "/tmp/", "/run/user/1000/", "/dev/", "/guest/preloads/")  # fmt: skip
KEY_CALLS = {"x86_64": (248, 250), "aarch64": (217, 219)}


def test_a_cell_sees_what_is_documented_and_no_more(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of the host")
    add_key, keyctl = KEY_CALLS[os.uname().machine]
    script = f"""
import ctypes
from sci_gym.client import VMAgentClient
from sci_gym.machines import MachineSpec, SandboxMachine
libc = ctypes.CDLL(None)
libc.syscall({keyctl}, 1, None)
print("ADDED", libc.syscall({add_key}, b"user", b"sci-gym-host-key", b"secret", 6, -3))
machine = SandboxMachine(MachineSpec(width=640, height=480))
client = VMAgentClient(machine.start())
result = client.execute(["/usr/bin/python3", "-"], stdin={(LOOK % keyctl)!r}.encode(), max_output_bytes=2**24)
print(result.stdout, result.stderr)
client.close()
machine.stop()
"""
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    lines = [line.partition(" ") for line in result.stdout.splitlines()]
    told = {kind: [rest for other, _, rest in lines if other == kind] for kind, _, _ in lines}
    assert [path for path in told["FILE"] if not path.startswith(SEEN_FROM_A_CELL)] == []
    assert all("_ses: empty" in keys for keys in told["KEYS"]), "no key of the host"
    assert told["KEY"] == ["-1"], "no key of the host's session"
    assert set(told["IPC"]) == {"0"}
    assert told["CAPS"] == ["['0000000000000000']"]
    environ = " ".join(told["ENVIRON"])
    assert "PYTHONPATH" not in environ
    assert str(Path(sys.prefix)) not in environ
    assert str(secret) not in result.stdout


def test_the_wrong_token_is_an_error_that_names_it(endpoint: Endpoint) -> None:
    stranger = VMAgentClient(Endpoint(endpoint.address, "x" * 43))
    with pytest.raises(ProtocolError, match="token"):
        stranger.hello()
    stranger.close()


def test_an_error_is_shown_as_it_is() -> None:
    """Neither as markup nor as orders to the terminal."""
    command = [Path(sys.executable).with_name("sci-gym"), "tasks", "show", "[/][red]\x1b[2J"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert "[/][red]" in result.stderr
    assert "\x1b[2J" not in result.stderr
