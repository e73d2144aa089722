"""Mark ids as actions: a small discrete space for reinforcement learning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsFloat, cast

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from sci_gym.errors import ActionError, ConfigurationError
from sci_gym.specs import A11yNode, Action, Kind
from sci_gym.wrappers.inputs import presses, typing
from sci_gym.wrappers.text_actions import tell

_STOPS = {"DONE": Action.done(), "FAIL": Action.fail()}
_NOTHING = Action(Kind.MOVE_REL)


class MarkActions(gym.ActionWrapper[Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Actions are numbers: clicks on marks, then texts to type, then keys to press, then ways to stop.

    Number i below `max_marks` clicks the middle of mark i + 1 of the last observation. Where there is no
    such mark the step does nothing and `info["invalid_mark"]` is True. `action_masks` says which numbers do
    something, as sb3-contrib's MaskablePPO asks for it.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        max_marks: int = 64,
        texts: Sequence[str] = (),
        keys: Sequence[str] = (),
        stops: Sequence[str] = ("DONE",),
    ) -> None:
        """Wrap an env.

        Args:
            env: a `SciEnv`, perhaps wrapped; it takes `Action`s and its info has "marks".
            max_marks: how many marks can be clicked; later ones are out of reach.
            texts: what can be typed, one action each.
            keys: keys that can be pressed, one action each, such as "enter".
            stops: some of "DONE" and "FAIL".
        """
        gym.utils.RecordConstructorArgs.__init__(
            self, max_marks=max_marks, texts=texts, keys=keys, stops=stops
        )
        gym.ActionWrapper.__init__(self, env)
        if max_marks < 1 or not set(stops) <= set(_STOPS):
            raise ConfigurationError(
                f"max_marks={max_marks}, stops={stops}: at least 1; some of {list(_STOPS)}"
            )
        typed = [action for text in texts for action in typing(text)]
        pressed = [action for key in keys for action in presses(key)]
        self._others = (*typed, *pressed, *(_STOPS[stop] for stop in stops))
        self._max_marks = max_marks
        self._marks: Sequence[A11yNode] = ()
        self.action_space = spaces.Discrete(max_marks + len(self._others))

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which numbers do something now, bool `[n]`."""
        clickable = [self._click(number) is not None for number in range(self._max_marks)]
        return np.array(clickable + [True] * len(self._others), dtype=np.bool_)

    def action(self, action: Any) -> Action:
        """The action that a number stands for now; one that moves nothing where there is no such mark."""
        number = int(action)
        if not self.action_space.contains(number):
            raise ActionError(f"action {number} is outside {self.action_space}")
        if number >= self._max_marks:
            return self._others[number - self._max_marks]
        return self._click(number) or _NOTHING

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; see `SciEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._marks = info.get("marks", ())
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Perform what a number stands for; `info["invalid_mark"]` tells that it stood for nothing."""
        chosen = self.action(action)
        tell(self.env, int(action))
        observation, reward, terminated, truncated, info = self.env.step(chosen)
        self._marks = info.get("marks", ())
        return observation, reward, terminated, truncated, {**info, "invalid_mark": chosen is _NOTHING}

    def _click(self, number: int) -> Action | None:
        box = self._marks[number].box if number < len(self._marks) else None
        if box is None:
            return None
        base = cast(Any, self.env.unwrapped)
        seen = box.clip(base.width, base.height)
        return Action.click(*seen.center) if seen.width and seen.height else None
