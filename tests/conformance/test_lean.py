"""Lean keeps what every app and every environment keeps, though there is nothing to see."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from sci_gym.app import App
from sci_gym.env import SciEnv
from sci_gym.envs.lean.toolchain import LEAN as TOOLCHAIN
from sci_gym.errors import ActionError, ConfigurationError
from sci_gym.loader import load_app
from sci_gym.oracle import play
from sci_gym.specs import Action, OracleStep
from sci_gym.testing import AppSuite, EnvSuite

LEAN = next(one for one in load_app("lean").requirements if one.shown)
needs_lean = pytest.mark.skipif(LEAN.found is None, reason=f"no Lean here: {LEAN.advice}")


class TestApp(AppSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def app(cls) -> App:
        return load_app("lean")


@needs_lean
class TestText(EnvSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def env(cls) -> Iterator[gym.Env[Any, Any]]:
        env = gym.make("SciBoard-Lean-v0", task="chain-implications", disable_env_checker=True)
        yield env
        env.close()


@needs_lean
class TestEditor(EnvSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def env(cls) -> Iterator[gym.Env[Any, Any]]:
        env = gym.make(
            "SciBoard-Lean-v0", task="chain-implications", interface="gui", disable_env_checker=True
        )
        yield env
        env.close()


@needs_lean
def test_the_editor_shows_the_goals_that_are_left() -> None:
    env = gym.make("SciBoard-Lean-v0", task="substitute-number", interface="gui", disable_env_checker=True)
    world: SciEnv = env.unwrapped  # type: ignore[assignment]
    try:
        env.reset(seed=1)
        (*until_typed, _saved, _done) = world.task.oracles["editor"]
        list(play(env, tuple(until_typed[:-1])))
        told = OracleStep(Action.click(0, 0), "table cell", "[Lean 4] unsolved goals")
        list(play(env, (OracleStep(Action.type("subst h")), told)))
        assert any(node.name.startswith("⊢ ") for node in world.last.showing)
    finally:
        env.close()


@pytest.fixture
def world() -> Iterator[gym.Env[Any, Any]]:
    env = gym.make("SciBoard-Lean-v0", task="steps-closed-form", render_mode="ansi", disable_env_checker=True)
    yield env
    env.close()


@needs_lean
def test_a_policy_reads_goals_and_writes_tactics(world: gym.Env[Any, Any]) -> None:
    observation, info = world.reset(seed=1)
    assert set(observation) == {"text", "instruction"}, "there is nothing to see"
    assert "⊢ price (n + 1) = price n + 23" in observation["text"]
    assert world.render() == observation["text"]

    observation, reward, *_, info = world.step(Action.code("exact Nat.zero", "app"))
    assert (reward, info["output"].startswith("not kept: ")) == (0, True)
    assert "exact Nat.zero\n" not in observation["text"], "a tactic that fails is not kept"

    observation, reward, *_, info = world.step(Action.code("rfl", "app"))
    assert (reward > 0, info["output"]) == (True, "no goals\n[exit code 0]")
    assert "price_next: proved" in observation["text"]

    observation, reward, *_ = world.step(Action.code("induction n", "app"))
    assert "case succ" in observation["text"], "goals that are left are told"
    observation, *_ = world.step(Action.code("undo", "app"))
    assert "case succ" not in observation["text"]


@needs_lean
def test_a_whole_proof_is_one_action(world: gym.Env[Any, Any]) -> None:
    world.reset(seed=1)
    steps = [step.action for step in world.unwrapped.task.oracle]  # type: ignore[attr-defined]
    *_, info = world.step(steps[0])
    *_, info = world.step(Action.code(f"theorem price_eq\n{steps[1].text}", "app"))
    assert info["coverage_rate"] == 1
    _, _, terminated, _, info = world.step(Action.done())
    assert (terminated, info["success"]) == (True, True)


@needs_lean
def test_work_that_is_undone_does_not_count(world: gym.Env[Any, Any]) -> None:
    world.reset(seed=1)
    for step in world.unwrapped.task.oracle[:-1]:  # type: ignore[attr-defined]
        world.step(step.action)
    world.step(Action.code("theorem price_next\nrestart", "app"))
    _, _, _, _, info = world.step(Action.done())
    assert not info["success"], "a file with a gap does not build"


@needs_lean
def test_a_kind_that_the_interface_lacks_is_refused(world: gym.Env[Any, Any]) -> None:
    world.reset(seed=1)
    with pytest.raises(ActionError, match="click is not allowed here"):
        world.step(Action.click(1, 1))


def test_there_are_no_pixels_to_ask_for_without_the_editor() -> None:
    with pytest.raises(
        ConfigurationError, match="shows nothing with interface='cli'; use observation='text'"
    ):
        gym.make("SciBoard-Lean-v0", observation="screenshot", disable_env_checker=True)


def test_the_default_toolchain_of_elan_is_found(tmp_path: Path) -> None:
    """Of elan's folder, as of a link to its `lean`, which itself only chooses a toolchain."""
    for name in ("leanprover--lean4---v4.20.0", "leanprover--lean4---v4.9.0", "other"):
        (tmp_path / "toolchains" / name / "bin").mkdir(parents=True)
        (tmp_path / "toolchains" / name / "bin" / "lean").touch(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "lean").touch(0o755)
    assert TOOLCHAIN.find(tmp_path) == tmp_path / "toolchains" / "other"
    (tmp_path / "settings.toml").write_text('default_toolchain = "leanprover/lean4:v4.20.0"\n')
    chosen = tmp_path / "toolchains" / "leanprover--lean4---v4.20.0"
    assert TOOLCHAIN.find(tmp_path / "bin" / "lean") == chosen
    assert TOOLCHAIN.find(chosen) == chosen
    assert TOOLCHAIN.holds(tmp_path)
    assert not TOOLCHAIN.holds(chosen), "a command alone is no toolchain"
