"""ScienceBoard's tasks for GRASS GIS: what files become, and the published ones on the real program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sci_gym.envs.grass_gis.locations import PIEMONTE, VARIABLE
from sci_gym.envs.grass_gis.scienceboard import ADAPTER
from sci_gym.loader import players
from sci_gym.scienceboard import Entry, survey
from sci_gym.specs import Evidence, TaskSpec, Verb
from tests.scienceboard import Played, play_all
from tests.test_scienceboard import PUBLISHED, REVISIONS, published

SAMPLE = ("A-05", "D-04")
"""A condition on the interface, and one on what a command prints of a map."""
MADE = {"A-01", "A-02", "A-04", "A-05", "A-08", "B-02", "D-04"}
"""What plays on the locations that are made here."""
LAUNCH = {
    "func": "launch", "shell": True,
    "command": 'gnome-terminal -- /bin/bash -ic "FLASK_PORT=8000 grass --gui '
    '/home/user/grassdata/world_latlong_wgs84/PERMANENT"',
}  # fmt: skip
MAP = {
    "func": "map", "grassdb": "/home/user/grassdata", "location": "natural_earth_dataset",
    "mapset": "PERMANENT",
}  # fmt: skip
MODE = {"type": "info", "key": "lambda dump: dump['statusbar']['mode']", "value": 3}
GOOD: Mapping[str, Any] = {
    "type": "GrassGIS", "sort": "VM", "steps": 5, "instruction": "Show it.", "version": "0.1",
    "initialize": [
        LAUNCH, MAP, {"func": "layer", "query": {"name": "countries"}}, {"func": "scale", "scale": 25},
    ],
    "evaluate": [MODE],
}  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_brought(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def entry_of(folder: Path, **changes: Any) -> Entry:
    path = folder / "A-01.json"
    path.write_text(json.dumps({**GOOD, **changes}))
    (entry,) = survey(path, players())
    return entry


def task_of(folder: Path, **changes: Any) -> TaskSpec:
    entry = entry_of(folder, **changes)
    assert entry.task is not None, entry.wrong or entry.cannot
    return entry.task


def holds(task: TaskSpec, **state: Any) -> bool:
    checks = [check for node in task.graph.nodes for check in node.checks]
    evidence = Evidence({"grass_gis": state})
    named = [(ADAPTER.predicates[one.predicate.removeprefix("grass_gis.")], one.arguments) for one in checks]
    return all(predicate(evidence, **arguments) for predicate, arguments in named)


def bring(folder: Path, location: str, *maps: str) -> Path:
    """A folder with a location that has nothing but the names of maps."""
    for name in maps:
        (folder / location / "PERMANENT" / "vector" / name).mkdir(parents=True)
    (folder / location / "PERMANENT" / "DEFAULT_WIND").write_text("")
    return folder


def test_a_file_becomes_a_task(tmp_path: Path) -> None:
    place = {"location": "natural_earth_dataset", "mapset": "PERMANENT"}
    assert task_of(tmp_path).setup == (
        Verb("grass_gis.scienceboard_map", place),
        Verb("grass_gis.scienceboard_layer", {"name": "countries", "kind": "", **place}),
        Verb("grass_gis.scienceboard_scale", {"scale": 25}),
    )


def test_conditions_on_the_interface(tmp_path: Path) -> None:
    task = task_of(tmp_path)
    assert holds(task, dump={"statusbar": {"mode": 3}})
    assert not holds(task, dump={"statusbar": {"mode": 0}})
    assert not holds(task, dump={"statusbar": {}})
    assert not holds(task, dump={})
    assert not holds(task)


def test_conditions_on_what_a_command_prints(tmp_path: Path) -> None:
    asked = {
        "type": "db", "cmd": "v.db.select", "kwargs": {"map": "countries@PERMANENT", "flags": "c"},
        "key": "lambda out: out.strip()", "value": "x", "pred": "lambda key, value: key == value",
    }  # fmt: skip
    task = task_of(tmp_path, evaluate=[asked])
    (inspection,) = task.inspections
    assert inspection.argv[3:] == (
        "natural_earth_dataset", "v.db.select", "map=countries@PERMANENT", "-c",
    )  # fmt: skip
    command = inspection.name.removeprefix("grass_gis.command ")
    assert holds(task, commands={command: " x\n"})
    assert not holds(task, commands={command: "y"})
    assert not holds(task, commands={})


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"initialize": [{**LAUNCH, "command": "gimp"}]}, "only `grass --gui"),
        ({"initialize": [{**LAUNCH, "command": "grass --gui x"}]}, "no DATABASE/LOCATION/MAPSET"),
        ({"initialize": [LAUNCH, {**MAP, "grassdb": "/srv"}]}, "the database '/srv'"),
        ({"initialize": [LAUNCH, {**MAP, "mapset": "x; y"}]}, "which are no names"),
        ({"initialize": [LAUNCH, {**MAP, "location": PIEMONTE}]}, "http://geodati.fmach.it"),
        ({"initialize": [LAUNCH, MAP, {"func": "layer", "query": {"name": "rivers"}}]}, "zenodo.org"),
        ({"initialize": [LAUNCH, MAP, {"func": "layer", "query": {"label": "x"}}]}, "by {'label'"),
        (
            {"evaluate": [{"type": "stop", "value": "ANS", "args": ["61"]}]},
            "what stands in all maps of 'natural_earth_dataset'",
        ),
        ({"evaluate": [{**MODE, "value": "rivers@PERMANENT"}]}, "the map 'rivers'"),
        ({"evaluate": [{**MODE, "key": "lambda dump: dump['history']"}]}, "asks for 'history'"),
        ({"evaluate": [{**MODE, "key": "lambda dump: dump.x"}]}, "the attribute 'x'"),
        ({"evaluate": [{**MODE, "key": "statusbar"}]}, "it is no lambda"),
        ({"evaluate": [{**MODE, "pred": "lambda key: key"}]}, "takes 1 values, not 2"),
        ({"evaluate": [{"type": "db", "cmd": "rm", "kwargs": {}, "key": "lambda x: x", "value": 1}]}, "'rm'"),
    ],
)
def test_what_cannot_be_given_is_refused_by_name(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    assert told in entry_of(tmp_path, **changes).cannot


def test_a_location_that_a_user_brings_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    brought = bring(tmp_path / "data", PIEMONTE, "lakes")
    monkeypatch.setenv(VARIABLE, str(brought))
    start = [LAUNCH, {**MAP, "location": PIEMONTE}]
    asked = [{"type": "stop", "value": "ANS", "args": ["8"]}]
    task_of(tmp_path, initialize=[*start, {"func": "layer", "query": {"name": "lakes"}}], evaluate=asked)
    missing = entry_of(tmp_path, initialize=[*start, {"func": "layer", "query": {"name": "rivers"}}])
    assert "the map 'rivers'" in missing.cannot
    app = players()["GrassGIS"].app
    assert [one.shown for one in app.requirements if one.shown] == [str(brought)]
    assert app.programs[0].argv[-1] == str(brought)


@published
@pytest.mark.parametrize("folder", REVISIONS)
def test_those_whose_data_are_here_load_and_the_rest_say_where_to_get_them(folder: str) -> None:
    entries = {entry.path.stem: entry for entry in survey(PUBLISHED / folder / "GrassGIS", players())}
    assert {name for name, entry in entries.items() if entry.task} == MADE
    lacking = [entry for name, entry in entries.items() if name not in {*MADE, "B-12"}]
    assert all(f"name that in {VARIABLE}" in entry.cannot for entry in lacking)


@published
@pytest.mark.program
def test_a_sample_of_the_published_tasks_is_solved_and_none_passes_untouched() -> None:
    played = list(play_all("GrassGIS", PUBLISHED / "scienceboard-verified" / "GrassGIS", SAMPLE))
    assert len(played) == len(SAMPLE)
    for one in played:
        assert one == Played(one.task, initialised=True, untouched=False, solved=True)
