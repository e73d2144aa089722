"""The conversation that a language model sees: what to do, what is on screen, what came of its replies."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, SupportsFloat

import gymnasium as gym
from PIL import Image

from sci_gym.errors import ActionError, ConfigurationError
from sci_gym.specs import Frame

Message = dict[str, Any]
Step = tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]

SYSTEM = (
    "You operate a computer. Each message shows its screen. Reply with the next action as pyautogui code, "
    "such as pyautogui.click(x, y); mark 3 is tag_3. Reply WAIT to wait, DONE when the task is done, FAIL "
    "when it cannot be done, ANS('text') to answer a question."
)


class ChatMessages(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Keeps the conversation of an episode as OpenAI-style messages; observations stay as they are.

    It goes around a wrapper that takes text, such as `PyAutoGuiText`:

        observation, info = env.reset(seed=0)
        while not (terminated or truncated):
            reply = model(env.messages())
            observation, reward, terminated, truncated, info = env.step_text(reply)
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        system: str = SYSTEM,
        history: int | None = None,
        images: int = 1,
        max_errors: int = 5,
    ) -> None:
        """Wrap an env.

        Args:
            env: an env whose actions are texts.
            system: the system message; the task's instruction is put below it.
            history: how many past turns are shown beside the present one; None for all.
            images: how many of the newest turns keep their image.
            max_errors: `step_text` truncates after so many unreadable replies in a row.
        """
        gym.utils.RecordConstructorArgs.__init__(
            self, system=system, history=history, images=images, max_errors=max_errors
        )
        gym.Wrapper.__init__(self, env)
        if images < 0 or max_errors < 1 or (history is not None and history < 0):
            raise ConfigurationError("history and images must be at least 0, and max_errors at least 1")
        self._system, self._history, self._images, self._max_errors = system, history, images, max_errors
        self._task = system
        self._errors = 0
        self._turns: list[_Turn] = []
        self._last: tuple[Any, dict[str, Any]] = (None, {})

    def messages(self) -> list[Message]:
        """The conversation so far: system, then user and assistant in turn; the last one is the user's."""
        first = 0 if self._history is None else max(0, len(self._turns) - 1 - self._history)
        turns = [message for turn in self._turns[first:] for message in turn.messages()]
        return [{"role": "system", "content": self._task}, *turns]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode and a conversation; see `SciEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._task = f"{self._system}\n\nTask: {info['instruction']}"
        self._turns = []
        self._see(observation, info)
        return observation, info

    def step(self, action: Any) -> Step:
        """Perform a reply, and add it and what came of it to the conversation; raises `ActionError`."""
        if not self._turns:
            raise gym.error.ResetNeeded("call reset() before step(): there is no conversation yet")
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._turns[-1].reply = str(action)
        self._see(observation, info)
        return observation, reward, terminated, truncated, info

    def step_text(self, reply: str) -> Step:
        """Perform a reply; one that cannot be read is answered in the conversation instead of raised.

        Such a reply gives the last observation again, a reward of 0 and `info["action_error"]`.
        """
        try:
            return self.step(reply)
        except ActionError as exc:
            self._errors += 1
            self._turns[-1].reply = reply
            self._turns.append(_Turn(f"That could not be performed: {exc}"))
            observation, info = self._last
            return (
                observation,
                0.0,
                False,
                self._errors >= self._max_errors,
                {**info, "action_error": str(exc)},
            )

    def _see(self, observation: Any, info: dict[str, Any]) -> None:
        self._errors = 0
        self._last = observation, info
        self._turns.append(_Turn(_text(observation, info), _image(observation)))
        pictured = [turn for turn in self._turns if turn.image]
        for turn in pictured[: max(0, len(pictured) - self._images)]:
            turn.image = ""


@dataclass
class _Turn:
    """What the user says, with a picture's data URL or "", and the assistant's reply to it."""

    text: str
    image: str = ""
    reply: str | None = None

    def messages(self) -> list[Message]:
        parts: list[Message] = [{"type": "text", "text": self.text}]
        if self.image:
            parts.append({"type": "image_url", "image_url": {"url": self.image}})
        said: list[Message] = [{"role": "user", "content": parts}]
        return said if self.reply is None else [*said, {"role": "assistant", "content": self.reply}]


def _text(observation: Mapping[str, Any], info: Mapping[str, Any]) -> str:
    """What a step printed and what is on screen, in words."""
    fault = info.get("infra_error", {})
    said = {"Output": info.get("output"), "Machine fault": fault.get("message")}
    said |= {"Marks": observation.get("marks"), "Accessibility tree": observation.get("a11y")}
    parts = [f"{title}:\n{text}" for title, text in said.items() if text]
    return "\n\n".join(parts) or "The screen now."


def _image(observation: Mapping[str, Any]) -> str:
    """The marked screenshot, else the screenshot, as a PNG data URL; "" where there is neither."""
    frame: Frame | None = observation.get("som", observation.get("screenshot"))
    if frame is None:
        return ""
    data = io.BytesIO()
    Image.fromarray(frame).save(data, format="PNG")
    return f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}"
