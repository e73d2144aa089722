"""A data set as tables: plain Parquet beside pictures, Hugging Face `datasets`. Both need `sci-gym[data]`.

A row is an action: what was seen before it, in words of every dialect what was done, what came of it.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sci_gym.data.dialects import DIALECTS
from sci_gym.data.episodes import Episode, Step
from sci_gym.data.exports import Pictures
from sci_gym.data.objects import encode_png
from sci_gym.data.recorder import action_record
from sci_gym.errors import ConfigurationError, MissingDependencyError
from sci_gym.observation import describe_tree

if TYPE_CHECKING:
    import datasets

_SCREENS = ("screenshot", "next_screenshot")

Row = dict[str, Any]
_COLUMNS = {
    **dict.fromkeys(("episode", "env_id", "app", "task", "difficulty", "instruction"), "string"),
    **dict.fromkeys(("parameters", "versions", "notes"), "string"),
    "seed": "int64",
    "episode_result": "string",
    "episode_coverage": "float64",
    "step": "int64",
    "action": "string",
    **{f"action_{name}": "string" for name in DIALECTS},
    "said": "string",
    "reward": "float64",
    **dict.fromkeys(("terminated", "truncated", "success"), "bool_"),
    "infra_error": "string",
    **dict.fromkeys(("coverage_rate", "logical_consistency"), "float64"),
    **dict.fromkeys(("graph", "output", "a11y", "timings_ms"), "string"),
    "time_s": "float64",
    **dict.fromkeys(_SCREENS, "string"),
}
"""Column to type; what has parts of its own is JSON."""


def rows(episodes: Iterable[Episode], screen: Callable[[Episode, Step], Any]) -> Iterator[Row]:
    """A row for each action, faults of the machine included (`infra_error`).

    Args:
        episodes: which.
        screen: what stands for the screen after a step.
    """
    for episode in episodes:
        for before, step in zip(episode.steps, episode.steps[1:], strict=False):
            yield {
                **_episode_columns(episode),
                **_step_columns(episode, before, step),
                "screenshot": screen(episode, before),
                "next_screenshot": screen(episode, step),
            }


def write_parquet(episodes: Iterable[Episode], folder: Path) -> int:
    """Write `steps.parquet`, whose screenshots are paths of PNG files beside it; returns how many rows.

    Raises:
        MissingDependencyError: pyarrow is not installed.
        ConfigurationError: there is no row.
    """
    pa, parquet = load_extra("pyarrow"), load_extra("pyarrow.parquet")
    folder.mkdir(parents=True, exist_ok=True)
    pictures, count, writer = Pictures(folder), 0, None
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in _COLUMNS.items()])
    try:
        for episode in episodes:
            table = pa.Table.from_pylist(list(rows([episode], pictures.of)), schema)
            writer = writer or parquet.ParquetWriter(folder / "steps.parquet", schema, compression="zstd")
            writer.write_table(table)
            count += len(table)
    finally:
        if writer is not None:
            writer.close()
    return at_least_one(count)


def to_huggingface(episodes: Iterable[Episode]) -> datasets.Dataset:
    """A `datasets.Dataset` with a row for each action; screens are pictures.

    Raises:
        MissingDependencyError: datasets is not installed.
        ConfigurationError: there is no row.
    """
    hub = load_extra("datasets")
    chosen = list(episodes)
    at_least_one(sum(len(one.steps) - 1 for one in chosen))
    features = {name: hub.Value(kind.replace("bool_", "bool")) for name, kind in _COLUMNS.items()}
    features |= {name: hub.Image() for name in _SCREENS}
    encoded: dict[str, bytes] = {}

    def screen(episode: Episode, step: Step) -> dict[str, Any]:
        if step.frame not in encoded:
            encoded[step.frame] = encode_png(episode.frame(step))
        return {"bytes": encoded[step.frame], "path": f"{step.frame}.png"}

    made: datasets.Dataset = hub.Dataset.from_list(list(rows(chosen, screen)), hub.Features(features))
    return made


def _episode_columns(episode: Episode) -> Row:
    meta = episode.meta
    plain = {name: getattr(meta, name) for name in ("env_id", "app", "task", "difficulty", "instruction")}
    nested = {name: json.dumps(getattr(meta, name)) for name in ("parameters", "versions", "notes")}
    results = {"episode_result": episode.result, "episode_coverage": episode.last.coverage_rate}
    return {"episode": episode.name, **plain, **nested, "seed": meta.seed, **results}


def _step_columns(episode: Episode, before: Step, step: Step) -> Row:
    options, action = episode.meta.options, step.action
    size = options["width"], options["height"]
    words = {f"action_{name}": one.write(action, size) if action else None for name, one in DIALECTS.items()}
    plain = ("step", "reward", "terminated", "truncated", "success", "coverage_rate", "logical_consistency")
    return {
        **{name: getattr(step, name) for name in (*plain, "output", "time_s")},
        "action": json.dumps(action_record(action)) if action else None,
        **words,
        "said": None if step.said is None else str(step.said),
        "infra_error": json.dumps(step.infra_error) if step.infra_error else None,
        "graph": json.dumps(step.graph),
        "timings_ms": json.dumps(step.timings_ms),
        "a11y": tree_text(episode, before),
    }


def tree_text(episode: Episode, step: Step) -> str:
    """The accessibility tree after a step, as `SciEnv` shows it in `a11y`."""
    tree = episode.tree(step)
    return describe_tree(tree, episode.marks(step, tree))


def load_extra(module: str) -> Any:
    """A module that the extra `data` brings; MissingDependencyError says so where it is not there."""
    try:
        return importlib.import_module(module)
    except ImportError as exc:
        raise MissingDependencyError(
            f"{module.partition('.')[0]} is not installed; install it with: pip install 'sci-gym[data]'"
        ) from exc


def at_least_one(count: int) -> int:
    """The count; ConfigurationError where there is nothing to write."""
    if not count:
        raise ConfigurationError("no episode that is chosen has a step to write; choose others")
    return count
