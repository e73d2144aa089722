"""Many episodes of a policy, recorded on several desktops; a run that was cut off is taken up again."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from sci_gym.app import App
from sci_gym.data.episodes import DataSet, Episode
from sci_gym.data.recorder import Recorder
from sci_gym.env import SciEnv
from sci_gym.errors import SciGymError, UnknownNameError
from sci_gym.loader import make
from sci_gym.observation import find_marks
from sci_gym.oracle import play
from sci_gym.specs import NAMED_KEYS, Action

_FINISHED = ("success", "failure")
_KEYS = NAMED_KEYS[:14]
_KEY_SHARE = 0.2

Job = tuple[str, int]
"""A task and a seed."""
Policy = Callable[[gym.Env[Any, Any], np.random.Generator], None]
"""Plays an environment that was reset to the episode's end."""


@dataclass(frozen=True)
class Outcome:
    """What came of one episode.

    Attributes:
        task: its id.
        seed: of its reset.
        result: see `Episode.result`; "error" where it could not be played.
        coverage_rate: at the end.
        steps: how many.
        problem: the error's words, else "".
    """

    task: str
    seed: int
    result: str
    coverage_rate: float = 0.0
    steps: int = 0
    problem: str = ""


def play_oracle(env: gym.Env[Any, Any], rng: np.random.Generator) -> None:
    """Solve the task."""
    for _ in play(env, env.unwrapped.task.oracle):  # type: ignore[attr-defined]
        pass


def play_random(env: gym.Env[Any, Any], rng: np.random.Generator) -> None:
    """Click at random on what has a mark, and press keys now and then, to the step limit."""
    base: SciEnv = env.unwrapped  # type: ignore[assignment]
    over = False
    while not over:
        marks = find_marks(base.last.showing, base.width, base.height)
        _, _, terminated, truncated, _ = env.step(_draw(base, marks, rng))
        over = terminated or truncated


POLICIES: dict[str, Policy] = {"oracle": play_oracle, "random": play_random}


def collect(
    app: App,
    tasks: Sequence[str],
    folder: str | PathLike[str],
    *,
    policy: str = "oracle",
    episodes: int = 1,
    jobs: int = 1,
    seed: int = 0,
    **options: Any,
) -> Iterator[Outcome]:
    """Record episodes, and yield what came of each as it is done.

    Task by task in turn, and seed by seed. What the folder has already of the same policy, task and seed, and
    went to its end, is not played again; what was cut off is.

    Args:
        app: whose tasks.
        tasks: their ids.
        folder: of the data set.
        policy: a name of `POLICIES`.
        episodes: how many in all, those that are there included.
        jobs: desktops at a time.
        seed: the first one.
        options: of `gym.make`.

    Raises:
        UnknownNameError: there is no such policy.
    """
    if policy not in POLICIES:
        raise UnknownNameError("policy", policy, POLICIES)
    wanted = _plan(tasks, seed, episodes, folder, policy)
    envs: queue.SimpleQueue[Recorder] = queue.SimpleQueue()
    for _ in range(jobs):
        envs.put(Recorder(make(app=app, task=list(tasks), **options), folder, {"policy": policy}))
    try:
        with ThreadPoolExecutor(jobs, thread_name_prefix="collect") as pool:
            futures = [pool.submit(_play, envs, policy, job) for job in wanted]
            try:
                for future in as_completed(futures):
                    yield future.result()
            finally:
                for future in futures:
                    future.cancel()
    finally:
        for _ in range(jobs):
            envs.get_nowait().close()


def _plan(
    tasks: Sequence[str], seed: int, episodes: int, folder: str | PathLike[str], policy: str
) -> list[Job]:
    every = ((tasks[number % len(tasks)], seed + number // len(tasks)) for number in range(episodes))
    there = DataSet(folder).choose(results=_FINISHED) if Path(folder).is_dir() else ()
    done = {(one.meta.task, one.meta.seed) for one in there if one.meta.notes.get("policy") == policy}
    return [job for job in every if job not in done]


def _play(envs: queue.SimpleQueue[Recorder], policy: str, job: Job) -> Outcome:
    env = envs.get()
    task, seed = job
    try:
        env.reset(seed=seed, options={"task": task})
        POLICIES[policy](env, np.random.default_rng(seed))
    except SciGymError as error:  # one episode that cannot be is no reason to lose the others
        return Outcome(task, seed, "error", problem=f"{type(error).__name__}: {error}")
    else:
        done = Episode(env.episode)
        return Outcome(task, seed, done.result, done.last.coverage_rate, done.last.step, done.fault)
    finally:
        envs.put(env)


def _draw(base: SciEnv, marks: Sequence[Any], rng: np.random.Generator) -> Action:
    places = [node.box.clip(base.width, base.height) for node in marks if node.box is not None]
    if not places or rng.random() < _KEY_SHARE:
        return Action.press(str(rng.choice(_KEYS)))
    return Action.click(*places[int(rng.integers(len(places)))].center)
