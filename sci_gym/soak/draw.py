"""What a soak does: samples of the action space, and actions at what is on screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np

from sci_gym.specs import STOP_KINDS, A11yNode, Action

_MAX_TEXT_CHARS = 200
_MAX_WAIT_S = 0.5
_SAMPLED = 0.5
_TEXTS = ("1+1\n", "x:=3\n", "sin(2)\n", "Grüße → ∑\n", "a\tb\n", "(\n", "")
_KEYS = ("enter", "esc", "tab", "down", "up", "space", "backspace", "f10")
_CHORDS = (("ctrl", "a"), ("ctrl", "z"), ("ctrl", "c"), ("ctrl", "v"), ("ctrl", "tab"), ("alt", "tab"))


def draw_action(
    env: gym.Env[Any, Any], marks: Sequence[A11yNode], rng: np.random.Generator, *, may_stop: bool
) -> Action:
    """Draw an action: half of them samples of the action space, half at a mark or the keyboard.

    Of a sample, a text and a wait are cut short, so that a run makes many steps.
    """
    if rng.random() < _SAMPLED:
        action: Action = env.unwrapped.to_action(env.action_space.sample())  # type: ignore[attr-defined]
        if may_stop or action.kind not in STOP_KINDS:
            seconds = min(action.seconds, _MAX_WAIT_S)
            return replace(action, text=action.text[:_MAX_TEXT_CHARS], seconds=seconds)
    return _draw_purposeful(env, marks, rng)


def _draw_purposeful(env: gym.Env[Any, Any], marks: Sequence[A11yNode], rng: np.random.Generator) -> Action:
    place = rng.random()
    if marks and place < 0.6:
        return _draw_at(env, marks[int(rng.integers(len(marks)))], rng)
    if place < 0.8:
        return Action.type(str(rng.choice(_TEXTS)))
    if place < 0.95:
        return Action.press(str(rng.choice(_KEYS)))
    return Action.hotkey(*_CHORDS[int(rng.integers(len(_CHORDS)))])


def _draw_at(env: gym.Env[Any, Any], mark: A11yNode, rng: np.random.Generator) -> Action:
    assert mark.box is not None  # nothing without a place gets a mark
    width, height = env.unwrapped.width, env.unwrapped.height  # type: ignore[attr-defined]
    x, y = mark.box.clip(width, height).center
    how = rng.random()
    if how < 0.7:
        return Action.click(x, y)
    if how < 0.8:
        return Action.double_click(x, y)
    return Action.right_click(x, y) if how < 0.9 else Action.scroll(x, y, int(rng.integers(-5, 6)))
