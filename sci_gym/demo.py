"""The main job in one go: a task's oracle on the real program, recorded, with a page to look at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
from rich.console import Console

from sci_gym.data import Recorder
from sci_gym.oracle import play
from sci_gym.replay import write_replay


def run_demo(
    env_id: str,
    task: str,
    seed: int,
    folder: Path,
    console: Console,
    advance: Callable[[str, int | None], None],
) -> dict[str, Any]:
    """Play a task with its oracle, printing the reward of each step.

    Args:
        env_id: Gymnasium id.
        task: id of the task.
        seed: draws its parameters.
        folder: of the recording and of the page.
        console: where the steps are printed.
        advance: is told what is being done, and the number of steps when it is known.

    Returns:
        What `--json` prints: success, coverage_rate, logical_consistency, rewards, page.
    """
    env = Recorder(gym.make(env_id, task=task, reward="graph", disable_env_checker=True), folder)
    rewards = []
    try:
        _, info = env.reset(seed=seed)
        oracle = env.unwrapped.task.oracle  # type: ignore[attr-defined]
        console.print(f"[bold]{info['task']}[/]: {info['instruction']}")
        for action, reward, _, _, info in play(env, oracle):
            rewards.append(reward)
            advance(f"step {len(rewards)}", len(oracle))
            score = f"reward {reward:+.2f}  coverage {info['coverage_rate']:.2f}"
            console.print(f"  {len(rewards):2} {describe(action):40} {score}", highlight=False)
        episode = env.episode
    finally:
        env.close()
    page = write_replay(episode, folder / "replay.html")
    keys = ("task", "instruction", "success", "coverage_rate", "logical_consistency")
    return {**{key: info[key] for key in keys}, "rewards": rewards, "page": str(page.resolve())}


def describe(action: Any) -> str:
    """An action in a few words."""
    words = {"type": repr(action.text), "press": action.key, "ANS": repr(action.text)}
    point = f"({action.x}, {action.y})" if action.kind.value.lower().endswith("click") else ""
    keys = "+".join((*action.modifiers, action.key)) if action.kind == "hotkey" else ""
    return " ".join(filter(None, (action.kind, words.get(action.kind, ""), point, keys)))
