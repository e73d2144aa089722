"""Celestia keeps what every app keeps, and on the real program what every environment keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

from sci_gym.app import App
from sci_gym.loader import load_app
from sci_gym.testing import AppSuite, EnvSuite


class TestApp(AppSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def app(cls) -> App:
        return load_app("celestia")


@pytest.mark.needs_installation("celestia")
@pytest.mark.timeout(900)
class TestScreenshotAndTree(EnvSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def env(cls) -> Iterator[gym.Env[Any, Any]]:
        env = gym.make("SciBoard-Celestia-v0", task="set-time", disable_env_checker=True)
        yield env
        env.close()
