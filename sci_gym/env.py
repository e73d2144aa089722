"""SciEnv: a program on a desktop as a Gymnasium environment."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from sci_gym import observation as seen
from sci_gym.app import App
from sci_gym.coordinator import Coordinator
from sci_gym.errors import InfrastructureError, UnknownNameError
from sci_gym.evaluation import GraphRun, PredicateSet, right_stop
from sci_gym.spaces import OBSERVATIONS, kinds_for, make_action_space, make_observation_space, to_action
from sci_gym.specs import STOP_KINDS, Action, Evidence, Frame, Kind, Observation, TaskSpec, Verdict

REWARDS = ("sparse", "graph")
TaskDraw = Callable[[np.random.Generator], TaskSpec]


@dataclass(frozen=True, slots=True)
class EnvOptions:
    """What a caller can choose at `gym.make`.

    Attributes:
        observation: a key of `spaces.OBSERVATIONS`.
        reward: "sparse" (1 at the end of a solved episode) or "graph" (each step's change of Coverage Rate).
        interface: "gui", "cli" or "hybrid": which action kinds there are.
        width: of the screen, in pixels.
        height: of the screen, in pixels.
        render_mode: None, "rgb_array" or "human".
    """

    observation: str = "screenshot+a11y"
    reward: str = "graph"
    interface: str = "gui"
    width: int = 1920
    height: int = 1080
    render_mode: str | None = None


class SciEnv(gym.Env[dict[str, Any], Any]):
    """A real program on a real desktop.

    `step` takes an `Action` or an element of `action_space`; it returns the 5-tuple of Gymnasium.

    Observation (a dict; which keys is chosen at make): `screenshot` and `som` uint8 `[height, width, 3]`;
    `a11y` and `marks`, tables as text; `instruction`.

    Info: `task`, `instruction`, `nodes` (on screen) and `marks` (tuples of A11yNode), `graph` (node id to
    status), `coverage_rate`, `logical_consistency`, `success`, `output` (of CODE and API), and `infra_error`
    (`part`, `message`, and the class of the `error`) on a step that a fault of the machine truncated.

    Reward: see `EnvOptions`. `terminated` on DONE, FAIL, ANS; `truncated` on the step limit, on stagnation
    and on a fault of the machine, whose step is no reward of 0 but one to leave out.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium declares it as an instance attribute)
        "render_modes": ["rgb_array", "human"],
        "render_fps": 2,
    }

    def __init__(self, app: App, draw_task: TaskDraw, coordinator: Coordinator, options: EnvOptions) -> None:
        """Build it; nothing starts before `reset`. Use `gym.make` rather than this."""
        if options.reward not in REWARDS:
            raise UnknownNameError("reward", options.reward, REWARDS)
        if options.render_mode not in (None, *self.metadata["render_modes"]):
            raise UnknownNameError("render_mode", str(options.render_mode), self.metadata["render_modes"])
        self.app = app
        self.options = options
        self.width, self.height = options.width, options.height
        self.render_mode = options.render_mode
        self.kinds = kinds_for(options.interface)
        self.action_space: spaces.Dict = make_action_space(self.kinds, self.width, self.height)
        self.observation_space: spaces.Dict = make_observation_space(
            options.observation, self.width, self.height
        )
        self._draw_task = draw_task
        self._coordinator = coordinator
        self._predicates = PredicateSet.of(app)
        self._task: TaskSpec | None = None
        self._last: Observation | None = None
        self._viewer: Any = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode on a fresh desktop; `seed` fixes the task, its parameters and all choices.

        Raises:
            LaunchError: the machine did not come up, however often it was tried.
        """
        super().reset(seed=seed)
        self._task = self._draw_task(self.np_random)
        self._run = GraphRun(self._task.graph, self._predicates, right_stop(self._task))
        self._over = False
        self._steps = self._stagnant = 0
        self._last = self._coordinator.reset(self._task)
        self._run.update(self._evidence(None))
        self._verdict = self._run.verdict(self._evidence(None))
        self._show()
        return self._observe(), self._info()

    def step(
        self, action: Action | Mapping[str, Any]
    ) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Act once, wait for the screen to settle, judge.

        Raises:
            ActionError: the action is outside the action space; nothing was done.
        """
        wanted = self.to_action(action)
        if self._task is None or self._over:
            raise gym.error.ResetNeeded("the episode is over (or none has begun); call reset first")
        try:
            self._last = self._coordinator.act(wanted)
        except InfrastructureError as fault:
            self._over = True
            told = {"part": fault.part, "message": str(fault), "error": type(fault).__name__}
            info = {**self._info(), "infra_error": told}
            return self._observe(), 0.0, False, True, info
        self._steps += 1
        terminated = wanted.kind in STOP_KINDS
        reward = self._judge(self._evidence(wanted if terminated else None))
        truncated = not terminated and self._is_out_of_steps()
        self._over = terminated or truncated
        self._show()
        return self._observe(), reward, terminated, truncated, self._info()

    def render(self) -> Any:
        """The current frame, uint8 `[height, width, 3]`, in mode "rgb_array"; None otherwise."""
        if self.render_mode == "rgb_array" and self._last is not None:
            return self._last.screenshot.copy()
        return None

    def close(self) -> None:
        """End the machine; more than once is fine."""
        self._coordinator.close()
        if self._viewer is not None:
            self._viewer.close()
            self._viewer = None

    def to_action(self, action: Action | Mapping[str, Any]) -> Action:
        """An element of the action space as an `Action`; ActionError when it is outside."""
        return to_action(action, self.kinds, self.action_space)

    @property
    def task(self) -> TaskSpec:
        """The current task, oracle and checks included: for judges and verifiers, not for policies."""
        if self._task is None:
            raise gym.error.ResetNeeded("there is no task yet; call reset first")
        return self._task

    @property
    def last(self) -> Observation:
        """All that the guest showed last, hidden widgets and program state included; not for policies."""
        if self._last is None:
            raise gym.error.ResetNeeded("nothing was observed yet; call reset first")
        return self._last

    @property
    def verdict(self) -> Verdict:
        """How the episode stands."""
        return self._verdict

    @property
    def coordinator(self) -> Coordinator:
        """What drives the desktop: for tools that examine it; not for policies."""
        return self._coordinator

    def stats(self) -> dict[str, Any]:
        """Counters since make (resets, steps, relaunches, faults), and each phase's last duration."""
        return {"counters": dict(self._coordinator.counters), "phases_s": dict(self._coordinator.phases_s)}

    def _judge(self, evidence: Evidence) -> float:
        before = self._verdict
        self._run.update(evidence)
        self._verdict = self._run.verdict(evidence)
        gained = len(self._verdict.completed) - len(before.completed)
        self._stagnant = 0 if gained else self._stagnant + 1
        if self.options.reward == "sparse":
            return float(self._verdict.success)
        return self._verdict.coverage_rate - before.coverage_rate

    def _is_out_of_steps(self) -> bool:
        limit = self.task.stagnation_steps
        return self._steps >= self.task.max_steps or bool(limit and self._stagnant >= limit)

    def _evidence(self, stop: Action | None) -> Evidence:
        return Evidence(
            state={self.app.name: self.app.read_state(self.last)},
            files=self.last.files,
            stop=stop.kind if stop else None,
            answer=stop.text if stop and stop.kind is Kind.ANS else None,
        )

    def _observe(self) -> dict[str, Any]:
        shown = self.last.tree.showing
        marks = seen.find_marks(shown, self.width, self.height)
        make: dict[str, Callable[[], Any]] = {
            "screenshot": lambda: self.last.screenshot.copy(),
            "a11y": lambda: seen.describe_tree(shown, marks),
            "som": lambda: seen.draw_marks(self.last.screenshot, marks),
            "marks": lambda: seen.format_nodes(marks, marks),
        }
        parts = {key: make[key]() for key in OBSERVATIONS[self.options.observation]}
        return {**parts, "instruction": self.task.instruction}

    def _info(self) -> dict[str, Any]:
        verdict = self._verdict
        shown = self.last.tree.showing
        return {
            "task": self.task.id,
            "instruction": self.task.instruction,
            "nodes": shown.nodes,
            "marks": seen.find_marks(shown, self.width, self.height),
            "graph": {node: str(status) for node, status in verdict.status.items()},
            "coverage_rate": verdict.coverage_rate,
            "logical_consistency": verdict.logical_consistency,
            "success": verdict.success,
            "output": self.last.output,
        }

    def _show(self) -> None:
        if self.render_mode != "human":
            return
        if self._viewer is None:
            from sci_gym.viewer import Viewer  # a web server, which nothing else here needs

            self._viewer = Viewer(self.app.title)
            sys.stderr.write(f"{self.app.title} is shown at {self._viewer.open()}\n")
        frame: Frame = self.last.screenshot
        status = f"step {self._steps}, coverage {self._verdict.coverage_rate:.2f}"
        self._viewer.show(frame, self.task.instruction, status)
