"""A recorded episode played again on a fresh desktop: does it give the same rewards?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sci_gym.data.episodes import Episode, Step
from sci_gym.env import SciEnv
from sci_gym.errors import ConfigurationError
from sci_gym.loader import load_app, make
from sci_gym.specs import TaskSpec
from sci_gym.tasks import load_template

_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Rerun:
    """What came of it.

    Attributes:
        episode: its name.
        task: id of its task.
        steps: how many were made.
        reward: their sum now.
        recorded_reward: their sum then.
        same_screens: steps, the reset among them, whose screen has the very pixels of then.
        misses: what differs of rewards, subtasks and ends, in words; empty when it is reproduced.
    """

    episode: str
    task: str
    steps: int
    reward: float
    recorded_reward: float
    same_screens: int
    misses: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def rerun(episode: Episode, **options: Any) -> Rerun:
    """Play an episode's actions on a fresh desktop, with its own task, parameters and options.

    Args:
        episode: a recorded one; from a fault of its machine on it is left out.
        options: further ones of `gym.make`, such as `machine`.

    Raises:
        ConfigurationError: its task cannot be had any more.
        LaunchError: no desktop came up.
    """
    task = task_of(episode)
    misses: list[str] = []
    steps, reward, same = 0, 0.0, 0
    with contextlib.closing(_make(episode, options)) as env:
        _, info = env.reset(options={"task": task})
        same += np.array_equal(env.last.screenshot, episode.frame(episode.steps[0]))
        misses += _differences(episode.steps[0], (None, 0.0, False, False, info))
        for _, step in episode.transitions():
            if misses or step.action is None:
                break
            result = env.step(step.action)
            steps, reward = steps + 1, reward + result[1]
            same += np.array_equal(env.last.screenshot, episode.frame(step))
            misses += _differences(step, result)
    return Rerun(episode.name, task.id, steps, reward, episode.total_reward, same, tuple(misses))


def task_of(episode: Episode) -> TaskSpec:
    """The task of a recorded episode, with its parameters and wording.

    Raises:
        ConfigurationError: the file is gone, or gives no such task.
    """
    meta = episode.meta
    app = load_app(meta.app)
    places = (app.folder / "tasks" / f"{meta.task}.toml", Path(meta.source))
    path = next((place for place in places if place.is_file() and place.suffix == ".toml"), None)
    if path is None:
        raise ConfigurationError(
            f"{episode.folder}: its task file is in none of {', '.join(map(str, places))}"
        )
    return load_template(path, app).restore(meta.parameters, meta.instruction)


def _make(episode: Episode, options: dict[str, Any]) -> SciEnv:
    kept = dict(episode.meta.options)
    resolution = kept.pop("width"), kept.pop("height")
    return make(app=episode.meta.app, resolution=resolution, **kept, **options)


def _differences(step: Step, result: tuple[Any, float, bool, bool, dict[str, Any]]) -> Iterator[str]:
    _, reward, terminated, truncated, info = result
    if "infra_error" in info:
        yield f"step {step.step}: fault of the machine: {info['infra_error']['message']}"
        return
    pairs = {
        "reward": (step.reward, reward),
        "terminated": (step.terminated, terminated),
        "truncated": (step.truncated, truncated),
        "success": (step.success, info["success"]),
        "graph": (step.graph, info["graph"]),
    }
    for name, (then, now) in pairs.items():
        same = abs(then - now) < _TOLERANCE if isinstance(then, float) else then == now
        if not same:
            yield f"step {step.step}: {name} was {then}, now {now}"
