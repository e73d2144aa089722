"""Plays a task's oracle: finds each step's target on screen, as a person would, and acts there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gymnasium as gym

from sci_gym.env import SciEnv
from sci_gym.errors import ConfigurationError
from sci_gym.specs import A11yNode, A11yTree, Action, OracleStep, Reading

LOOKS = 15
_WORD = re.compile(r"[^\s|]*\w[^\s|]*(?=[\s|])")


class TargetNotFoundError(ConfigurationError):
    """An oracle's step names an object or a text that is not on screen."""


def resolve(step: OracleStep, shown: A11yTree) -> Action:
    """The step's action, at the middle of its target.

    Raises:
        TargetNotFoundError: nothing on screen has the role and name; the message lists what has the role.
    """
    if step.role is None:
        return step.action
    places = [node.index for node in shown if step.label in (None, node.name)]
    start = places[0] if places else len(shown)
    same_role = [node for node in shown.nodes[start:] if node.role == step.role and node.box is not None]
    found = [node for node in same_role if step.name is None or node.name == step.name]
    try:
        x, y = _middle(found[step.nth])
    except IndexError:
        names = sorted({node.name for node in same_role})
        raise TargetNotFoundError(
            f"oracle: {step.action.kind} at {step.role} {step.name!r} [{step.nth}] from {step.label!r}: on "
            f"screen are {len(found)} such; with that role: {names}"
        ) from None
    return replace(step.action, x=x, y=y)


def read(reading: Reading, text: str) -> str | None:
    """The word that stands last after `reading.after` in a text, beyond dots that lead to it; else None."""
    _, found, rest = text.rpartition(reading.after)
    word = _WORD.search(rest) if found else None
    return word[0] if word else None


def play(
    env: gym.Env[Any, Any], oracle: tuple[OracleStep, ...], looks: int = LOOKS
) -> Iterator[tuple[Action, float, bool, bool, dict[str, Any]]]:
    """Step an environment that was reset through an oracle; yields each action with what `step` returned.

    Stops when the episode ends. As a person would, it waits for what is not there yet.

    Args:
        env: a `SciEnv`, wrapped or not.
        oracle: the steps.
        looks: how often it waits, by a WAIT each, for a target or a condition.

    Raises:
        TargetNotFoundError: a target is not on screen, or what is waited for does not come.
    """
    for step in oracle:
        for action in _actions(env, step, looks):
            _, reward, terminated, truncated, info = env.step(action)
            yield action, float(reward), terminated, truncated, info
            if terminated or truncated:
                return


def _actions(env: gym.Env[Any, Any], step: OracleStep, looks: int) -> Iterator[Action]:
    """The actions of a step, each chosen when the one before was done."""
    world: SciEnv = env.unwrapped  # type: ignore[assignment]
    left = looks
    while (action := _due(world, step, last=not left)) is None:
        left -= 1
        yield Action.wait()
    if step.until is None:
        yield action


def _due(world: SciEnv, step: OracleStep, last: bool) -> Action | None:
    """The step's action once what it waits for is there, else None; at the last look an error."""
    try:
        return _chosen(world, step)
    except TargetNotFoundError:
        if last:
            raise
        return None


def _chosen(world: SciEnv, step: OracleStep) -> Action:
    if step.until is not None and not world.holds(step.until):
        raise TargetNotFoundError(f"oracle: waited in vain for {step.until}")
    if step.read is None:
        return resolve(step, world.last.showing)
    text = world.state(step.read.state)
    word = read(step.read, text if isinstance(text, str) else "")
    if word is None:
        raise TargetNotFoundError(f"oracle: nothing stands after {step.read.after!r} in {step.read.state}")
    return replace(step.action, text=word)


def _middle(node: A11yNode) -> tuple[int, int]:
    assert node.box is not None  # a showing node has one
    return node.box.center
