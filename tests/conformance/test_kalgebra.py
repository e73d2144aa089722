"""KAlgebra keeps what every app and every environment keeps, and fits the libraries that people use."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from sci_gym.app import App
from sci_gym.loader import load_app
from sci_gym.specs import Action
from sci_gym.testing import AppSuite, EnvSuite
from sci_gym.wrappers import PyAutoGuiText

ENV_ID = "SciBoard-KAlgebra-v0"
SMALL = {"resolution": (1280, 800), "disable_env_checker": True}
EASY = "product-odd"


class TestApp(AppSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def app(cls) -> App:
        return load_app("kalgebra")


class TestScreenshotAndTree(EnvSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def env(cls) -> Iterator[gym.Env[Any, Any]]:
        env = gym.make(ENV_ID, task=EASY, **SMALL)
        yield env
        env.close()


class TestSetOfMarks(EnvSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def env(cls) -> Iterator[gym.Env[Any, Any]]:
        env = gym.make(ENV_ID, task=EASY, observation="som", reward="sparse", interface="hybrid", **SMALL)
        yield env
        env.close()


def test_stable_baselines_accepts_the_id_for_rl() -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="pip install 'sci-gym[rl]'")
    env = gym.make("SciBoard-KAlgebra-Marks-v0", task=EASY, size=(128, 128), **SMALL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            checker.check_env(env)
    finally:
        env.close()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_stock_vectors_step_two_desktops(mode: str) -> None:
    envs = gym.make_vec(ENV_ID, num_envs=2, vectorization_mode=mode, task=EASY, resolution=(640, 480))
    try:
        observations, infos = envs.reset(seed=5)
        assert observations["screenshot"].shape == (2, 480, 640, 3)
        assert infos["task"].tolist() == [EASY, EASY]
        actions = envs.action_space.sample()
        actions["kind"][:] = 0  # moveTo, which ends no episode
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        assert rewards.shape == (2,)
        assert not (terminated | truncated).any()
    finally:
        envs.close()


def test_pixels_come_back_in_the_order_that_people_see(env: gym.Env[Any, Any]) -> None:
    """The window's title bar is blue, not orange: red and blue are not swapped."""
    observation, _ = env.reset(seed=0)
    red, _, blue = observation["screenshot"][10, 600].astype(int)
    assert blue > red + 30


def test_text_actions_solve_a_task_on_the_real_program() -> None:
    """A policy that writes pyautogui code earns the reward."""
    env = PyAutoGuiText(gym.make(ENV_ID, task=EASY, **SMALL))
    try:
        env.reset(seed=1)
        oracle = env.unwrapped.task.oracle  # type: ignore[attr-defined]
        (typed,) = [step.action.text for step in oracle if step.action.text]
        _, _, terminated, _, info = env.step(f"```python\npyautogui.write({typed!r})\nDONE\n```")
        assert terminated
        assert info["success"]
    finally:
        env.close()


def test_code_runs_in_the_guest_and_its_output_comes_back() -> None:
    env = gym.make(ENV_ID, task=EASY, interface="cli", **SMALL)
    try:
        env.reset(seed=1)
        *_, info = env.step(Action.code("print(6 * 7, __import__('os').getuid())", "python"))
        assert info["output"] == "42 1000\n[exit code 0]"
        *_, info = env.step(Action.api('{"name": "windows.list"}'))
        assert "KAlgebra" in info["output"]
        for action, told in (
            (Action.api("no JSON"), "an API call is"),
            (Action.api('{"name": "windows.open"}'), "known are clipboard.get"),
            (
                Action.api('{"name": "windows.close", "args": {"title": "none such"}}'),
                "no window 'none such'",
            ),
            (Action.code("x", "app"), "KAlgebra has no command language"),
        ):
            *_, info = env.step(action)
            assert told in info["output"], "it is in the action space, so it can be stepped"
    finally:
        env.close()


def test_render_gives_the_frame() -> None:
    env = gym.make(ENV_ID, task=EASY, render_mode="rgb_array", **SMALL)
    try:
        observation, _ = env.reset(seed=1)
        assert np.array_equal(env.render(), observation["screenshot"])
    finally:
        env.close()


def test_a_killed_display_truncates_and_the_next_reset_is_healthy(env: gym.Env[Any, Any]) -> None:
    """A fault of the machine is no reward of 0."""
    env.reset(seed=1)
    (display,) = env.unwrapped.coordinator.machine.parts()["display"]
    os.kill(display, signal.SIGKILL)
    _, reward, terminated, truncated, info = env.step(Action.wait(0))
    assert (reward, terminated, truncated) == (0, False, True)
    assert info["infra_error"]["part"] == "display"
    _, info = env.reset(seed=1)
    assert "infra_error" not in info
    *_, truncated, info = env.step(Action.move_to(5, 5))
    assert not truncated


def test_a_policy_that_closes_the_program_is_no_fault_of_the_machine(env: gym.Env[Any, Any]) -> None:
    env.reset(seed=1)
    _, reward, _, truncated, info = env.step(Action.hotkey("ctrl", "q"))
    assert "infra_error" not in info
    assert (reward, truncated) == (0, False)
    _, reward, terminated, _, info = env.step(Action.done())
    assert (reward, terminated, info["success"]) == (0, True, False)
