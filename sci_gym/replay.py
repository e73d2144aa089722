"""One recorded episode as one self-contained web page."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image
from pydantic import TypeAdapter, ValidationError

from sci_gym.drawing import chart, describe_action, mark_action
from sci_gym.errors import ConfigurationError
from sci_gym.layout import layout_graph
from sci_gym.specs import Action
from sci_gym.templates import render

_ACTION = TypeAdapter(Action)
_NO_SCREEN_PX = (1920, 1080)


def write_replay(episode: Path, target: Path) -> Path:
    """Write a page that plays an episode, with everything it needs inside it.

    Args:
        episode: a folder that `RecordTrajectory` wrote: `meta.json`, `steps.jsonl`, `frames/*.png`. A half
            last line is left out; without a `graph` in `meta.json` the page has no graph.
        target: the HTML file to write.

    Returns:
        `target`.

    Raises:
        ConfigurationError: the folder holds no episode, or a broken one.
    """
    meta, lines = _read(episode)
    frames = _Frames(episode)
    steps = _replay_steps(lines, frames)
    page = render(
        "replay.html",
        task=meta.get("task") or "episode",
        environment=meta.get("env_id") or "",
        instruction=meta.get("instruction") or "",
        result=_result(meta, lines),
        graph=layout_graph(meta.get("graph") or ()),
        chart=chart([line.get("coverage_rate") or 0.0 for line in lines]),
        width=frames.size_px[0],
        height=frames.size_px[1],
        data={"frames": frames.urls, "steps": steps},
    )
    target.write_text(page, encoding="utf-8")
    return target


class _Frames:
    """The distinct frames of an episode, as data URLs (WebP without loss, smaller than PNG)."""

    def __init__(self, episode: Path) -> None:
        self._root = episode.resolve()
        self._by_name: dict[str, int] = {}
        self._by_digest: dict[bytes, int] = {}
        self.urls: list[str] = []
        self.size_px = _NO_SCREEN_PX

    def place(self, name: str | None) -> int | None:
        """The place of a frame file's picture among `urls`; None for no frame."""
        if name is None:
            return None
        if name not in self._by_name:
            self._by_name[name] = self._add(self._open(name))
        return self._by_name[name]

    def _open(self, name: str) -> Image.Image:
        path = (self._root / name).resolve()
        if not path.is_relative_to(self._root):
            raise ConfigurationError(f"{self._root}: frame {name!r} is outside the episode's folder")
        try:
            with Image.open(path) as opened:
                return opened.convert("RGB")
        except OSError as exc:
            raise ConfigurationError(f"{path}: not a readable picture: {exc}") from exc

    def _add(self, image: Image.Image) -> int:
        digest = hashlib.sha256(image.tobytes()).digest()
        if digest not in self._by_digest:
            self._by_digest[digest] = len(self.urls)
            self.urls.append(_data_url(image))
            self.size_px = image.size
        return self._by_digest[digest]


def _data_url(image: Image.Image) -> str:
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", lossless=True, method=2, quality=50)
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def _read(episode: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The episode's `meta.json` and the whole lines of its `steps.jsonl`."""
    try:
        meta = json.loads((episode / "meta.json").read_text(encoding="utf-8"))
        text = (episode / "steps.jsonl").read_text(encoding="utf-8")
        lines = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
    except (OSError, ValueError) as exc:
        raise ConfigurationError(f"{episode}: not an episode of RecordTrajectory: {exc}") from exc
    if not lines:
        raise ConfigurationError(f"{episode}: steps.jsonl holds no step; the episode never began")
    return meta, lines


def _replay_steps(lines: Sequence[Mapping[str, Any]], frames: _Frames) -> list[dict[str, Any]]:
    """What the page shows of each step; a step's action is drawn on the frame before it."""
    pointer: tuple[int, int] | None = None
    steps = []
    for number, line in enumerate(lines):
        action = _action(line, number)
        mark = None
        if action is not None:
            mark, pointer = mark_action(action, pointer)
        steps.append(
            {
                "frame": frames.place(line.get("frame")),
                "caption": "reset" if action is None else describe_action(action),
                "mark": mark,
                "reward": line.get("reward") or 0.0,
                "graph": line.get("graph") or {},
                "coverage": line.get("coverage_rate") or 0.0,
                "fault": _fault(line),
                "output": line.get("output") or "",
                "time": line.get("time_s"),
            }
        )
    return steps


def _action(line: Mapping[str, Any], number: int) -> Action | None:
    if line.get("action") is None:
        return None
    try:
        return _ACTION.validate_python(line["action"])
    except ValidationError as exc:
        raise ConfigurationError(f"steps.jsonl:{number + 1}: not an action: {line['action']!r}") from exc


def _fault(line: Mapping[str, Any]) -> str | None:
    fault = line.get("infra_error")
    return str(fault.get("message", fault)) if isinstance(fault, Mapping) else fault


def _result(meta: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    last = lines[-1]
    if _fault(last):
        verdict = "not scored: infrastructure fault"
    elif not (last.get("terminated") or last.get("truncated")):
        verdict = "unfinished"
    else:
        verdict = "success" if last.get("success") else "no success"
    return {
        "verdict": verdict,
        "coverage": last.get("coverage_rate"),
        "consistency": last.get("logical_consistency"),
        "reward": sum(line.get("reward") or 0.0 for line in lines if not _fault(line)),
        "steps": len(lines) - 1,
        "seconds": last.get("time_s"),
        "seed": meta.get("seed"),
    }
