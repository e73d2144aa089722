"""Virtual machines: the choice of an accelerator, the control channel, and clones of the real thing."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import psutil
import pytest

from sci_gym.client import VMAgentClient
from sci_gym.data import DIALECTS, DataSet, Recorder
from sci_gym.data.exports import Pictures, Writer, find_pairs
from sci_gym.data.merge import merge
from sci_gym.errors import (
    ConfigurationError,
    DeadlineError,
    DisconnectedError,
    InfrastructureError,
    LaunchError,
    MissingDependencyError,
    ProtocolError,
)
from sci_gym.images import Image, add_image, find_image
from sci_gym.machines import Endpoint, MachineSpec, _accel, _state
from sci_gym.machines._console import Console
from sci_gym.machines._domain import check as check_libvirt
from sci_gym.machines._intact import describe, is_intact, looks_intact
from sci_gym.machines._qemu import PREFIX
from sci_gym.machines._qmp import Line, Monitor
from sci_gym.machines.libvirt import LibvirtMachine
from sci_gym.oracle import play
from sci_gym.specs import Action
from tests.virtual import SPEC, make_machine

_CALL_S = 60.0
_GONE_S = 10.0
_CONNECT = """
import socket
for end in {ends}:
    try:
        socket.create_connection(end, 5).close()
        print("open")
    except OSError:
        print("closed")
"""


def test_the_variable_decides_on_the_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("kvm", "tcg"):
        monkeypatch.setenv(_accel.VARIABLE, name)
        assert _accel.accelerator()[0] == name
    monkeypatch.setenv(_accel.VARIABLE, "fast")
    with pytest.raises(ConfigurationError, match="kvm, tcg"):
        _accel.accelerator()


@pytest.mark.parametrize(("flags", "expected"), [("fpu sse2", "tcg"), ("fpu svmx", "tcg")])
def test_without_the_flag_a_device_is_not_enough(
    monkeypatch: pytest.MonkeyPatch, flags: str, expected: str
) -> None:
    monkeypatch.delenv(_accel.VARIABLE, raising=False)
    monkeypatch.setattr(Path, "read_text", lambda path: f"model : x\nflags\t\t: {flags}\n")
    assert _accel.accelerator()[0] == expected


@pytest.fixture
def channel() -> Iterator[tuple[Line, socket.socket]]:
    ours, theirs = socket.socketpair()
    line = Line(ours)
    yield line, theirs
    line.close()
    theirs.close()


def test_commands_are_answered_and_events_kept(channel: tuple[Line, socket.socket]) -> None:
    line, qemu = channel
    said = [{"QMP": {}}, {"return": {}}, _event("setup"), {"return": {"value": 1}}, _event("completed")]
    qemu.sendall("".join(f"{json.dumps(one)}\n" for one in said).encode())
    monitor = Monitor(line, 1.0)
    assert monitor.do("query") == {"value": 1}
    monitor.wait_for_move(1.0)


def test_what_qemu_refuses_is_told(channel: tuple[Line, socket.socket]) -> None:
    line, qemu = channel
    said = [{"QMP": {}}, {"return": {}}, {"error": {"desc": "no such thing"}}, _event("failed")]
    qemu.sendall("".join(f"{json.dumps(one)}\n" for one in said).encode())
    monitor = Monitor(line, 1.0)
    with pytest.raises(InfrastructureError, match="query: no such thing"):
        monitor.do("query")
    with pytest.raises(InfrastructureError, match="failed"):
        monitor.wait_for_move(1.0)


def test_a_silent_qemu_meets_the_deadline_and_a_dead_one_is_told(channel: tuple[Line, socket.socket]) -> None:
    line, qemu = channel
    with pytest.raises(DeadlineError):
        line.read(time.monotonic() + 0.05)
    qemu.close()
    with pytest.raises(DisconnectedError):
        line.read(time.monotonic() + 1)


def test_a_line_without_an_end_is_refused(channel: tuple[Line, socket.socket]) -> None:
    line, guest = channel
    talk = threading.Thread(target=_talk, args=(guest,))
    talk.start()
    with pytest.raises(ProtocolError, match="more than"):
        line.read(time.monotonic() + _CALL_S)
    line.close()
    talk.join()


def test_of_a_console_the_end_is_kept() -> None:
    ours, theirs = socket.socketpair()
    console = Console(ours)
    with theirs:
        for number in range(2000):
            theirs.sendall(f"line {number}\n".encode())
    text = console.text(ended=True)
    assert text.endswith("line 1999")
    assert len(text) <= 4096


def test_without_qemu_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(MissingDependencyError, match=r"apt-get install .*qemu-system-x86"):
        LibvirtMachine(MachineSpec()).start()


@pytest.fixture(scope="module")
def machine() -> Iterator[LibvirtMachine]:
    """One clone; tests may restore it."""
    made = make_machine()
    made.start()
    yield made
    made.stop()


@pytest.mark.timeout(900)
def test_clones_share_neither_token_nor_randomness_nor_port(machine: LibvirtMachine) -> None:
    other = LibvirtMachine(SPEC)
    try:
        ends = [machine.restore(), other.start()]
        with pytest.raises(ProtocolError, match="token"):
            _ask(dataclasses.replace(ends[0], token=ends[1].token), "true")
        script = "import os; print(os.urandom(16).hex())"
        assert _ask(ends[0], "python3", "-c", script) != _ask(ends[1], "python3", "-c", script)
        assert ends[0].address != ends[1].address
    finally:
        other.stop()


@pytest.mark.timeout(900)
def test_a_clone_has_the_time_of_the_host(machine: LibvirtMachine) -> None:
    told = float(_ask(machine.restore(), "date", "+%s.%N"))
    assert abs(told - time.time()) < _CALL_S


@pytest.mark.timeout(900)
def test_a_restored_machine_knows_nothing_of_before(machine: LibvirtMachine) -> None:
    _ask(machine.restore(), "sh", "-c", "echo dirty > ~/left; sync")
    assert _ask(machine.restore(), "sh", "-c", "ls ~") == ""


@pytest.mark.timeout(900)
def test_the_forwarded_port_listens_on_loopback_only(machine: LibvirtMachine) -> None:
    machine.restore()
    listening = [one.laddr.ip for one in _qemu(machine).net_connections() if one.status == "LISTEN"]
    assert listening == ["127.0.0.1"]


@pytest.mark.timeout(900)
def test_a_snapshot_goes_on_in_any_number_of_machines(machine: LibvirtMachine) -> None:
    _ask(machine.restore(), "sh", "-c", "echo kept > ~/kept")
    moment = machine.snapshot()
    try:
        forks = [moment.fork() for _ in range(2)]
        try:
            for number, fork in enumerate(forks):
                assert _ask(fork.start(), "sh", "-c", f"cat ~/kept; echo {number} >> ~/kept") == "kept"
            assert _ask(forks[1].restore(), "cat", "/home/user/kept") == "kept"
        finally:
            for fork in forks:
                fork.stop()
    finally:
        moment.drop()
    with pytest.raises(ConfigurationError, match="dropped"):
        moment.fork()


@pytest.mark.timeout(900)
def test_a_killed_machine_is_told_and_restored(machine: LibvirtMachine) -> None:
    machine.restore()
    _qemu(machine).kill()
    fault = machine.fault()
    assert isinstance(fault, DisconnectedError)
    assert "signal 9" in str(fault)
    assert not machine.running
    assert _ask(machine.restore(), "echo", "back") == "back"


@pytest.mark.timeout(900)
def test_a_stopped_machine_is_told(machine: LibvirtMachine) -> None:
    machine.restore()
    assert machine.fault() is None
    _qemu(machine).suspend()
    assert "stopped" in str(machine.fault())


@pytest.mark.timeout(900)
def test_a_guest_that_stands_still_is_told(machine: LibvirtMachine) -> None:
    machine.restore()
    assert machine._qemu is not None
    machine._qemu.monitor.do("stop")
    assert "stands still: paused" in str(machine.fault())


@pytest.mark.timeout(900)
def test_a_kept_machine_that_is_damaged_is_made_anew(machine: LibvirtMachine) -> None:
    machine.restore()
    assert machine.saved is not None
    with (machine.saved.folder / "devices").open("r+b") as devices:
        devices.write(b"these are no devices")
    with pytest.raises(LaunchError):
        machine.restore()
    assert not machine.prepared()
    assert _ask(machine.restore(), "echo", "back") == "back"


def test_a_change_of_a_kept_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "memory"
    with path.open("wb") as memory:
        memory.write(b"begin")
        memory.truncate(2**24)
        memory.seek(2**23)
        memory.write(b"middle")
    described = describe(tmp_path, ["memory", "devices"])
    assert list(described) == ["memory"]
    assert is_intact(tmp_path, described)
    with path.open("r+b") as memory:
        memory.seek(2**23 + 1)
        memory.write(b"!")
    assert looks_intact(tmp_path, described)
    assert not is_intact(tmp_path, described)
    os.truncate(path, 2**20)
    assert not looks_intact(tmp_path, described)


@pytest.mark.timeout(900)
def test_a_damaged_state_is_told(machine: LibvirtMachine, tmp_path: Path) -> None:
    machine.restore()
    saved = machine.saved
    assert saved is not None
    for path in saved.folder.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "devices").unlink()
    (tmp_path / "devices").write_bytes(b"not a state")
    with pytest.raises(LaunchError):
        LibvirtMachine(SPEC, origin=dataclasses.replace(saved, folder=tmp_path)).start()


@pytest.mark.timeout(900)
def test_a_killed_parent_leaves_nothing(machine: LibvirtMachine, folders: Path) -> None:
    script = (
        "import sys; from tests.virtual import make_machine; m = make_machine(); m.start();"
        "print(m._remains.process.pid, flush=True); sys.stdin.read()"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": tempfile.gettempdir()}, cwd=Path(__file__).parents[1],
    )  # fmt: skip
    try:
        assert parent.stdout is not None
        qemu = psutil.Process(int(parent.stdout.readline()))
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        qemu.wait(_GONE_S)
    finally:
        parent.kill()
        parent.communicate()
    assert list(folders.glob(f"{PREFIX}*"))
    other = LibvirtMachine(SPEC)
    other.start()
    try:
        assert len(list(folders.glob(f"{PREFIX}*"))) == 1
    finally:
        other.stop()
    assert not list(folders.glob(f"{PREFIX}*"))


@pytest.fixture(scope="module")
def env() -> Iterator[gym.Env[Any, Any]]:
    """KAlgebra in a virtual machine."""
    made = gym.make(
        "SciBoard-KAlgebra-v0", machine=make_machine(), task="plot-2d-and-value",
        resolution=(SPEC.width, SPEC.height), disable_env_checker=True,
    )  # fmt: skip
    yield made
    made.close()


@pytest.mark.program
@pytest.mark.timeout(1500)
def test_the_same_actions_from_one_snapshot_give_the_same_state(env: gym.Env[Any, Any]) -> None:
    playing: Any = env.unwrapped
    env.reset(seed=1)
    env.step(Action.type("a:=5\n"))
    with playing.snapshot() as moment:
        forks = playing.fork(2, moment)
        seen = []
        for fork in forks:
            try:
                observation, *_, info = fork.step(Action.type("b:=a+2\n"))
                assert "infra_error" not in info
                seen.append((observation["a11y"], fork.app.read_state(fork.last)))
            finally:
                fork.close()
        playing.revert(moment)
        assert "b" not in playing.app.read_state(playing.last)["variables"]
    assert seen[0] == seen[1]
    assert seen[0][1]["variables"]["b"] == "7"


@pytest.mark.program
@pytest.mark.timeout(1500)
def test_forks_that_are_recorded_make_a_preference_pair(env: gym.Env[Any, Any], tmp_path: Path) -> None:
    """What was typed next parts them; what they share is recorded in each."""
    recorder = Recorder(env, tmp_path / "data")
    recorder.reset(seed=1)
    oracle: Any = recorder.unwrapped
    walk = play(recorder, oracle.task.oracle)
    next(walk)
    good, bad = recorder.fork(2)
    try:
        for _ in play(good, oracle.task.oracle[1:]):
            pass
        bad.step(Action.fail())
    finally:
        good.close(), bad.close()
    origin, *branches = DataSet(tmp_path / "data")
    assert [one.result for one in (origin, *branches)] == ["unfinished", "success", "failure"]
    assert all(one.steps[:2] == origin.steps for one in branches)
    assert all(one.meta.forked_from == origin.meta.started_unix_s for one in branches)
    list(merge([origin, *branches], tmp_path / "merged"))
    writer = Writer(DIALECTS["pyautogui"], Pictures(tmp_path / "pictures"))
    pairs = list(find_pairs(DataSet(tmp_path / "merged"), writer))
    (better,) = [better for better, worse in pairs if worse.words == "FAIL"]
    assert (better.episode.result, better.before.step) == ("success", 1)


@pytest.mark.program
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_step_tells_a_machine_that_ends_and_the_next_reset_is_healthy(
    env: gym.Env[Any, Any], number: int
) -> None:
    env.reset(seed=1)
    machine: Any = env.unwrapped.coordinator.machine  # type: ignore[attr-defined]
    _qemu(machine).send_signal(number)
    *_, truncated, info = env.step(Action.wait(0))
    assert truncated
    assert info["infra_error"]["part"] == "virtual machine"
    env.reset(seed=1)
    *_, info = env.step(Action.wait(0))
    assert "infra_error" not in info


@pytest.mark.timeout(900)
def test_libvirt_starts_the_same_machines(machine: LibvirtMachine) -> None:
    """The embedded driver, whose clones go on from what QEMU alone has booted."""
    try:
        check_libvirt()
    except MissingDependencyError as error:
        pytest.skip(str(error))
    driven = LibvirtMachine(SPEC, driver="libvirt")
    try:
        assert _ask(driven.start(), "sh", "-c", "echo kept > ~/kept; cat ~/kept") == "kept"
        moment = driven.snapshot()
        fork = moment.fork()
        try:
            assert _ask(fork.start(), "cat", "/home/user/kept") == "kept"
            processes = [psutil.Process(pid) for pid in fork.parts()["virtual machine"]]
            assert len(processes) > 1
        finally:
            fork.stop()
            moment.drop()
        assert not psutil.wait_procs(processes, _GONE_S)[1]
        _qemu(driven).kill()
        assert isinstance(driven.fault(), DisconnectedError)
    finally:
        driven.stop()


@pytest.fixture
def own_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Image:
    """A disk that was brought, in a cache of its own."""
    make_machine()
    built = find_image(())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return add_image(built.disk, built.packages, built.kernel, built.initrd, "brought=1")


@pytest.mark.timeout(900)
def test_a_brought_disk_boots_and_is_forked_by_copying_where_memory_cannot_be_mapped(
    own_image: Image,
) -> None:
    spec = MachineSpec(width=640, height=480, memory_bytes=2**28, disk_bytes=2**26)
    copied = LibvirtMachine(spec, own_image.key, fork="copied")
    try:
        assert "brought=1" in _ask(copied.start(), "sh", "-c", "echo kept > ~/kept; cat /proc/cmdline")
        assert (copied.facts()["image"], "read the memory" in copied.facts()["fork"]) == (own_image.key, True)
        moment = copied.snapshot()
        fork = moment.fork()
        try:
            assert _ask(fork.start(), "cat", "/home/user/kept") == "kept"
        finally:
            fork.stop()
            moment.drop()
    finally:
        copied.stop()


@pytest.mark.timeout(900)
@pytest.mark.parametrize("network", [False, True])
def test_the_guest_reaches_the_host_only_where_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, network: bool
) -> None:
    """Even code that has left its cell: it is given all that the guest itself has."""
    make_machine()  # or it is skipped
    plain = _state._daemon_arguments
    monkeypatch.setattr(_state, "_daemon_arguments", lambda spec, network: plain(spec, True))
    other = LibvirtMachine(MachineSpec(width=640, height=480, memory_bytes=2**28), network=network)
    with contextlib.ExitStack() as servers:
        own = [servers.enter_context(socket.create_server((one, 0))) for one in _own_addresses()]
        ends = [server.getsockname() for server in own]
        ends.append(("10.0.2.2", ends[0][1]))  # this host's loopback, as guests see it
        try:
            told = _ask(other.start(), "python3", "-c", _CONNECT.format(ends=ends[1:]))
        finally:
            other.stop()
    assert set(told.split()) == {"open" if network else "closed"}


def _own_addresses() -> list[str]:
    """This host's IPv4 addresses, the loopback's first."""
    told = [one for some in psutil.net_if_addrs().values() for one in some if one.family == socket.AF_INET]
    return sorted((one.address for one in told), key=lambda address: not address.startswith("127."))


def _event(status: str) -> dict[str, object]:
    return {"event": "MIGRATION", "data": {"status": status}}


def _talk(guest: socket.socket) -> None:
    """Say something without an end until nobody listens."""
    with contextlib.suppress(OSError):
        while True:
            guest.sendall(b"x" * 65536)


def _ask(endpoint: Endpoint, *command: str) -> str:
    client = VMAgentClient(endpoint, _CALL_S)
    try:
        return client.execute(command).stdout.strip()
    finally:
        client.close()


def _qemu(machine: LibvirtMachine) -> psutil.Process:
    assert machine._remains is not None
    assert machine._remains.process is not None
    return psutil.Process(machine._remains.process.pid)
