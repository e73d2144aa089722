"""Spares on the real program: used once, fresh, healthy, within memory, and never left over."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import sci_gym
from sci_gym.coordinator import Coordinator
from sci_gym.errors import ConfigurationError, LaunchError
from sci_gym.loader import load_app, select_tasks
from sci_gym.machines import MachineSpec, SandboxMachine
from tests.processes import below, family, wait_until_gone

SPEC = MachineSpec(width=1280, height=800)
TASK = "product-odd"
IN_THE_MAKING = """
import sys, gymnasium as gym, sci_gym
env = gym.make("SciBoard-KAlgebra-v0", task="product-odd", resolution=(1280, 800), spares=2,
               disable_env_checker=True)
env.reset(seed=0)
while not env.unwrapped.stats()["spares"]["making"]: pass
print("making", flush=True)
sys.stdin.readline()
"""


def until(holds: Callable[[], Any], deadline_s: float = 60) -> None:
    """Poll until a condition holds."""
    end = time.monotonic() + deadline_s
    while not holds():
        assert time.monotonic() < end, "the condition did not come to hold"


@pytest.fixture
def env() -> Iterator[gym.Env[Any, Any]]:
    made = gym.make(
        "SciBoard-KAlgebra-v0", task=TASK, resolution=(1280, 800), spares=1, disable_env_checker=True
    )
    yield made
    made.close()


def counters(env: Any) -> dict[str, int]:
    found: dict[str, int] = env.unwrapped.stats()["counters"]
    return found


def wait_for_spare(env: Any) -> None:
    until(lambda: env.unwrapped.stats()["spares"]["ready"])


def desktops() -> set[int]:
    return set(below("Xvfb"))


def stage(env: Any) -> Any:
    """What the episode is played on."""
    return env.unwrapped._coordinator._stage


def folder(env: Any) -> str:
    return str(stage(env).machine._folder)


def test_a_reset_takes_a_spare_and_its_desktop_is_fresh(env: gym.Env[Any, Any]) -> None:
    env.reset(seed=0)
    env.step(sci_gym.Action.type("leftover:=41\n"))
    wait_for_spare(env)
    used = folder(env)
    observation, info = env.reset(seed=0)
    assert counters(env)["spares_used"] == 1
    assert "leftover" not in env.unwrapped.app.read_state(env.unwrapped.last)["variables"]  # type: ignore[attr-defined]
    assert info["coverage_rate"] == 0
    assert observation["screenshot"].shape == (800, 1280, 3)
    until(lambda: not Path(used).exists())


def test_no_two_resets_give_the_same_machine(env: gym.Env[Any, Any]) -> None:
    seen = []
    for seed in range(3):
        env.reset(seed=seed)
        seen.append(folder(env))
        wait_for_spare(env)
    assert len(set(seen)) == 3
    assert counters(env)["spares_used"] == 2
    until(lambda: len(desktops()) == 2)


def test_a_reset_waits_for_the_spare_in_the_making(env: gym.Env[Any, Any]) -> None:
    env.reset(seed=0)
    env.reset(seed=1)
    assert (counters(env)["spares_made"], counters(env)["spares_used"]) == (1, 1)


@pytest.mark.parametrize("victim", ["Xvfb", "kalgebra", "bwrap"])
def test_a_spare_that_died_is_discarded(env: gym.Env[Any, Any], victim: str) -> None:
    env.reset(seed=0)
    wait_for_spare(env)
    spare = set(below(victim)) - family(stage(env).machine._process.pid)
    assert spare
    for pid in spare:
        with contextlib.suppress(ProcessLookupError):  # gone with one before it
            os.kill(pid, signal.SIGKILL)
    assert not wait_until_gone(spare)
    _, info = env.reset(seed=1)
    assert info["coverage_rate"] == 0
    assert (counters(env)["spares_dead"], counters(env)["spares_used"]) == (1, 0)
    _, _, _, truncated, _ = env.step(sci_gym.Action.wait(0))
    assert not truncated


def test_close_in_the_making_leaves_nothing(folders: Path, env: gym.Env[Any, Any]) -> None:
    threads = {one for one in threading.enumerate() if one.name == "sci-gym-spares"}
    env.reset(seed=0)
    until(lambda: env.unwrapped.stats()["spares"]["making"] and len(desktops()) == 2)
    pids = family(os.getpid()) - {os.getpid()}
    env.close()
    assert not wait_until_gone(pids)
    assert not list(folders.iterdir())
    assert {one for one in threading.enumerate() if one.name == "sci-gym-spares"} <= threads


def test_a_forgotten_environment_leaves_nothing() -> None:
    made: Any = gym.make("SciBoard-KAlgebra-v0", task=TASK, spares=1, disable_env_checker=True)
    made.reset(seed=0)
    until(lambda: len(desktops()) == 2)
    pids = family(os.getpid()) - {os.getpid()}
    del made
    gc.collect()
    assert not wait_until_gone(pids)


def test_closing_again_and_again_leaks_no_descriptor(env: gym.Env[Any, Any]) -> None:
    def open_files() -> int:
        return len(os.listdir("/proc/self/fd"))

    env.reset(seed=0)
    env.close()
    before = open_files()
    for seed in range(2):
        env.reset(seed=seed)
        wait_for_spare(env)
        env.reset(seed=seed)
        env.close()
    until(lambda: open_files() <= before)


@pytest.mark.parametrize(
    ("ending", "number"),
    [
        pytest.param("", signal.SIGKILL, id="kill -9"),
        pytest.param("", signal.SIGINT, id="Ctrl-C"),
        pytest.param("", None, id="exit"),
        pytest.param("raise RuntimeError('user code')", None, id="exception"),
    ],
)
def test_a_process_that_ends_in_the_making_leaves_nothing(ending: str, number: int | None) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", IN_THE_MAKING + ending],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "making\n"
    pids = family(child.pid)
    if number is not None:
        child.send_signal(number)
    child.communicate("\n", timeout=30)
    assert not wait_until_gone(pids)


def test_a_forked_process_leaves_its_parents_spares_alone(env: gym.Env[Any, Any]) -> None:
    env.reset(seed=0)
    wait_for_spare(env)
    pool = env.unwrapped._coordinator._pool  # type: ignore[attr-defined]
    child = os.fork()
    if child == 0:
        empty = pool.summary()["ready"] == 0
        pool.close()
        os._exit(0 if empty else 1)
    assert os.waitpid(child, 0)[1] == 0
    env.reset(seed=1)
    assert counters(env)["spares_used"] == 1


def test_no_spare_is_made_when_memory_is_short() -> None:
    task = select_tasks(load_app("kalgebra"), TASK)(np.random.default_rng(0))
    coordinator = Coordinator(
        lambda: SandboxMachine(SPEC), load_app("kalgebra"), spares=1, reserve_bytes=2**60
    )
    try:
        for times in (1, 2):
            assert coordinator.reset(task).screenshot.shape == (800, 1280, 3)
            until(lambda times=times: coordinator.summary()["counters"]["spares_refused"] == times)
        assert coordinator.summary()["counters"]["spares_made"] == 0
    finally:
        coordinator.close()


def test_a_spare_that_cannot_be_made_is_counted_and_told() -> None:
    task = select_tasks(load_app("kalgebra"), TASK)(np.random.default_rng(0))
    machines = iter([SandboxMachine(SPEC), SandboxMachine(MachineSpec(start_s=0.001))])
    coordinator = Coordinator(lambda: next(machines), load_app("kalgebra"), spares=1)
    try:
        coordinator.reset(task)
        until(lambda: coordinator.summary()["counters"]["spares_failed"])
        assert "not ready within 0.001 s" in coordinator.summary()["spares"]["last_failure"]
        coordinator.reset(task)
        assert coordinator.summary()["counters"]["reset_faults"] == 0
    finally:
        coordinator.close()


def test_a_given_machine_cannot_be_multiplied() -> None:
    with pytest.raises(ConfigurationError, match=r"spares: one given machine.*machine='sandbox'"):
        gym.make("SciBoard-KAlgebra-v0", machine=SandboxMachine(MachineSpec()), spares=1)


def test_a_machine_can_be_stopped_while_it_starts() -> None:
    machine = SandboxMachine(MachineSpec(width=640, height=480))
    faults: list[BaseException] = []

    def start() -> None:
        try:
            machine.start()
        except LaunchError as error:
            faults.append(error)

    before = desktops()
    thread = threading.Thread(target=start)
    thread.start()
    until(lambda: machine._process is not None)
    assert machine.stop()
    thread.join(20)
    assert not thread.is_alive()
    assert len(faults) == 1
    assert not machine.running
    until(lambda: desktops() <= before)


def test_a_process_that_cannot_be_killed_is_told_and_not_raised() -> None:
    class Unkillable(subprocess.Popen[bytes]):
        def wait(self, timeout: float | None = None) -> int:
            raise subprocess.TimeoutExpired("bwrap", timeout or 0)

    machine = SandboxMachine(MachineSpec(width=640, height=480))
    machine.start()
    assert machine._remains is not None
    assert machine._remains.process is not None
    machine._remains.process.__class__ = Unkillable
    assert machine.stop() is False
    assert not machine.running
