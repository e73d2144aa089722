"""A data set as Minari's: what `minari.load_dataset` reads. Needs `sci-gym[data]`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from PIL import Image

from sci_gym.data.episodes import Episode, Step
from sci_gym.data.tables import at_least_one, load_extra, tree_text
from sci_gym.spaces import from_action, kinds_for, make_action_space, make_observation_space
from sci_gym.specs import Frame

WIDTH_PX = 480
_KINDS = kinds_for("hybrid")


def to_minari(episodes: Iterable[Episode], dataset_id: str, width: int | None = WIDTH_PX) -> Any:
    """Write a Minari data set into Minari's own place (MINARI_DATASETS_PATH).

    Observations are those of "screenshot+a11y"; actions are elements of the action space. Steps that a fault
    truncated are left out, and with them the ends of their episodes.

    Args:
        episodes: which; their screens must be of one size.
        dataset_id: such as "sci-gym/kalgebra-v0".
        width: that screens are scaled to, in pixels; None leaves them as they are. Minari spells out the
            bounds of every pixel in the data set's description: some 50 MB for 1920 by 1080.

    Raises:
        MissingDependencyError: minari is not installed.
        ConfigurationError: there is no step.
    """
    minari = load_extra("minari")
    chosen = [episode for episode in episodes if any(True for _ in episode.transitions())]
    at_least_one(len(chosen))
    options = chosen[0].meta.options
    shown = _size((options["width"], options["height"]), width)
    buffers = [_buffer(minari.data_collector.EpisodeBuffer, episode, width) for episode in chosen]
    return minari.create_dataset_from_buffers(
        dataset_id,
        buffers,
        observation_space=make_observation_space("screenshot+a11y", *shown),
        action_space=make_action_space(_KINDS, options["width"], options["height"]),
        data_format="parquet",
        jpeg_encoding=False,
        description="Episodes on desktops, recorded by sci_gym",
        requirements=["sci-gym"],
    )


def _buffer(kind: Any, episode: Episode, width: int | None) -> Any:
    done = [step for _, step in episode.transitions()]
    seen = [episode.steps[0], *done]
    observations = {
        "screenshot": [_scale(episode.frame(step), width) for step in seen],
        "a11y": [tree_text(episode, step) for step in seen],
        "instruction": [episode.meta.instruction] * len(seen),
    }
    return kind(
        seed=episode.meta.seed,
        options={"task": episode.meta.task, "episode": episode.name},
        observations=observations,
        actions=_batch([_element(step) for step in done]),
        rewards=[step.reward for step in done],
        terminations=[step.terminated for step in done],
        truncations=[step.truncated for step in done],
        infos={"coverage_rate": [step.coverage_rate for step in seen]},
    )


def _element(step: Step) -> dict[str, Any]:
    assert step.action is not None  # a transition has one
    return from_action(step.action, _KINDS)


def _batch(elements: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [element[name] for element in elements] for name in elements[0]}


def _size(screen: tuple[int, int], width: int | None) -> tuple[int, int]:
    return screen if width is None else (width, round(screen[1] * width / screen[0]))


def _scale(frame: Frame, width: int | None) -> Frame:
    size = _size((frame.shape[1], frame.shape[0]), width)
    return np.asarray(Image.fromarray(frame).resize(size, Image.Resampling.BILINEAR))
