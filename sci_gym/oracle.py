"""Plays a task's oracle: finds each step's target on screen, as a person would, and acts there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gymnasium as gym

from sci_gym.errors import ConfigurationError
from sci_gym.specs import A11yNode, A11yTree, Action, OracleStep


class TargetNotFoundError(ConfigurationError):
    """An oracle's step names an object that is not on screen."""


def resolve(step: OracleStep, shown: A11yTree) -> Action:
    """The step's action, at the middle of its target.

    Raises:
        TargetNotFoundError: nothing on screen has the role and name; the message lists what has the role.
    """
    if step.role is None:
        return step.action
    same_role = [node for node in shown if node.role == step.role and node.box is not None]
    found = [node for node in same_role if step.name is None or node.name == step.name]
    try:
        x, y = _middle(found[step.nth])
    except IndexError:
        names = sorted({node.name for node in same_role})
        raise TargetNotFoundError(
            f"oracle: {step.action.kind} at {step.role} {step.name!r} [{step.nth}]: on screen are "
            f"{len(found)} such; with that role: {names}"
        ) from None
    return replace(step.action, x=x, y=y)


def play(
    env: gym.Env[Any, Any], oracle: tuple[OracleStep, ...]
) -> Iterator[tuple[Action, float, bool, bool, dict[str, Any]]]:
    """Step an environment that was reset through an oracle; yields each action with what `step` returned.

    Stops when the episode ends.

    Raises:
        TargetNotFoundError: a target is not on screen.
    """
    for step in oracle:
        action = resolve(step, env.unwrapped.last.showing)  # type: ignore[attr-defined]
        _, reward, terminated, truncated, info = env.step(action)
        yield action, float(reward), terminated, truncated, info
        if terminated or truncated:
            return


def _middle(node: A11yNode) -> tuple[int, int]:
    assert node.box is not None  # a showing node has one
    return node.box.center
