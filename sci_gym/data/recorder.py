"""Episodes written down as they happen, so that a crash loses no more than the step under way."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, SupportsFloat

import gymnasium as gym

from sci_gym.data.objects import ObjectStore, pack_frame, pack_tree
from sci_gym.data.versions import versions_of
from sci_gym.env import SciEnv
from sci_gym.specs import A11yTree, Action, Frame

OBJECTS = "objects"
FORMAT = 1
_PREFIX = "EPISODE-"
_OPTIONS = ("observation", "reward", "interface", "width", "height")
_TOLD = ("success", "coverage_rate", "logical_consistency", "graph", "output")
_DEFAULTS = {field.name: field.default for field in dataclasses.fields(Action)}

Step = tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]


class Recorder(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Writes every episode into a data set; goes directly around a `SciEnv`.

    A line of `steps.jsonl` names its frame and tree only after these are written, and is written whole and at
    once: what a step returned is on disk when it returns. A kill then loses the step under way; what the
    operating system has not yet put on the disk is lost only with its power.

    Wrappers around it that take another action than `SciEnv` does, such as a model's text, say what they took
    by `hear`. In a vector each environment has a recorder of its own, on the same folder.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        folder: str | os.PathLike[str],
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """Wrap an env.

        Args:
            env: a `SciEnv`, or wrapped such that its actions are still those of `SciEnv`.
            folder: of the data set; it is made, and episodes in it are kept.
            notes: plain data to keep with each episode, such as the policy's name.
        """
        gym.utils.RecordConstructorArgs.__init__(self, folder=os.fspath(folder), notes=notes)
        gym.Wrapper.__init__(self, env)
        self._base: SciEnv = env.unwrapped  # type: ignore[assignment]
        self._folder, self._notes = Path(folder), dict(notes or {})
        self._objects = ObjectStore(self._folder / OBJECTS)
        self._frame: tuple[Frame | None, str] = None, ""
        self._tree: tuple[A11yTree | None, str] = None, ""
        self._episode: Path | None = None
        self._said: Any = None
        self._step = 0
        self._began = 0.0

    @property
    def episode(self) -> Path:
        """Folder of the current episode; ResetNeeded before the first."""
        if self._episode is None:
            raise gym.error.ResetNeeded("call reset() first: there is no episode yet")
        return self._episode

    def hear(self, said: str | int) -> None:
        """Take what the policy said, in its own dialect, for the steps that come of it."""
        self._said = said

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode and its folder; see `SciEnv.reset`."""
        self._episode = None
        start_s = time.monotonic()
        observation, info = self.env.reset(seed=seed, options=options)
        took_s = time.monotonic() - start_s
        self._step, self._said, self._began = 0, None, time.monotonic()
        self._episode = begin_episode(self._folder)
        self._write_meta(self._episode, seed)
        self._write_step(self._episode, None, (observation, 0.0, False, False, info), took_s)
        return observation, info

    def step(self, action: Any) -> Step:
        """Perform an action, and write down what came of it; see `SciEnv.step`."""
        episode = self.episode
        start_s = time.monotonic()
        result = self.env.step(action)
        took_s = time.monotonic() - start_s
        self._step += 1
        self._write_step(episode, action_record(self._base.to_action(action)), result, took_s)
        return result

    def fork(self, n: int) -> list[Recorder]:
        """As many recorders around forks of the environment, see `SciEnv.fork`.

        Each goes on with an episode of its own, which begins with the steps so far: a state that several
        episodes left by different actions, as preference pairs need it.
        """
        meta = json.loads((self.episode / "meta.json").read_bytes())
        meta["forked_from"] = meta["started_unix_s"]
        forks = self._base.fork(n)
        try:
            return [self._twin(env, meta) for env in forks]
        except BaseException:  # such as a full disk
            for env in forks:
                env.close()
            raise

    def _twin(self, env: SciEnv, meta: dict[str, Any]) -> Recorder:
        twin = Recorder(env, self._folder, self._notes)
        twin._frame, twin._tree, twin._step, twin._began = self._frame, self._tree, self._step, self._began
        twin._episode = begin_episode(self._folder)
        _write_json(twin._episode / "meta.json", {**meta, "started_unix_s": time.time()})
        draft = twin._episode / "steps.part"
        shutil.copyfile(self.episode / "steps.jsonl", draft)
        draft.replace(twin._episode / "steps.jsonl")  # last: it makes it an episode
        return twin

    def _write_meta(self, episode: Path, seed: int | None) -> None:
        base, task = self._base, self._base.task
        nodes = [
            {"id": node.id, "goal": node.goal, "after": list(node.after), "application": node.application}
            for node in task.graph.nodes
        ]
        meta = {
            "format": FORMAT,
            "env_id": base.app.env_id,
            "app": base.app.name,
            "task": task.id,
            "source": task.source,
            "difficulty": task.difficulty,
            "instruction": task.instruction,
            "parameters": dict(task.parameters),
            "graph": nodes,
            "max_steps": task.max_steps,
            "seed": seed,
            "options": {name: getattr(base.options, name) for name in _OPTIONS},
            "machine": type(base.coordinator.machine).__name__,
            "notes": self._notes,
            "versions": versions_of(base.app),
            "started_unix_s": time.time(),
        }
        _write_json(episode / "meta.json", meta)

    def _write_step(self, episode: Path, action: dict[str, Any] | None, result: Step, took_s: float) -> None:
        _, reward, terminated, truncated, info = result
        last = self._base.last
        line = {
            "step": self._step,
            "action": action,
            "said": self._said,
            "reward": float(reward),
            "terminated": bool(terminated),
            "truncated": bool(truncated),
            "infra_error": info.get("infra_error"),
            **{name: info[name] for name in _TOLD},
            "frame": self._put_frame(last.screenshot),
            "tree": self._put_tree(last.showing),
            "marks": [node.index for node in info["marks"]],
            "pointer": list(last.cursor),
            "settled": last.settled,
            "timings_ms": {"call": round(took_s * 1000, 3), **self._base.timings_ms},
            "time_s": round(time.monotonic() - self._began, 4),
        }
        _append(episode / "steps.jsonl", json.dumps(line).encode() + b"\n")

    def _put_frame(self, frame: Frame) -> str:
        """The name of a screen, whose object is not packed again while it is the same one."""
        if self._frame[0] is not frame:
            self._frame = frame, self._objects.put(pack_frame(frame))
        return self._frame[1]

    def _put_tree(self, tree: A11yTree) -> str:
        if self._tree[0] is not tree:
            self._tree = tree, self._objects.put(pack_tree(tree))
        return self._tree[1]


def action_record(action: Action) -> dict[str, Any]:
    """An action as plain data, without the fields that have their default."""
    fields = {name: getattr(action, name) for name in _DEFAULTS}
    return {name: value for name, value in fields.items() if value != _DEFAULTS[name]}


def begin_episode(folder: Path) -> Path:
    """Make the folder of the next episode; several recorders may share a data set."""
    folder.mkdir(parents=True, exist_ok=True)
    names = (path.name.removeprefix(_PREFIX) for path in folder.glob(f"{_PREFIX}*"))
    number = max((int(name) for name in names if name.isdecimal()), default=0)
    while True:
        number += 1
        episode = folder / f"{_PREFIX}{number:06d}"
        try:
            episode.mkdir()
        except FileExistsError:
            continue
        return episode


def _write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a file that is there only when it is whole."""
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    draft.replace(path)


def _append(path: Path, line: bytes) -> None:
    """Add a line by one call of the system, of which a kill leaves all or nothing in almost all cases."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)
