"""GRASS GIS keeps what every app and every environment keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

from sci_gym.app import App
from sci_gym.loader import load_app
from sci_gym.specs import Action
from sci_gym.testing import AppSuite, EnvSuite

ENV_ID = "SciBoard-GrassGIS-v0"
SMALL = {"resolution": (1280, 800), "disable_env_checker": True}


class TestApp(AppSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def app(cls) -> App:
        return load_app("grass_gis")


@pytest.mark.timeout(600)
class TestScreenshotAndTree(EnvSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def env(cls) -> Iterator[gym.Env[Any, Any]]:
        env = gym.make(ENV_ID, task="status-bar", **SMALL)
        yield env
        env.close()


def test_the_tree_shows_menus_tools_and_dialogs() -> None:
    env = gym.make(ENV_ID, task="show-raster", **SMALL)
    try:
        env.reset(seed=0)
        shown = {(node.role, node.name) for node in env.unwrapped.last.tree.showing}
        assert {("menu", "Raster"), ("push button", "Add raster map"), ("check box", "Render")} <= shown
        (button,) = [one for one in env.unwrapped.last.tree.showing if one.name == "Add raster map"]
        assert button.box is not None
        _, reward, _, _, info = env.step(Action.click(*button.box.center))
        for _ in range(20):
            if "d.rast" in env.unwrapped.app.read_state(env.unwrapped.last)["windows"]:
                break
            env.step(Action.wait())
        assert ("frame", "d.rast") in {(one.role, one.name) for one in env.unwrapped.last.tree.showing}
        assert "infra_error" not in info
        assert reward == 0
    finally:
        env.close()
