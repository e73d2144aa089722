"""Holds every task to its promise, on the real program.

For a task and a seed: the untouched state scores 0 with Coverage Rate 0; DONE at once scores 0; each oracle
scores 1 with Coverage Rate 1 in a valid topological order, and no prefix of it lowers the Coverage Rate; the
oracles of other tasks score 0.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np

from sci_gym.oracle import TargetNotFoundError, play
from sci_gym.specs import STOP_KINDS, Action, TaskSpec
from sci_gym.tasks import Template

OTHERS = 3


@dataclass
class Report:
    """What was found for one task and seed.

    Attributes:
        task: id of the template.
        seed: of the episode.
        difficulty: of the template.
        steps: that the oracles took together.
        seconds: that all episodes took together.
        misses: broken promises, in words; empty when the task holds.
        flaky: misses of earlier tries, see `retries`: the task or the machine is not steady.
    """

    task: str
    seed: int
    difficulty: str = ""
    steps: int = 0
    seconds: float = 0.0
    misses: list[str] = field(default_factory=list)
    flaky: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


MakeEnv = Callable[[str], gym.Env[Any, Any]]


def verify(
    make_env: MakeEnv,
    templates: Mapping[str, Template],
    tasks: Sequence[str],
    seeds: Sequence[int],
    jobs: int = 1,
    retries: int = 0,
    others: int = OTHERS,
) -> Iterator[Report]:
    """Check tasks, several at once, and yield reports as they are done.

    Args:
        make_env: makes an environment of one task id.
        templates: all of the app's, whose oracles serve as the others.
        tasks: ids to check.
        seeds: of the episodes of each.
        jobs: desktops at a time.
        retries: how often a check with misses is repeated on fresh desktops; what was missed before is told
            as `flaky`.
        others: how many other tasks' oracles are played on each.
    """
    with ThreadPoolExecutor(jobs, thread_name_prefix="verify") as pool:
        futures = [
            pool.submit(_verify_again, partial(_verify_one, make_env, templates, task, seed, others), retries)
            for task in tasks
            for seed in seeds
        ]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()


def _verify_again(check: Callable[[], Report], retries: int) -> Report:
    report = check()
    for _ in range(retries):
        if not report.misses:
            break
        before, report = report, check()
        report.flaky = [*before.flaky, *before.misses]
    return report


def _verify_one(
    make_env: MakeEnv, templates: Mapping[str, Template], task: str, seed: int, others: int
) -> Report:
    report = Report(task, seed)
    start = time.perf_counter()
    try:
        with contextlib.closing(make_env(task)) as env:
            spec = _check_untouched(env, report)
            report.difficulty = spec.difficulty
            for name in spec.oracles:
                _check_oracle(env, report, name)
            for other in _others(spec, templates, seed)[:others]:
                _check_other(env, report, other)
    except Exception as error:  # whatever breaks is a finding about this task, not the end of the run
        report.misses.append(f"{type(error).__name__}: {error}")
    report.seconds = time.perf_counter() - start
    return report


def _reset(env: gym.Env[Any, Any], report: Report, check: str) -> dict[str, Any]:
    """Begin an episode; what is checked is told to who watches (see `sci_gym.watch`)."""
    return env.reset(seed=report.seed, options={"check": check})[1]


def _check_untouched(env: gym.Env[Any, Any], report: Report) -> TaskSpec:
    info = _reset(env, report, "untouched, then DONE at once")
    spec: TaskSpec = env.unwrapped.task  # type: ignore[attr-defined]
    _expect(report, info["coverage_rate"] == 0, f"untouched state has CR {info['coverage_rate']:.2f}")
    _, _, _, _, info = env.step(Action.done())
    _expect(report, not info["success"], "DONE at once scores 1")
    return spec


def _check_oracle(env: gym.Env[Any, Any], report: Report, name: str) -> None:
    info = _reset(env, report, f"its oracle {name!r}")
    oracle = env.unwrapped.task.oracles[name]  # type: ignore[attr-defined]
    coverage, what = 0.0, f"the oracle {name!r}"
    try:
        for number, (action, _, _, _, info) in enumerate(play(env, oracle), start=1):
            report.steps += 1
            _expect(report, "infra_error" not in info, f"fault of the machine: {info.get('infra_error')}")
            lower = info["coverage_rate"] < coverage
            told = f"{what}: step {number} ({action.kind}) lowers CR to {info['coverage_rate']:.2f}"
            _expect(report, not lower, told)
            coverage = info["coverage_rate"]
    except TargetNotFoundError as error:
        report.misses.append(f"{what}: {error}")
        return
    _expect(report, info["success"], f"{what} scores 0, with {info['graph']}")
    _expect(report, coverage == 1, f"{what} ends with CR {coverage:.2f}")
    _expect(report, _is_topological(env), f"{what} completes subtasks before their parents")


def _check_other(env: gym.Env[Any, Any], report: Report, other: TaskSpec) -> None:
    info = _reset(env, report, f"the oracle of {other.id}, which must not do")
    try:
        *_, (*_, info) = play(env, other.oracle, looks=1)
    except TargetNotFoundError:
        # Its way leads nowhere on this desktop; it ends as it would have ended.
        stops = [step.action for step in other.oracle if step.action.kind in STOP_KINDS]
        *_, info = env.step(stops[-1])
    _expect(report, not info["success"], f"the oracle of {other.id} scores 1")


def _others(spec: TaskSpec, templates: Mapping[str, Template], seed: int) -> list[TaskSpec]:
    """All tasks that are solved otherwise, in a random order: every infeasible task is solved by FAIL."""
    rng = np.random.default_rng(seed)
    names = rng.permutation([name for name in templates if name != spec.id])
    drawn = [templates[str(name)].instantiate(rng) for name in names]
    return [task for task in drawn if not (task.infeasible and spec.infeasible)]


def _is_topological(env: gym.Env[Any, Any]) -> bool:
    completed = env.unwrapped.verdict.completed  # type: ignore[attr-defined]
    nodes = {node.id: node for node in env.unwrapped.task.graph.nodes}  # type: ignore[attr-defined]
    return all(set(nodes[one].after) <= set(completed[:place]) for place, one in enumerate(completed))


def _expect(report: Report, holds: bool, miss: str) -> None:
    if not holds:
        report.misses.append(miss)
