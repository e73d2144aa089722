"""Trajectories on disk, written as they happen, so that a crash loses nothing that was seen."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import json
import os
import time
from pathlib import Path
from typing import Any, SupportsFloat, cast

import gymnasium as gym
from PIL import Image

from sci_gym.specs import A11yNode, Action, Frame

Step = tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]

_DEFAULTS = {field.name: field.default for field in dataclasses.fields(Action)}


class RecordTrajectory(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Writes every episode to a folder of its own; goes directly around a `SciEnv`.

        FOLDER/EPISODE-000001/meta.json             what the episode is
                              steps.jsonl           one object per line; line 0 is the reset, its action null
                              frames/000000.png     the screen, whatever the observation; equal ones once

    A line names its frame only after that is written, and is written whole: a reader may meet half a last
    line after a crash, and leaves it out.
    """

    def __init__(self, env: gym.Env[Any, Any], folder: str | os.PathLike[str]) -> None:
        """Wrap an env.

        Args:
            env: a `SciEnv`, or wrapped such that its actions are still those of `SciEnv`.
            folder: where the episodes go; it is made, and episodes in it are kept.
        """
        gym.utils.RecordConstructorArgs.__init__(self, folder=os.fspath(folder))
        gym.Wrapper.__init__(self, env)
        self._base = cast(Any, env.unwrapped)
        self._folder = Path(folder)
        self._episode: Path | None = None
        self._frames: dict[bytes, str] = {}
        self._seed: int | None = None
        self._step = 0
        self._began = 0.0

    @property
    def episode(self) -> Path:
        """Folder of the current episode; ResetNeeded before the first."""
        if self._episode is None:
            raise gym.error.ResetNeeded("call reset() first: there is no episode yet")
        return self._episode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode and its folder; see `SciEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._episode = _next_episode(self._folder)
        self._frames, self._seed, self._step, self._began = {}, seed, 0, time.monotonic()
        self._write_meta(self._episode, info)
        self._write_step(self._episode, None, (observation, 0.0, False, False, info))
        return observation, info

    def step(self, action: Any) -> Step:
        """Perform an action, and write down what came of it; see `SciEnv.step`."""
        episode = self.episode
        result = self.env.step(action)
        self._step += 1
        record = action_record(self._base.to_action(action))
        self._write_step(episode, record, result)
        return result

    def _write_meta(self, episode: Path, info: dict[str, Any]) -> None:
        task = self._base.task
        meta = {
            "env_id": self.env.spec.id if self.env.spec else None,
            "sci_gym_version": _version(),
            "task": info.get("task"),
            "instruction": info.get("instruction"),
            "parameters": dict(task.parameters),
            "graph": [
                {"id": node.id, "goal": node.goal, "after": list(node.after), "application": node.application}
                for node in task.graph.nodes
            ],
            "seed": self._seed,
            "started_unix_s": time.time(),
        }
        path = episode / "meta.json"
        draft = path.with_suffix(".part")
        draft.write_text(json.dumps(meta, indent=1, default=str) + "\n", encoding="utf-8")
        draft.replace(path)

    def _write_step(self, episode: Path, action: dict[str, Any] | None, result: Step) -> None:
        _, reward, terminated, truncated, info = result
        line = {
            "step": self._step,
            "action": action,
            "reward": float(reward),
            "terminated": bool(terminated),
            "truncated": bool(truncated),
            "infra_error": info.get("infra_error"),
            "success": info.get("success"),
            "coverage_rate": info.get("coverage_rate"),
            "logical_consistency": info.get("logical_consistency"),
            "graph": {node: str(status) for node, status in info.get("graph", {}).items()},
            "output": info.get("output", ""),
            "marks": [_mark_record(node) for node in info.get("marks", ())],
            "frame": self._write_frame(episode, self._base.last.screenshot),
            "task": info.get("task"),
            "instruction": info.get("instruction"),
            "seed": self._seed,
            "time_s": round(time.monotonic() - self._began, 4),
        }
        with (episode / "steps.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def _write_frame(self, episode: Path, frame: Frame) -> str:
        """Write a screenshot, unless an equal one was written; its path in the episode's folder."""
        digest = hashlib.blake2b(frame.tobytes(), digest_size=16).digest()
        if digest not in self._frames:
            name = f"frames/{self._step:06d}.png"
            Image.fromarray(frame).save(episode / name, format="PNG", compress_level=1)
            self._frames[digest] = name
        return self._frames[digest]


def action_record(action: Action) -> dict[str, Any]:
    """An action as plain data, without the fields that have their default."""
    fields = {name: getattr(action, name) for name in _DEFAULTS}
    return {name: value for name, value in fields.items() if value != _DEFAULTS[name]}


def _mark_record(node: A11yNode) -> dict[str, Any]:
    box = node.box
    place = None if box is None else [box.x, box.y, box.width, box.height]
    return {"role": node.role, "name": node.name, "box": place}


def _next_episode(folder: Path) -> Path:
    """Make the folder of the next episode; two recorders may share a parent folder."""
    folder.mkdir(parents=True, exist_ok=True)
    number = max(
        (int(path.name[8:]) for path in folder.glob("EPISODE-*") if path.name[8:].isdigit()), default=0
    )
    while True:
        number += 1
        episode = folder / f"EPISODE-{number:06d}"
        try:
            episode.mkdir()
        except FileExistsError:
            continue
        (episode / "frames").mkdir()
        return episode


def _version() -> str:
    try:
        return importlib.metadata.version("sci-gym")
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
