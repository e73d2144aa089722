"""Plays ScienceBoard's published tasks of a program on the real program.

`python -m tests.scienceboard PROGRAM FOLDER [ID...]` prints one line of JSON each; PROGRAM is as in KAlgebra.
"""

from __future__ import annotations

import itertools
import json
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
from gymnasium.utils import seeding

import sci_gym  # noqa: F401  (registers the environments)
from sci_gym.errors import SciGymError
from sci_gym.oracle import play
from sci_gym.scienceboard import PROGRAMS
from sci_gym.specs import STOP_KINDS, Action, OracleStep, TaskSpec
from sci_gym.stage import Timing
from sci_gym.tasks.oracle import OracleTable
from sci_gym.tasks.tables import parse

DATA = Path(__file__).parent / "data"
PATIENT = Timing(answer_s=60.0, wait_s=120.0)
"""They are many, and are played beside other work."""
INTERFACES = {"ChimeraX": "hybrid"}
"""Those of solutions that are the program's own commands."""


@dataclass
class Played:
    """What one file gave.

    Attributes:
        task: its id.
        initialised: its set-up was run on the real program.
        untouched: whether it passes though nothing was done.
        solved: whether it passes when its solution is played; None where there is none.
        note: what went wrong.
    """

    task: str
    initialised: bool = False
    untouched: bool | None = None
    solved: bool | None = None
    note: str = ""


def solutions(program: str) -> Mapping[str, Mapping[str, Any]]:
    """The steps for a program's tasks: by revision, or "both", and then by the file's id."""
    return tomllib.loads((DATA / f"scienceboard_{program.lower()}.toml").read_text())


def solution(task: str) -> tuple[OracleStep, ...]:
    """The steps for a task's id, such as "KAlgebra-A-03@verified-cfee7c8"; none where there are none."""
    program, _, rest = task.partition("-")
    name, _, revision = rest.partition("@")
    known = solutions(program)
    tables = known["both"].get(name) or known.get(revision.rpartition("-")[0], {}).get(name, [])
    return tuple(parse(OracleTable, table).step(()) for table in tables)


def play_all(program: str, folder: Path, only: Sequence[str] = ()) -> Iterator[Played]:
    """Every task of a folder that can be played, on one desktop after the other."""
    env = gym.make(
        PROGRAMS[program], task=f"scienceboard:{folder}", reward="sparse",
        interface=INTERFACES.get(program), timing=PATIENT, disable_env_checker=True,
    )  # fmt: skip
    tasks = drawn(env)
    try:
        for name, seed in tasks.items():
            if not only or any(f"-{one}@" in name for one in only):
                yield _play(env, name, seed)
    finally:
        env.close()


def drawn(env: gym.Env[Any, Any]) -> dict[str, int]:
    """A seed that draws each of an environment's tasks."""
    draw = env.unwrapped._draw_task  # type: ignore[attr-defined]
    seeds: dict[str, int] = {}
    for seed in itertools.count():
        task: TaskSpec = draw(seeding.np_random(seed)[0])
        seeds.setdefault(task.id, seed)
        if seed > 40 * len(seeds):
            return dict(sorted(seeds.items()))
    raise AssertionError


def _play(env: gym.Env[Any, Any], name: str, seed: int) -> Played:
    played = Played(name)
    steps = solution(name)
    try:
        env.reset(seed=seed)
        assert env.unwrapped.task.id == name  # type: ignore[attr-defined]
        played.initialised = True
        played.untouched = _ends(env, _stop(env.unwrapped.task))  # type: ignore[attr-defined]
        if steps:
            env.reset(seed=seed)
            *_, (*_, info) = play(env, steps)
            played.solved = info["success"]
            if "infra_error" in info:
                played.note = str(info["infra_error"])
    except SciGymError as exc:
        played.note = f"{type(exc).__name__}: {exc}"
    return played


def _stop(task: TaskSpec) -> Action:
    """The way that a task is ended, by one who knows nothing."""
    return Action.answer("") if task.question else Action.done()


def _ends(env: gym.Env[Any, Any], action: Action) -> bool:
    assert action.kind in STOP_KINDS
    *_, info = env.step(action)
    return bool(info["success"])


if __name__ == "__main__":
    for one in play_all(sys.argv[1], Path(sys.argv[2]), sys.argv[3:]):
        sys.stdout.write(json.dumps(asdict(one)) + "\n")
        sys.stdout.flush()
