"""ScienceBoard's tasks for Celestia: what files become, and what holds of what the program tells."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sci_gym.envs.celestia.scienceboard import ADAPTER
from sci_gym.envs.celestia.state import read
from sci_gym.loader import load_app
from sci_gym.scienceboard import Entry, Player, survey
from sci_gym.specs import Evidence, TaskSpec, Verb
from tests.scienceboard import Played, play_all
from tests.test_scienceboard import PUBLISHED, REVISIONS, published

SAMPLE = ("A-03", "B-02", "B-08")
"""What is drawn, how far an entity is, and which of them are in the view."""
COMMAND = "LD_LIBRARY_PATH=/home/user/6.5.0 /app/bin/celestia-qt6 «PORTLIKE»"
LAUNCH = {"func": "launch", "command": COMMAND, "shell": True}
PAUSED = {"type": "info", "key": "lambda dump: dump['time']['pause']", "value": True}
GOOD: Mapping[str, Any] = {
    "type": "Celestia", "sort": "VM", "steps": 5, "instruction": "Look.", "version": "1.0",
    "initialize": [{"func": "opt", "depth": 6}, LAUNCH],
    "query": [{"name": "Sol", "type": 1}, {"name": "Moon", "type": 2}, {"name": "M 31", "type": 3}],
    "evaluate": [PAUSED],
}  # fmt: skip
LEVEL = [1, 0, 0, 0]
"""The orientation of an observer who looks along the ecliptic's second axis."""


def entry_of(folder: Path, **changes: Any) -> Entry:
    path = folder / "A-01.json"
    path.write_text(json.dumps({**GOOD, **changes}))
    (entry,) = survey(path, {"Celestia": Player.of(load_app("celestia"), ADAPTER)})
    return entry


def task_of(folder: Path, *evaluate: Mapping[str, Any]) -> TaskSpec:
    entry = entry_of(folder, **({"evaluate": evaluate} if evaluate else {}))
    assert entry.task is not None, entry.wrong or entry.cannot
    return entry.task


def holds(folder: Path, key: str, value: Any = True, pred: str | None = None, **subjects: Any) -> bool:
    """Whether an item holds of a program that tells these subjects."""
    item = {"type": "info", "key": f"lambda dump: {key}", "value": value}
    task = task_of(folder, {**item, "pred": pred} if pred else item)
    (check,) = [check for node in task.graph.nodes for check in node.checks]
    lines = [
        json.dumps({"what": what, "is": told}) for what, told in {"main": {"done": 0}, **subjects}.items()
    ]
    predicate = ADAPTER.predicates[check.predicate.removeprefix("celestia.")]
    return predicate(Evidence({"celestia": read(lines)}), **check.arguments)


def entity(kind: str, away: list[float], radius: float) -> dict[str, Any]:
    places = {"position": away, "away": away, "distance": sum(part**2 for part in away) ** 0.5}
    return {"kind": kind, "radius": radius, "visible": True, **places}


def test_a_file_becomes_a_task(tmp_path: Path) -> None:
    assert task_of(tmp_path).setup == (
        Verb("celestia.paused", {"yes": False}),
        Verb("celestia.watch", {"kind": "star", "name": "Sol"}),
        Verb("celestia.watch", {"kind": "body", "name": "Moon"}),
        Verb("celestia.watch", {"kind": "deep sky", "name": "M 31"}),
    )


def test_time_and_what_is_drawn(tmp_path: Path) -> None:
    near = "lambda key, value: abs(key - value) < 0.1"
    assert holds(tmp_path, "dump['time']['value']", 2400000, near, time={"tdb": 2400000.05})
    assert not holds(tmp_path, "dump['time']['value']", 2400000, near, time={"tdb": 2400001})
    assert not holds(tmp_path, "dump['time']['value']", 2400000, near)
    shown = {
        "render": {"horizontalgrid": True, "equatorialgrid": False}, "orbit": {"DwarfPlanet": True},
        "label": {"openclusters": True, "galaxies": False}, "faintest_at_45_degrees": 9,
        "star_style": "point",
    }  # fmt: skip
    config = "dump['config']"
    assert holds(tmp_path, f"{config}['render']['horizonGrid']", shown=shown)
    assert not holds(tmp_path, f"{config}['render']['celestialSphere']", shown=shown)
    assert not holds(tmp_path, f"{config}['render']['planetRings']", shown=shown)
    assert holds(tmp_path, f"{config}['orbit']['dwarfPlanet']", shown=shown)
    assert holds(tmp_path, f"{config}['label']['openCluster']", shown=shown)
    assert holds(tmp_path, f"{config}['label']['galaxy']", False, shown=shown)
    assert holds(tmp_path, f"{config}['autoMagnitude']", 9, shown=shown)
    assert holds(tmp_path, f"{config}['starStyle']", 1, shown=shown)


def test_distances_are_from_the_surface(tmp_path: Path) -> None:
    watched = {"Moon": entity("body", [5000, 0, 0], 1737)}
    assert holds(tmp_path, "dump['entity']['Moon']['distance']", 3263, watched=watched)
    assert not holds(tmp_path, "dump['entity']['Moon']['distance']", 3263)
    galaxy = {"M 31": entity("deep sky", [2e19, 0, 0], 7e17)}
    assert holds(tmp_path, "dump['entity']['M 31']['distance'] > 1.99e19", watched=galaxy)


@pytest.mark.parametrize(
    ("moon", "sun", "moon_is_seen", "sun_is_seen"),
    [
        ([0, 5000, 0], [4e7, 1e8, 0], True, True),
        ([0, 5000, 0], [1e6, 1e8, 0], True, False),
        ([0, 5000, 0], [0, -1e8, 0], True, False),
        ([0, 5000, 4000], [0, 1e8, 0], False, True),
        ([2000, 5000, 0], [0, 1e8, 0], True, True),
    ],
)
def test_what_is_in_the_view_and_not_covered_is_visible(
    tmp_path: Path, moon: list[float], sun: list[float], moon_is_seen: bool, sun_is_seen: bool
) -> None:
    observer = {"at": [0, 0, 0], "orientation": LEVEL, "field_of_view": 36, "window": [1600, 1000]}
    watched = {"Moon": entity("body", moon, 1737), "Sol": entity("star", sun, 696_000)}
    told = {"observer": observer, "watched": watched}
    assert holds(tmp_path, "dump['entity']['Moon']['visible']", moon_is_seen, **told)
    assert holds(tmp_path, "dump['entity']['Sol']['visible']", sun_is_seen, **told)
    watched["Moon"]["visible"] = False
    assert holds(tmp_path, "dump['entity']['Moon']['hidden']", **told)
    assert holds(tmp_path, "dump['entity']['Moon']['visible']", False, **told)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"initialize": [{**LAUNCH, "command": "gimp"}]}, "launches 'gimp'"),
        ({"initialize": [{**LAUNCH, "command": "celestia-qt6 --log x"}]}, "started without arguments"),
        ({"query": [{"name": "Paris", "type": 4}]}, "queries 'Paris' of type 4"),
        (
            {"evaluate": [{**PAUSED, "key": "lambda dump: dump['entity']['Moon']['mark']['frameAxes']"}]},
            "'frameAxes', which the stock program does not tell",
        ),
        ({"evaluate": [{**PAUSED, "key": "lambda dump: dump['entity']['Mars']"}]}, "'Mars'"),
        ({"evaluate": [{**PAUSED, "key": "lambda dump: open('x')"}]}, "the name 'open'"),
        ({"evaluate": [{**PAUSED, "pred": "lambda key: key"}]}, "takes 1 values, not 2"),
    ],
)
def test_what_cannot_be_given_is_refused_by_name(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    assert told in entry_of(tmp_path, **changes).cannot


@published
@pytest.mark.parametrize("folder", REVISIONS)
def test_all_published_files_load_but_the_one_that_asks_for_reference_marks(folder: str) -> None:
    entries = survey(PUBLISHED / folder / "Celestia", {"Celestia": Player.of(load_app("celestia"), ADAPTER)})
    assert {entry.path.stem for entry in entries if entry.task is None} <= {"B-05"}


@published
@pytest.mark.program
@pytest.mark.needs_installation("celestia")
@pytest.mark.timeout(900)
def test_a_sample_of_the_published_tasks_is_solved_and_none_passes_untouched() -> None:
    played = list(play_all("Celestia", PUBLISHED / "scienceboard-verified" / "Celestia", SAMPLE))
    assert len(played) == len(SAMPLE)
    for one in played:
        assert one == Played(one.task, initialised=True, untouched=False, solved=True)
