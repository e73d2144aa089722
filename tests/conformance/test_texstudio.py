"""TeXstudio keeps what every app and every environment keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

from sci_gym.app import App
from sci_gym.loader import load_app
from sci_gym.testing import AppSuite, EnvSuite

SMALL = {"resolution": (1280, 800), "disable_env_checker": True}


class TestApp(AppSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def app(cls) -> App:
        return load_app("texstudio")


class TestScreenshotAndTree(EnvSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def env(cls) -> Iterator[gym.Env[Any, Any]]:
        env = gym.make("SciBoard-TeXstudio-v0", task="write-abstract", **SMALL)
        yield env
        env.close()
