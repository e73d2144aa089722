"""How a data set stands, in figures."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sci_gym.data.episodes import DataSet, Episode
from sci_gym.data.recorder import OBJECTS

RESULTS = ("success", "failure", "fault", "unfinished")


def summarise(data: DataSet, episodes: Iterable[Episode]) -> dict[str, Any]:
    """Figures of some episodes by task, of all of them, and of the data set's folder.

    Returns:
        `tasks` (by name) and `all`: `episodes`, each of `RESULTS`, mean `coverage_rate`, `reward`, `steps`
        and `seconds` of an episode; `all` also has `step_ms`, the median; `screens`: how many steps `show`
        one and how many distinct ones are `kept`; `bytes` on disk.
    """
    chosen = list(episodes)
    tasks = sorted({episode.meta.task for episode in chosen})
    frames = [step.frame for episode in chosen for step in episode.steps]
    calls = [step.timings_ms.get("call", 0.0) for episode in chosen for step in episode.steps[1:]]
    return {
        "tasks": {task: _figures([one for one in chosen if one.meta.task == task]) for task in tasks},
        "all": {**_figures(chosen), "step_ms": round(statistics.median(calls), 1) if calls else 0.0},
        "screens": {"show": len(frames), "kept": len(set(frames))},
        "bytes": {
            "objects": sum(path.stat().st_size for path in (data.folder / OBJECTS).glob("*/*")),
            "episodes": sum(path.stat().st_size for path in data.folder.glob("EPISODE-*/*")),
        },
    }


def _figures(episodes: Sequence[Episode]) -> dict[str, Any]:
    results = Counter(episode.result for episode in episodes)
    means: dict[str, list[float]] = {
        "coverage_rate": [episode.last.coverage_rate for episode in episodes],
        "reward": [episode.total_reward for episode in episodes],
        "steps": [episode.last.step for episode in episodes],
        "seconds": [episode.last.time_s for episode in episodes],
    }
    return {
        "episodes": len(episodes),
        **{name: results[name] for name in RESULTS},
        **{name: round(statistics.fmean(values), 3) if values else 0.0 for name, values in means.items()},
    }
