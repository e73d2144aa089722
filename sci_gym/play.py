"""A person does a task in the browser, and is scored like any policy."""

from __future__ import annotations

import time
from typing import Any, cast

import gymnasium as gym

from sci_gym.env import SciEnv
from sci_gym.errors import ActionError
from sci_gym.viewer import Viewer


def play(env: gym.Env[Any, Any], viewer: Viewer, *, seed: int | None, deadline_s: float) -> dict[str, Any]:
    """Play one episode by hand.

    Args:
        env: a `SciEnv`, or wrapped such that its actions are still those of `SciEnv`.
        viewer: interactive and open; it is left open.
        seed: of the episode.
        deadline_s: how long the person has, from the first frame.

    Returns:
        The last step's info; the episode is unfinished when the time was up or the viewer was closed.

    Raises:
        LaunchError: the machine did not come up.
    """
    shown = cast(SciEnv, env.unwrapped)
    _, info = env.reset(seed=seed)
    deadline = time.monotonic() + deadline_s
    steps, over, status = 0, False, _describe(0, info)
    viewer.show(shown.last.screenshot, info["instruction"], status)
    while not over and (action := viewer.next_action(deadline - time.monotonic())) is not None:
        try:
            _, _, terminated, truncated, info = env.step(action)
        except ActionError as error:
            status = f"not done: {error}"
        else:
            steps, over = steps + 1, terminated or truncated
            status = _describe(steps, info, over)
        viewer.show(shown.last.screenshot, info["instruction"], status)
    return info


def _describe(steps: int, info: dict[str, Any], over: bool = False) -> str:
    if "infra_error" in info:
        return f"not scored, the machine failed: {info['infra_error']['message']}"
    score = f"step {steps}, coverage {info['coverage_rate']:.2f}"
    return f"{score}, {'success' if info['success'] else 'no success'}" if over else score
