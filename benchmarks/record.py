"""How much does recording add to a step, and how much disk does it take?"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import gymnasium as gym
from PIL import Image

from sci_gym.benchmarks.question import Plan, Question
from sci_gym.benchmarks.rows import Peers, Row, make_row, timed
from sci_gym.benchmarks.step import ENDLESS
from sci_gym.benchmarks.subjects import Click
from sci_gym.data import Recorder
from sci_gym.env import SciEnv
from sci_gym.loader import make

PNG, FAST_PNG = "a PNG and a line of JSON per step", "the same, PNG at its fastest"
_LEVELS = {PNG: 6, FAST_PNG: 1}
_KIB = 1024


class _Timed(gym.Wrapper[Any, Any, Any, Any]):
    """Keeps how long the last step of what it wraps took."""

    took_ms = 0.0

    def step(self, action: Any) -> Any:
        results: list[Any] = []
        (self.took_ms,) = timed(lambda: results.append(self.env.step(action)))
        return results[0]


def run(plan: Plan) -> list[Row]:
    """Measure on each program, and on each kind of click."""
    rows = []
    for subject in plan.subjects:
        with tempfile.TemporaryDirectory() as folder, closing(make(app=subject.app, task=ENDLESS)) as env:
            for kind, clicks in subject.clicks.items():
                name = f"recording a step, {subject.app.title}, clicks that {kind}"
                rows += _measure(plan, name, clicks, env, Path(folder) / kind.replace(" ", "-"))
    return rows


def _measure(plan: Plan, name: str, clicks: Sequence[Click], env: SciEnv, folder: Path) -> list[Row]:
    ours, peers = [], Peers()
    inner = _Timed(env)
    recorder = Recorder(inner, folder / "ours")
    writers = {peer: _png_writer(env, folder / str(level), level) for peer, level in _LEVELS.items()}
    recorder.reset(seed=0)
    actions = [click.action(env.last.tree) for click in clicks]
    for times in plan.rounds():
        plan.tell(name)
        for number in range(times):
            (took_ms,) = timed(partial(recorder.step, actions[number % 2]))
            ours.append(took_ms - inner.took_ms)
            for peer, write in writers.items():
                peers.ask(peer, partial(timed, write))
    sizes = Peers()
    for peer, level in _LEVELS.items():
        sizes.ask(peer, partial(_sizes_kib, folder / str(level), len(ours)))
    note = "1920x1080 without loss, and the tree; two screens in turn, of which each is kept once"
    return [
        make_row(f"{name}: time added", "ms", ours, peers, note),
        make_row(f"{name}: disk, mean", "KiB", _sizes_kib(folder / "ours", len(ours) + 1), sizes, note),
    ]


def _png_writer(env: SciEnv, folder: Path, level: int) -> Callable[[], None]:
    """What writes down the step that was just made, in the plain way."""
    folder.mkdir(parents=True)
    numbers = count()

    def write() -> None:
        path = folder / f"{next(numbers):06d}.png"
        Image.fromarray(env.last.screenshot).save(path, compress_level=level)
        line = {"frame": path.name, "tree": [list(node) for node in env.last.showing]}
        with (folder / "steps.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    return write


def _sizes_kib(folder: Path, steps: int) -> list[float]:
    return [sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / _KIB / steps]


QUESTION = Question("record", __doc__, (PNG, FAST_PNG), 30, run)
