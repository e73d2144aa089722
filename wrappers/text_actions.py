"""The base of wrappers whose actions are a language model's text."""

from __future__ import annotations

import abc
import re
import string
from typing import Any, SupportsFloat, cast

import gymnasium as gym
from gymnasium import spaces

from sci_gym.errors import ActionError
from sci_gym.specs import Action
from sci_gym.wrappers.screen import Screen

MAX_REPLY_CHARS = 65_536
"""The longest text that is read as actions."""

MAX_ACTIONS = 256
"""The most actions that one text may stand for."""

_FENCE = re.compile(r"```[ \t]*(?:(?:python3?|py|json)\b)?(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)

Step = tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]


class AnyText(spaces.Text):
    """Every text up to a length, in any script; samples are printable ASCII."""

    def __init__(self, max_length: int) -> None:
        """Give the most characters that a text has."""
        super().__init__(max_length, min_length=0, charset=string.printable)

    def contains(self, x: object) -> bool:
        """Whether it is a text that is short enough."""
        return isinstance(x, str) and len(x) <= self.max_length


class TextActions(gym.ActionWrapper[Any, Any, Any], gym.utils.RecordConstructorArgs, abc.ABC):
    """Takes a text for several actions, and performs them as several steps.

    `step` returns the last of those steps with the rewards summed; `info["actions"]` holds what was
    performed. It stops early when the episode ends. A text that cannot be read, or holds an action
    that is outside the env's action space, raises `ActionError` before anything is performed.
    """

    def __init__(self, env: gym.Env[Any, Any], coordinates: str = "pixel") -> None:
        """Wrap an env.

        Args:
            env: a `SciEnv`, perhaps wrapped; it takes `Action`s.
            coordinates: the unit of the text's coordinates: "pixel", "relative" (0 to 1) or "thousand".
        """
        gym.utils.RecordConstructorArgs.__init__(self, coordinates=coordinates)
        gym.ActionWrapper.__init__(self, env)
        self._base = cast(Any, env.unwrapped)
        self.screen = Screen(self._base.width, self._base.height, coordinates=coordinates)
        self.action_space = AnyText(MAX_REPLY_CHARS)

    @abc.abstractmethod
    def action(self, action: Any) -> list[Action]:
        """Read a text as actions; raises `ActionError`."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; see `SciEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._look(info)
        return observation, info

    def step(self, action: Any) -> Step:
        """Perform a text's actions in order; see the class."""
        actions = self.action(action)
        if not 1 <= len(actions) <= MAX_ACTIONS:
            raise ActionError(f"the text stands for {len(actions)} actions; it may be 1 to {MAX_ACTIONS}")
        for one in actions:
            self._base.to_action(one)  # refuses what the env would, before the first is performed
        tell(self.env, action)
        total = 0.0
        done: list[Action] = []
        for one in actions:
            observation, reward, terminated, truncated, info = self.env.step(one)
            total += float(reward)
            done.append(one)
            self._look(info)
            if terminated or truncated:
                break
        return observation, total, terminated, truncated, {**info, "actions": tuple(done)}

    def _look(self, info: dict[str, Any]) -> None:
        self.screen.marks = info.get("marks", ())
        self.screen.pointer = self._base.last.cursor


def tell(env: gym.Env[Any, Any], said: object) -> None:
    """Let a recorder below know what a policy said, whose actions come next; see `sci_gym.data.Recorder`."""
    if env.has_wrapper_attr("hear"):
        env.get_wrapper_attr("hear")(said)


def unfence(text: str) -> str:
    """The code in a reply: what its ``` fences hold, else all of it."""
    if len(text) > MAX_REPLY_CHARS:
        raise ActionError(f"the text has {len(text)} characters; at most {MAX_REPLY_CHARS} are read")
    blocks = _FENCE.findall(text)
    return "\n".join(blocks) if blocks else text
