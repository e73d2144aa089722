"""Remote desktops: who gets in, what is told, and that each is as fresh as a sandbox's."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sysconfig
import time
import venv
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import gymnasium as gym
import psutil
import pytest

from sci_gym.app import Requirement
from sci_gym.client import VMAgentClient
from sci_gym.errors import (
    ConfigurationError,
    DisconnectedError,
    LaunchError,
    MissingDependencyError,
    ProtocolError,
)
from sci_gym.machines import MachineSpec
from sci_gym.machines.remote import RemoteMachine
from sci_gym.oracle import play
from sci_gym.specs import Action
from sci_gym_vm_agent.door import Door
from tests.kept import Kept, command, free_port, keep, make_certificate
from tests.processes import family, wait_until_gone
from tests.raw import call, channel, metadata

ENV_ID = "SciBoard-KAlgebra-v0"
SPEC = MachineSpec(width=1280, height=800, start_s=30)
SPOKEN_S = 10.0


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    with keep(tmp_path_factory.mktemp("kept")) as daemon:
        yield daemon


@pytest.fixture
def machine(kept: Kept) -> Iterator[RemoteMachine]:
    made = RemoteMachine(SPEC, **kept.options)
    yield made
    made.stop()


def make(kept: Kept, **options: Any) -> Any:
    options = {"machine_options": kept.options, "resolution": (1280, 800), **options}
    return gym.make(ENV_ID, machine="remote", disable_env_checker=True, **options)


def test_an_oracle_earns_the_reward_there_and_each_reset_is_fresh(kept: Kept) -> None:
    env = make(kept, task="product-odd", interface="hybrid")
    try:
        for _ in range(2):
            _, info = env.reset(seed=1)
            assert info["coverage_rate"] == 0
            *_, info = env.step(Action.code("ls -A ~ /tmp; touch ~/left /tmp/left; setsid sleep 1000 &"))
            assert "left" not in info["output"]
            *_, info = env.step(Action.code("ps ax"))
            assert info["output"].count("sleep 1000") <= 1
            rewards = [reward for _, reward, *_ in play(env, env.unwrapped.task.oracle)]
            assert (sum(rewards), env.unwrapped.verdict.success) == (1.0, True)
    finally:
        env.close()


def test_a_certificate_of_someone_else_is_refused_at_once(kept: Kept, tmp_path: Path) -> None:
    _, other = make_certificate(tmp_path, "other")
    stranger = RemoteMachine(SPEC, **{**kept.options, "ca_file": str(other)})
    start_s = time.monotonic()
    with pytest.raises(LaunchError, match=re.compile(rf"{kept.address}.*handshake", re.I)):
        stranger.start()
    assert time.monotonic() - start_s < SPOKEN_S
    assert not stranger.running


def test_a_wrong_token_is_refused(kept: Kept, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("x" * 43)
    stranger = RemoteMachine(SPEC, **{**kept.options, "token_file": str(tmp_path / "token")})
    with pytest.raises(ProtocolError, match="token"):
        stranger.start()


def test_a_connection_without_tls_is_refused(kept: Kept) -> None:
    with channel(kept.address) as opened, pytest.raises(grpc.RpcError) as caught:
        call(opened, "Hello", [b""], metadata(kept.token), SPOKEN_S)
    assert caught.value.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


def test_who_comes_later_takes_the_desktop_and_the_earlier_is_told(kept: Kept) -> None:
    env, other = make(kept, task="product-odd"), RemoteMachine(SPEC, **kept.options)
    try:
        env.reset(seed=1)
        with closing(VMAgentClient(other.start())) as client:
            _, reward, _, truncated, info = env.step(Action.move_to(9, 9))
            assert (reward, truncated, info["infra_error"]["part"]) == (0, True, "machine")
            assert "another session" in info["infra_error"]["message"]
            assert client.cursor() != (9, 9)
        _, info = env.reset(seed=1)
        assert "infra_error" not in env.step(Action.move_to(9, 9))[4]
    finally:
        other.stop()
        env.close()


def test_only_a_claimed_desktop_answers_and_only_to_its_session(machine: RemoteMachine) -> None:
    endpoint = machine.start()
    for session in ("", "0" * 32):
        with closing(VMAgentClient(replace(endpoint, session=session))) as stranger:
            with pytest.raises(DisconnectedError, match="another session"):
                stranger.hello()
            with pytest.raises(DisconnectedError, match="another session"):
                stranger.claim()
    with (
        closing(VMAgentClient(replace(endpoint, session="0" * 32))) as stranger,
        pytest.raises(DisconnectedError, match="another session"),
    ):
        stranger.shutdown()
    with closing(VMAgentClient(endpoint)) as client:
        assert client.hello().screen.width_px == SPEC.width


def test_a_daemon_that_dies_is_told_and_the_next_reset_is_healthy(kept: Kept) -> None:
    env = make(kept, task="product-odd")
    try:
        env.reset(seed=1)
        (daemon,) = kept_daemons(kept)
        daemon.kill()
        *_, truncated, info = env.step(Action.move_to(9, 9))
        assert truncated
        assert info["infra_error"]["part"] in ("daemon", "machine")
        env.reset(seed=1)
        assert "infra_error" not in env.step(Action.move_to(9, 9))[4]
    finally:
        env.close()


def kept_daemons(kept: Kept) -> list[psutil.Process]:
    below = psutil.Process(kept.process.pid).children(recursive=True)
    return [one for one in below if "sci_gym_vm_agent" in one.cmdline() and one.name() != "bwrap"]


def test_the_policy_sees_no_secret_and_no_network(kept: Kept, machine: RemoteMachine) -> None:
    with closing(VMAgentClient(machine.start())) as client:
        look = f"cat /proc/net/dev; ls {kept.ca_file.parent} /run /run/guest; cat /proc/*/environ; ps axeww"
        seen = client.execute(["/bin/sh", "-c", look])
        text = seen.stdout + seen.stderr
    assert [line.split(":")[0].strip() for line in seen.stdout.splitlines()[2:3]] == ["lo"]
    assert kept.token not in text
    assert "daemon.key" not in text
    assert "agent" not in text


def test_the_token_is_in_no_text_of_the_host(kept: Kept, machine: RemoteMachine) -> None:
    endpoint = machine.start()
    texts = [repr(endpoint), repr(machine), (kept.ca_file.parent / "log").read_text()]
    texts.append(subprocess.run(["ps", "axeww"], capture_output=True, text=True, check=True).stdout)
    assert not [text for text in texts if kept.token in text or endpoint.session in text]


def test_it_may_be_installed_where_desktops_have_folders_of_their_own(tmp_path: Path) -> None:
    """Such as below /tmp, which is empty on each desktop."""
    venv.create(tmp_path / "venv", symlinks=True)
    python = tmp_path / "venv/bin/python"
    (site,) = (tmp_path / "venv").glob("lib/*/site-packages")
    packages = sysconfig.get_path("purelib")
    (site / "ours.pth").write_text(f"import site; site.addsitedir({packages!r})\n")
    with keep(tmp_path, python=str(python)) as daemon:
        machine = RemoteMachine(SPEC, **daemon.options)
        with closing(VMAgentClient(machine.start())) as client:
            assert client.screen_size() == (SPEC.width, SPEC.height)
        machine.stop()


def test_what_is_missing_there_is_told_with_the_command(machine: RemoteMachine) -> None:
    machine.require([Requirement("sh", "dash", "it is there"), Requirement("no-such", "nowhere", "a test")])
    with pytest.raises(
        MissingDependencyError, match=r"remote machine needs no-such; install there with.*nowhere"
    ):
        machine.start()
    assert not machine.running


def test_another_screen_is_refused(kept: Kept) -> None:
    other = RemoteMachine(MachineSpec(width=640, height=480), **kept.options)
    with pytest.raises(ConfigurationError, match="1280x800, resolution is 640x480"):
        other.start()


def test_it_cannot_fork(kept: Kept) -> None:
    env = make(kept, task="product-odd")
    try:
        env.reset(seed=1)
        with pytest.raises(ConfigurationError, match="a remote machine cannot fork; use machine='libvirt'"):
            env.unwrapped.fork(2)
    finally:
        env.close()


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL, None])
def test_nothing_is_left_when_the_keeper_ends(tmp_path: Path, end: signal.Signals | None) -> None:
    with keep(tmp_path, token_by_file=end is not None) as kept:
        machine = RemoteMachine(replace(SPEC, start_s=2), **kept.options)
        with closing(VMAgentClient(machine.start())) as client:
            client.launch("sleeper", ["sleep", "1000"])
        processes = family(kept.process.pid)
        assert len(processes) > 5
        if end is None:
            assert kept.process.stdin is not None
            kept.process.stdin.close()
        else:
            kept.process.send_signal(end)
            assert (tmp_path / "token").exists(), "the next keeper needs it again"
        assert not wait_until_gone(processes - {kept.process.pid})
        with pytest.raises(LaunchError, match="--keep"):
            machine.restore()


REFUSED = {
    "every address": (["--listen", "0.0.0.0:1"], "needs --tls-key"),
    "every address, six": (["--listen", "[::]:1"], "needs --tls-key"),
    "a name": (["--listen", "example.org:1"], "needs --tls-key"),
    "kept": (["--listen", "0.0.0.0:1", "--keep"], "needs --tls-key"),
    "half a pair": (["--listen", "0.0.0.0:1", "--tls-key", "/tmp/a.key"], "go together"),
    "a key for all to read": (
        ["--listen", "0.0.0.0:1", "--tls-key", "/etc/passwd", "--tls-cert", "/etc/passwd"],
        "keep it elsewhere",
    ),
}


@pytest.mark.parametrize(("options", "told"), REFUSED.values(), ids=REFUSED)
def test_an_open_door_is_refused(options: list[str], told: str) -> None:
    result = subprocess.run(
        command(*options), input="x" * 43 + "\n", capture_output=True, text=True, timeout=60
    )
    assert result.returncode != 0
    assert told in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("address", ["unix:/a", "127.0.0.1:1", "127.8.0.1:1", "[::1]:1", "localhost:1"])
def test_the_loopback_needs_no_tls(address: str) -> None:
    assert Door(address).key is None


def test_a_network_that_is_the_hosts_alone_needs_no_tls() -> None:
    assert Door("10.0.2.15:1", plain=True).key is None


@pytest.mark.skipif(os.geteuid() != 0, reason="is an ordinary user")
def test_root_keeps_none() -> None:
    line = command("--keep", "--listen", f"127.0.0.1:{free_port()}")
    result = subprocess.run(line, input="x" * 43 + "\n", capture_output=True, text=True, timeout=60)
    assert result.returncode != 0
    assert "ordinary user" in result.stderr


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no address": ({}, "SCI_GYM_REMOTE"),
    "no token": ({"machine_options": {"address": "localhost:1"}}, "SCI_GYM_TOKEN"),
    "no token file": ({"machine_options": {"address": "a:1", "token_file": "/no/where"}}, "token_file: /no"),
    "no certificate": ({"machine_options": {"address": "example.org:1", "token_file": "{token}"}}, "ca_file"),
    "unknown option": ({"machine_options": {"adress": "a:1"}}, "adress.*takes: address, token_file, ca_file"),
    "options of a sandbox": ({"machine": "sandbox", "machine_options": {"address": "a"}}, "takes: none"),
    "spares": ({"machine_options": {"address": "a:1"}, "spares": 1}, "cannot be multiplied"),
    "unknown machine": ({"machine": "remot"}, "Did you mean 'remote'"),
}


@pytest.mark.parametrize(("options", "told"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_is_told_at_make(
    options: dict[str, Any], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SCI_GYM_REMOTE", "SCI_GYM_TOKEN", "SCI_GYM_TOKEN_FILE", "SCI_GYM_CA"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "token").write_text("x" * 43)
    given = options.get("machine_options", {})
    options = {"machine": "remote", **options}
    if given:
        options["machine_options"] = {key: one.format(token=tmp_path / "token") for key, one in given.items()}
    with pytest.raises(ConfigurationError, match=told):
        gym.make(ENV_ID, disable_env_checker=True, **options)


def test_the_environment_can_say_where(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCI_GYM_REMOTE", kept.address)
    monkeypatch.setenv("SCI_GYM_TOKEN", kept.token)
    monkeypatch.setenv("SCI_GYM_CA", str(kept.ca_file))
    machine = RemoteMachine(SPEC)
    assert machine.start().address == kept.address
    machine.stop()
