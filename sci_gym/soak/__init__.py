"""Random actions over many episodes, checked at every step, and what the run leaves behind.

At every step: the 5-tuple and its types, an observation inside the observation space, no exception but those
that `step` documents, no fault of the machine. Every few steps: the accessibility tree that the daemon keeps
against one that it reads anew. Over the run: no process, file, socket, descriptor, thread or segment of
shared memory is left, and memory does not grow. A program that the policy closed, or that crashed by its own
mistake, is counted apart.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np

from sci_gym.env import SciEnv
from sci_gym.errors import ActionError, CrashError, InfrastructureError
from sci_gym.soak.compare import compare_trees
from sci_gym.soak.draw import draw_action
from sci_gym.soak.leaks import Memory, Owned, leaks
from sci_gym.specs import Action

__all__ = ["Report", "soak"]


@dataclass
class Report:
    """What a soak met.

    Attributes:
        resets: that were made.
        steps: that were made.
        faults: steps and resets that failed, in words.
        closed: episodes in which the policy closed a program.
        crashed: episodes that ended with a crash of a program, which is its own mistake.
        refused: actions that the guest refused, as documented.
        retried: faults of resets that were tried again, which no user sees.
        comparisons: of the kept tree with a fresh one.
        mismatches: comparisons that differ, in words.
        leaks: what was left over, in words.
        memory_mib: of this process and of the daemon, the medians of the run's first and last third.
        seconds: of the whole run.
        steps_per_s: steps by the time they took, resets left out.
        interrupted: whether Ctrl-C ended it before all steps were made.
    """

    resets: int = 0
    steps: int = 0
    faults: list[str] = field(default_factory=list)
    closed: int = 0
    crashed: int = 0
    refused: int = 0
    retried: int = 0
    comparisons: int = 0
    mismatches: list[str] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)
    memory_mib: dict[str, tuple[float, float]] = field(default_factory=dict)
    seconds: float = 0.0
    steps_per_s: float = 0.0
    interrupted: bool = False

    @property
    def misses(self) -> list[str]:
        """All that must not be."""
        return [*self.faults, *self.mismatches, *self.leaks]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "misses": len(self.misses)}


def soak(
    make_env: Callable[[], gym.Env[Any, Any]],
    resets: int,
    steps: int,
    seed: int = 0,
    compare_every: int = 10,
    tell: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Soak an environment; Ctrl-C ends it early, with what was met so far.

    Args:
        make_env: makes it, with any interface.
        resets: how many episodes there are at least.
        steps: how many steps there are in all; an episode that ends early is followed by one more.
        seed: of tasks and actions.
        compare_every: so many steps from one comparison of trees to the next.
        tell: called after each episode with what was met so far.
    """
    with contextlib.closing(make_env()) as first:  # what stays for the life of the process is no leak
        first.reset(seed=seed)
        first.step(Action.wait(0))
    before, report, start = Owned.now(), Report(), time.perf_counter()
    with contextlib.closing(make_env()) as env:
        run = _Run(env, report, seed, compare_every)
        try:
            while report.steps < steps or report.resets < resets:
                # Shared out anew after each episode: those that end early leave more to the others.
                run.episode(-(-(steps - report.steps) // max(resets - report.resets, 1)))
                tell(report)
        except KeyboardInterrupt:
            report.interrupted = True
    report.seconds = time.perf_counter() - start
    report.steps_per_s = report.steps / run.stepping_s if run.stepping_s else 0.0
    report.memory_mib = run.memory.thirds_mib()
    report.leaks = [*leaks(before), *run.memory.growth()]
    return report


class _Run:
    """One environment and what was met with it."""

    def __init__(self, env: gym.Env[Any, Any], report: Report, seed: int, compare_every: int) -> None:
        self._env, self._report = env, report
        self._unwrapped: SciEnv = env.unwrapped  # type: ignore[assignment]
        self._rng = np.random.default_rng(seed)
        self._compare_every = compare_every
        env.action_space.seed(seed)
        self.memory = Memory()
        self.stepping_s = 0.0

    def episode(self, steps: int) -> None:
        """Reset, and make so many steps unless the episode ends before."""
        self._report.resets += 1
        try:
            observation, info = self._env.reset(seed=int(self._rng.integers(2**31)))
        except InfrastructureError as error:
            self._report.faults.append(f"reset {self._report.resets}: {error}")
            return
        finally:
            self._report.retried = self._unwrapped.stats()["counters"].get("reset_faults", 0)
        self._check(self._env.observation_space.contains(observation), "the observation is outside its space")
        over = False
        for left in range(steps, 0, -1):
            if over:
                break
            over, info = self._step(info, is_last=left == 1)
        self._report.closed += self._is_closed()

    def _step(self, info: dict[str, Any], is_last: bool) -> tuple[bool, dict[str, Any]]:
        action = draw_action(self._env, info["marks"], self._rng, may_stop=is_last)
        self._report.steps += 1
        start = time.perf_counter()
        try:
            result = self._env.step(action)
        except ActionError:
            self._report.refused += 1
            return False, info
        except Exception as error:  # whatever a user would have met
            self._report.faults.append(f"step {self._report.steps}: {type(error).__name__}: {error}")
            return True, info
        finally:
            self.stepping_s += time.perf_counter() - start
        return self._examine(result)

    def _examine(self, result: Any) -> tuple[bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = result
        self._check(self._env.observation_space.contains(observation), "the observation is outside its space")
        typed = (isinstance(reward, float), isinstance(terminated, bool), isinstance(truncated, bool))
        self._check(all(typed), f"reward, terminated, truncated are of other types: {result[1:4]}")
        over = terminated or truncated
        fault = info.get("infra_error")
        if fault is not None and fault["error"] == CrashError.__name__:
            self._report.crashed += 1
        elif fault is not None:
            self._check(False, fault["message"])
        elif not self._report.steps % self._compare_every and not over:
            self._compare()
        return over, info

    def _compare(self) -> None:
        coordinator = self._unwrapped.coordinator
        self.memory.sample(coordinator.machine)
        self._report.comparisons += 1
        try:
            differences = compare_trees(coordinator.client)
        except InfrastructureError as error:
            differences = [str(error)]
        if differences:
            self._report.mismatches.append(f"step {self._report.steps}: {'; '.join(differences[:3])}")

    def _is_closed(self) -> bool:
        return any(not one.running and one.exit_code >= 0 for one in self._unwrapped.last.programs)

    def _check(self, holds: bool, miss: str) -> None:
        if not holds:
            self._report.faults.append(f"step {self._report.steps}: {miss}")
