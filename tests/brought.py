"""A program that a user brought, at the beginning of a task of its own to which set-up was added."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym

from sci_gym.loader import load_app
from sci_gym.specs import Action
from sci_gym.stage import Timing

PATIENT = Timing(wait_s=240, answer_s=120, settle_s=15)


def begun(app: str, task: str, setup: str, folder: Path, interface: str) -> Iterator[gym.Env[Any, Any]]:
    """An environment of a task of `app`, with further `[[setup]]` tables; its file is put in `folder`."""
    known = load_app(app)
    file = folder / f"{task}.toml"
    file.write_text((known.folder / "tasks" / file.name).read_text() + setup)
    env = gym.make(known.env_id, task=file, interface=interface, timing=PATIENT, disable_env_checker=True)
    env.reset(seed=0)
    yield env
    env.close()


def state_of(env: gym.Env[Any, Any]) -> dict[str, Any]:
    world: Any = env.unwrapped
    return dict(world.app.read_state(world.last))


def click(env: gym.Env[Any, Any], role: str, name: str) -> None:
    world: Any = env.unwrapped
    (node,) = [one for one in world.last.showing if (one.role, one.name) == (role, name)]
    env.step(Action.click(*node.box.center))
