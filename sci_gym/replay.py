"""One recorded episode as a web page that plays it: self-contained, or beside a server of its frames."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

from sci_gym.data.episodes import Episode, Step
from sci_gym.drawing import chart, describe_action, mark_action
from sci_gym.layout import layout_graph
from sci_gym.specs import A11yTree, Frame
from sci_gym.templates import render

_VERDICTS = {"failure": "no success", "fault": "not scored: infrastructure fault"}


def write_replay(folder: Path, target: Path) -> Path:
    """Write a page that plays an episode, with everything it needs inside it.

    Args:
        folder: of the episode, as a `Recorder` wrote it.
        target: the HTML file to write.

    Returns:
        `target`.

    Raises:
        ConfigurationError: the folder holds no episode, or a broken one.
    """
    episode = Episode(folder)
    target.write_text(render_episode(episode, lambda step: _data_url(episode.frame(step))), encoding="utf-8")
    return target


def render_episode(episode: Episode, frame_url: Callable[[Step], str], back: str = "") -> str:
    """The page.

    Args:
        episode: what it plays.
        frame_url: where the browser gets the screen after a step; asked once for each distinct one.
        back: address of a page that leads to other episodes.
    """
    steps, meta, last = episode.steps, episode.meta, episode.last
    urls: dict[str, str] = {}
    for step in steps:
        if step.frame not in urls:
            urls[step.frame] = frame_url(step)
    trees = {step.tree: _boxes(episode, step) for step in steps}
    result = {
        "verdict": _VERDICTS.get(episode.result, episode.result),
        "coverage": last.coverage_rate,
        "consistency": last.logical_consistency,
        "reward": episode.total_reward,
        "steps": len(steps) - 1,
        "seconds": last.time_s,
        "seed": meta.seed,
    }
    return render(
        "replay.html",
        task=meta.task,
        environment=meta.env_id,
        instruction=meta.instruction,
        back=back,
        result=result,
        graph=layout_graph(meta.graph),
        chart=chart([step.coverage_rate for step in steps]),
        width=meta.options["width"],
        height=meta.options["height"],
        data={
            "frames": list(urls.values()),
            "trees": list(trees.values()),
            "steps": _replay_steps(episode, list(urls), list(trees)),
        },
    )


def _data_url(frame: Frame) -> str:
    """WebP without loss, smaller than PNG."""
    buffer = io.BytesIO()
    Image.fromarray(frame).save(buffer, "WEBP", lossless=True, method=2, quality=50)
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def _boxes(episode: Episode, step: Step) -> list[list[Any]]:
    """The tree's nodes that have a place: x, y, width, height, mark or 0, role, name, text."""
    tree: A11yTree = episode.tree(step)
    tags = {place: tag for tag, place in enumerate(step.marks, start=1)}
    return [
        [*node.box, tags.get(node.index, 0), node.role, node.name, node.text]
        for node in tree
        if node.box is not None
    ]


def _replay_steps(episode: Episode, frames: list[str], trees: list[str]) -> list[dict[str, Any]]:
    """What the page shows of each step; a step's action is drawn on the frame before it."""
    pointer: tuple[int, int] | None = None
    shown = []
    for step in episode.steps:
        mark = None
        if step.action is not None:
            mark, pointer = mark_action(step.action, pointer)
        caption = "reset" if step.action is None else describe_action(step.action)
        fault = step.infra_error
        shown.append(
            {
                "frame": frames.index(step.frame),
                "tree": trees.index(step.tree),
                "caption": caption,
                "said": "" if step.said is None else str(step.said),
                "mark": mark,
                "reward": step.reward,
                "graph": step.graph,
                "fault": str(fault.get("message", fault)) if fault else None,
                "output": step.output,
                "time": step.time_s,
            }
        )
    return shown
