"""An environment as tools that a language model calls, as TRL's GRPOTrainer takes it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from sci_gym.errors import ActionError
from sci_gym.specs import Action
from sci_gym.wrappers.inputs import chord, typing

_OVER = "The episode is over."


class ToolEnv:
    """What TRL's `environment_factory` makes: one rollout's environment, whose public methods are its tools.

    `GRPOTrainer(..., environment_factory=lambda: ToolEnv(gym.make(ID, observation="a11y")))`. The columns
    `task` and `seed` of the data set say which task a row stands for; a model reads the instruction, and the
    observation's texts after each call. TRL gives a tool's error to the model as its result. It closes
    nothing: `env.close()` ends a desktop, and so does the end of the process.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        """Take an environment that was made, a `SciEnv`, perhaps wrapped, that takes `Action`s."""
        self.env = env
        self._reward: float | None = 0.0
        self._over = False
        self._marks: Any = ()

    def reset(self, **row: Any) -> str:
        """Begin an episode; the instruction and what is on screen.

        Args:
            row: `task` and `seed`, as `SciEnv.reset` takes them, both optional; other columns are left alone.
        """
        return self._begin(*self.env.reset(seed=row.get("seed"), options={"task": row.get("task")}))

    def get_reward(self) -> float | None:
        """The episode's rewards so far; None, which TRL leaves out, when a fault of the machine ended it."""
        return self._reward

    def click(self, mark: int) -> str:
        """Click on something.

        Args:
            mark: Its tag, the number at the beginning of its line.

        Returns:
            What is on screen then.
        """
        return self._act([Action.click(*self._place(mark))])

    def double_click(self, mark: int) -> str:
        """Double-click on something.

        Args:
            mark: Its tag, the number at the beginning of its line.

        Returns:
            What is on screen then.
        """
        return self._act([Action.double_click(*self._place(mark))])

    def type_text(self, text: str) -> str:
        """Type a text where the keyboard's focus is.

        Args:
            text: What to type; a line break is the key Enter.

        Returns:
            What is on screen then.
        """
        return self._act(typing(text))

    def press_keys(self, keys: str) -> str:
        """Press a key, or keys together.

        Args:
            keys: Their names, such as "enter" or "ctrl+a".

        Returns:
            What is on screen then.
        """
        return self._act(chord(keys.split("+")))

    def run_code(self, code: str, language: str) -> str:
        """Run code beside the program, or in it.

        Args:
            code: The code.
            language: "shell", "python", or "app" for the program's own commands.

        Returns:
            What it wrote, and what is on screen then.
        """
        return self._act([Action.code(code, language)])

    def answer(self, text: str) -> str:
        """Give the answer to a question; this ends the task.

        Args:
            text: The answer.

        Returns:
            That it is over.
        """
        return self._act([Action.answer(text)])

    def done(self) -> str:
        """Say that the task is done; this ends it.

        Returns:
            That it is over.
        """
        return self._act([Action.done()])

    def fail(self) -> str:
        """Say that the task cannot be done; this ends it.

        Returns:
            That it is over.
        """
        return self._act([Action.fail()])

    def _begin(self, observation: Any, info: dict[str, Any]) -> str:
        self._reward, self._over = 0.0, False
        return f"{info['instruction']}\n\n{self._tell(observation, info)}"

    def _place(self, mark: int) -> tuple[int, int]:
        """The middle of a mark."""
        if not 1 <= mark <= len(self._marks):
            raise ActionError(f"mark {mark}: there are 1 to {len(self._marks)}")
        center: tuple[int, int] = self._marks[mark - 1].box.center
        return center

    def _act(self, actions: list[Action]) -> str:
        for action in actions:
            if self._over:
                return _OVER
            observation, reward, terminated, truncated, info = self.env.step(action)
            self._over = terminated or truncated
            if "infra_error" in info:
                self._reward = None
            elif self._reward is not None:
                self._reward += float(reward)
        return _OVER if self._over else self._tell(observation, info)

    def _tell(self, observation: Any, info: dict[str, Any]) -> str:
        """The observation's texts but for the instruction, and what code wrote."""
        self._marks = info["marks"]
        texts = [text for key, text in observation.items() if isinstance(text, str) and key != "instruction"]
        return "\n\n".join(filter(None, [info["output"] if "text" not in observation else "", *texts]))
