"""Episodes of several data sets in one."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from sci_gym.data.episodes import DataSet, Episode
from sci_gym.data.objects import ObjectStore
from sci_gym.data.recorder import OBJECTS, begin_episode

_FILES = ("steps.jsonl", "meta.json")


def merge(episodes: Iterable[Episode], target: Path) -> Iterator[Episode]:
    """Add episodes to a data set, under new numbers; yields each that was added.

    Frames and trees are linked where both are on one disk, and copied otherwise. An episode that is there
    already is left out, so that a merge that was cut off can be made again.

    Raises:
        ConfigurationError: an episode, or an object of it, is broken.
    """
    there = {_identity(one) for one in DataSet(target)} if target.is_dir() else set()
    objects = ObjectStore(target / OBJECTS)
    for episode in episodes:
        if _identity(episode) in there:
            continue
        for step in episode.steps:
            for name in (step.frame, step.tree):
                objects.adopt(name, ObjectStore(episode.folder.parent / OBJECTS))
        folder = begin_episode(target)
        for name in reversed(_FILES):  # the steps last: they make it an episode
            shutil.copyfile(episode.folder / name, folder / f"{name}.part")
            (folder / f"{name}.part").replace(folder / name)
        there.add(_identity(episode))
        yield Episode(folder)


def _identity(episode: Episode) -> tuple[object, ...]:
    meta = episode.meta
    return meta.started_unix_s, meta.task, meta.seed, episode.steps[0].frame
