"""SciEnv: a program on a desktop as a Gymnasium environment."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from sci_gym import observation as seen
from sci_gym.app import App
from sci_gym.bounds import clean
from sci_gym.coordinator import Coordinator
from sci_gym.episode import EnvSnapshot, Episode
from sci_gym.errors import ConfigurationError, InfrastructureError, UnknownNameError
from sci_gym.evaluation import GraphRun, PredicateSet, right_stop
from sci_gym.spaces import OBSERVATIONS, kinds_for, make_action_space, make_observation_space, to_action
from sci_gym.specs import (
    STOP_KINDS,
    A11yNode,
    A11yTree,
    Action,
    Check,
    Evidence,
    Frame,
    Kind,
    Observation,
    TaskSpec,
    Verdict,
)

REWARDS = ("sparse", "graph")


class TaskDraw(Protocol):
    """Where tasks come from."""

    def __call__(self, rng: np.random.Generator, instead: Any = None) -> TaskSpec:
        """Draw one; from what `instead` selects, as `task` of `gym.make` does, unless it is None."""


@dataclass(frozen=True, slots=True)
class EnvOptions:
    """What a caller can choose at `gym.make`.

    Attributes:
        observation: a key of `spaces.OBSERVATIONS`.
        reward: "sparse" (1 at the end of a solved episode) or "graph" (each step's change of Coverage Rate).
        interface: "gui", "cli" or "hybrid": which action kinds there are.
        width: of the screen, in pixels.
        height: of the screen, in pixels.
        render_mode: None, "rgb_array", "ansi" or "human".
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
    `a11y` and `marks`, tables as text; `text`, how the program stands in words; `instruction`.

    Info: `task`, `instruction`, `nodes` (on screen) and `marks` (tuples of A11yNode), `graph` (node id to
    status), `coverage_rate`, `logical_consistency`, `success`, `output` (of CODE and API), and `infra_error`
    (`part`, `message`, and the class of the `error`) on a step that a fault of the machine truncated.

    Reward: see `EnvOptions`. `terminated` on DONE, FAIL, ANS; `truncated` on the step limit, on stagnation
    and on a fault of the machine, whose step is no reward of 0 but one to leave out.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium declares it as an instance attribute)
        "render_modes": ["rgb_array", "ansi", "human"],
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
        self._episode: Episode | None = None
        self._viewer: Any = None
        self._sources: tuple[Any, ...] | None = None
        self._marked: A11yTree | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode on a fresh desktop.

        Args:
            seed: fixes the task, its parameters and all choices.
            options: `task`: what this episode's task is drawn from, in the place of `task` of `gym.make`.

        Raises:
            LaunchError: the machine did not come up, however often it was tried.
            UnknownNameError, TaskFileError, ConfigurationError: `task` is wrong.
        """
        super().reset(seed=seed)
        self._episode = None
        task = self._draw_task(self.np_random, (options or {}).get("task"))
        run = GraphRun(task.graph, self._predicates, right_stop(task))
        last = self._coordinator.reset(task)
        untouched = self._evidence(last, None)
        run.update(untouched)
        self._episode = Episode(task, run, last, run.verdict(untouched))
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
        episode = self._episode
        if episode is None or episode.over:
            raise gym.error.ResetNeeded("the episode is over (or none has begun); call reset first")
        try:
            episode.last = self._coordinator.act(wanted)
        except InfrastructureError as fault:
            episode.over = True
            told = {"part": fault.part, "message": str(fault), "error": type(fault).__name__}
            info = {**self._info(), "infra_error": told}
            return self._observe(), 0.0, False, True, info
        episode.steps += 1
        terminated = wanted.kind in STOP_KINDS
        reward = self._judge(episode, self._evidence(episode.last, wanted if terminated else None))
        truncated = not terminated and _is_out_of_steps(episode)
        episode.over = terminated or truncated
        self._show()
        return self._observe(), reward, terminated, truncated, self._info()

    def render(self) -> Any:
        """The frame, uint8 `[height, width, 3]`, in mode "rgb_array"; the observation "text" in "ansi"."""
        if self._episode is None or self.render_mode in (None, "human"):
            return None
        return self._text() if self.render_mode == "ansi" else self._episode.last.screenshot.copy()

    def close(self) -> None:
        """End the machine; more than once is fine."""
        self._coordinator.close()
        if self._viewer is not None:
            self._viewer.close()
            self._viewer = None

    def snapshot(self) -> EnvSnapshot:
        """Keep this very state: the desktop's memory, disk and clock, the episode, its random choices.

        Close it when nothing more is to go on from it; closing the environment leaves it.

        Raises:
            ConfigurationError: the machine cannot; the message says which can.
            InfrastructureError: a part of the machine failed.
        """
        episode = self._current
        return EnvSnapshot(self._coordinator.snapshot(), episode, self.np_random)

    def fork(self, n: int, snapshot: EnvSnapshot | None = None) -> list[SciEnv]:
        """As many environments that go on from a snapshot, or from this very state; each is to be closed.

        They are independent, so that threads may step them at once; a reset gives one a fresh desktop, as it
        does here. Spares are not passed on. The same actions in each give the same states.

        Raises:
            ConfigurationError: the machine cannot, or `n` is not positive.
            LaunchError: a desktop did not come up; then none is left.
        """
        if n < 1:
            raise ConfigurationError(f"fork: must make at least 1, not {n}")
        if snapshot is None:
            with self.snapshot() as now:
                return self.fork(n, now)
        coordinators = self._coordinator.fork(snapshot.moment, n)
        return [self._twin(coordinator, snapshot) for coordinator in coordinators]

    def revert(self, snapshot: EnvSnapshot) -> tuple[dict[str, Any], dict[str, Any]]:
        """Go back to a snapshot of this environment or of one it was forked from; returns what `reset` does.

        Raises:
            LaunchError: its desktop did not come up; only `reset` or another `revert` helps then.
        """
        self._episode = None
        self._coordinator.revert(snapshot.moment)
        self._episode, self.np_random = snapshot.recall()
        self._show()
        return self._observe(), self._info()

    def to_action(self, action: Action | Mapping[str, Any]) -> Action:
        """An element of the action space as an `Action`; ActionError when it is outside."""
        return to_action(action, self.kinds, self.action_space)

    @property
    def task(self) -> TaskSpec:
        """The current task, oracle and checks included: for judges and verifiers, not for policies."""
        return self._current.task

    @property
    def last(self) -> Observation:
        """All that the guest showed last, hidden widgets and program state included; not for policies."""
        return self._current.last

    @property
    def verdict(self) -> Verdict:
        """How the episode stands."""
        return self._current.verdict

    @property
    def coordinator(self) -> Coordinator:
        """What drives the desktop: for tools that examine it; not for policies."""
        return self._coordinator

    @property
    def timings_ms(self) -> dict[str, float]:
        """How long the phases of the last reset or step took, by their names in `stats`, in milliseconds."""
        return self._coordinator.timings_ms

    def holds(self, check: Check) -> bool:
        """Whether a check holds of what the guest showed last: for judges and verifiers, not for policies."""
        return self._predicates.holds(check, self._evidence(self.last, None))

    def state(self, name: str) -> Any:
        """What a program's state has below "app.key", else None: for those for whom `holds` is, too."""
        app, _, key = name.partition(".")
        return self._state(self.last).get(app, {}).get(key)

    def stats(self) -> dict[str, Any]:
        """What happened since make, as plain data.

        `counters` (see `stats.COUNTERS`); `faults`: how often each part failed; `phases_ms`: for each phase
        `n`, `min`, `median`, `max` and `last`, over the last 1,000; `spares`: how many are `ready` and in the
        `making`, and `last_failure`. Phases are `reset` and its `setup` and `observe`; `snapshot` and
        `fork`; `machine`, `launch`,
        `ready` of each desktop, spares included; `step` and, as the daemon measures them (see `Phases` in the
        .proto), its `act`, `change`, `settle`, `capture` and `tree`.
        """
        return self._coordinator.summary()

    @property
    def _current(self) -> Episode:
        if self._episode is None:
            raise gym.error.ResetNeeded("no episode has begun; call reset first")
        return self._episode

    def _twin(self, coordinator: Coordinator, snapshot: EnvSnapshot) -> SciEnv:
        twin = SciEnv(self.app, self._draw_task, coordinator, self.options)
        twin.spec = self.spec
        twin._episode, twin.np_random = snapshot.recall()
        return twin

    def _judge(self, episode: Episode, evidence: Evidence) -> float:
        before = episode.verdict
        episode.run.update(evidence)
        episode.verdict = episode.run.verdict(evidence)
        gained = len(episode.verdict.completed) - len(before.completed)
        episode.stagnant = 0 if gained else episode.stagnant + 1
        if self.options.reward == "sparse":
            return float(episode.verdict.success)
        return episode.verdict.coverage_rate - before.coverage_rate

    def _evidence(self, last: Observation, stop: Action | None) -> Evidence:
        return Evidence(
            state=self._state(last),
            files=last.files,
            stop=stop.kind if stop else None,
            answer=stop.text if stop and stop.kind is Kind.ANS else None,
        )

    def _state(self, last: Observation) -> Mapping[str, Mapping[str, Any]]:
        """The parts' states by name; read again only when something that they are read from has changed."""
        sources = (last.tree, last.programs, last.windows, last.files, last.inspections)
        if self._sources is None or self._sources[0] is not sources[0] or self._sources[1:] != sources[1:]:
            self._sources = sources
            self._read = {part.name: part.read_state(last) for part in self.app.parts}
        return self._read

    def _marks(self) -> tuple[A11yNode, ...]:
        shown = self.last.showing
        if shown is not self._marked:
            self._marked, self._found = shown, seen.find_marks(shown, self.width, self.height)
        return self._found

    def _observe(self) -> dict[str, Any]:
        shown, marks = self.last.showing, self._marks()
        make: dict[str, Callable[[], Any]] = {
            "screenshot": lambda: self.last.screenshot.copy(),
            "a11y": lambda: seen.describe_tree(shown, marks),
            "som": lambda: seen.draw_marks(self.last.screenshot, marks),
            "marks": lambda: seen.format_nodes(marks, marks),
            "text": self._text,
        }
        parts = {key: make[key]() for key in OBSERVATIONS[self.options.observation]}
        return {**parts, "instruction": self.task.instruction}

    def _text(self) -> str:
        """What the program says of itself, then what CODE or API returned."""
        said = (self.app.describe(self.last), self.last.output)
        return seen.bounded(clean("\n\n".join(part for part in said if part)))

    def _info(self) -> dict[str, Any]:
        verdict = self.verdict
        return {
            "task": self.task.id,
            "instruction": self.task.instruction,
            "nodes": self.last.showing.nodes,
            "marks": self._marks(),
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
        status = f"step {self._current.steps}, coverage {self.verdict.coverage_rate:.2f}"
        self._viewer.show(frame, self.task.instruction, status)


def _is_out_of_steps(episode: Episode) -> bool:
    limit = episode.task.stagnation_steps
    return episode.steps >= episode.task.max_steps or bool(limit and episode.stagnant >= limit)
