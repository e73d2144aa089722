"""Fixtures over the real thing: a sandbox with its daemon, and KAlgebra in it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import sci_gym  # noqa: F401  (registers the environments)
from sci_gym.client import VMAgentClient
from sci_gym.loader import load_app
from sci_gym.machines import MachineSpec, SandboxMachine
from tests.brought import begun


@pytest.fixture
def client() -> Iterator[VMAgentClient]:
    """A client of a desktop of its own."""
    machine = SandboxMachine(MachineSpec(width=1280, height=800))
    connected = VMAgentClient(machine.start())
    yield connected
    connected.close()
    machine.stop()


@pytest.fixture
def kalgebra(client: VMAgentClient) -> VMAgentClient:
    """A client of a desktop on which KAlgebra runs."""
    (program,) = load_app("kalgebra").programs
    client.launch(
        program.name,
        program.argv,
        env=program.env,
        **program.module,
        register_s=program.register_s,
        max_launches=3,
    )
    return client


@pytest.fixture(scope="module")
def env() -> Iterator[gym.Env[Any, Any]]:
    """KAlgebra as users get it, on a small screen."""
    made = gym.make("SciBoard-KAlgebra-v0", resolution=(1280, 800), disable_env_checker=True)
    yield made
    made.close()


@pytest.fixture
def start(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Any]]:
    """Makes environments of the module's ENV_ID for a task, at the beginning of an episode."""
    made: list[gym.Env[Any, Any]] = []

    def make(task: str) -> Any:
        made.append(gym.make(request.module.ENV_ID, task=task, interface="hybrid", disable_env_checker=True))
        made[-1].reset(seed=0)
        return made[-1]

    yield make
    for env in made:
        env.close()


@pytest.fixture(scope="module")
def hybrid(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[gym.Env[Any, Any]]:
    """The module's TASK, such as ("chimerax", "figure"), with its SETUP, for code and hands alike."""
    yield from begun(*request.module.TASK, request.module.SETUP, tmp_path_factory.mktemp("hybrid"), "hybrid")


@pytest.fixture(scope="module")
def gui(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[gym.Env[Any, Any]]:
    """The same, for hands alone."""
    yield from begun(*request.module.TASK, request.module.SETUP, tmp_path_factory.mktemp("gui"), "gui")


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the machines of this test, and no others, have their folders."""
    with tempfile.TemporaryDirectory() as path:
        Path(path).chmod(0o755)
        monkeypatch.setattr(tempfile, "tempdir", path)
        yield Path(path)
        monkeypatch.undo()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a program that nobody brought, and say what to do."""
    for mark in item.iter_markers("needs_installation"):
        for one in load_app(*mark.args).requirements:
            if one.found is None:
                pytest.skip(f"{one.command} is not there. {one.advice}")
