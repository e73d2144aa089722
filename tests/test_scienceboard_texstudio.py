"""ScienceBoard's tasks for TeXstudio: what files become, and the published ones on the real program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from sci_gym.envs.texstudio.scienceboard import ADAPTER
from sci_gym.loader import players
from sci_gym.oracle import play
from sci_gym.scienceboard import Entry, survey
from sci_gym.specs import Action, Evidence, OracleStep, Verb
from tests.scienceboard import Played, play_all
from tests.test_scienceboard import OWN, PUBLISHED, REVISIONS, published

SAMPLE = ("B-01", "C-06")
"""References that are built, and a document that cannot be built at first."""
OTHER_PROGRAMS = {"A-01", "A-02", "A-03", "B-02", "B-03", "C-01", "C-05"}
MAIN = "\\documentclass{article}\n\\usepackage{a, b}\n% \\usepackage{c}\n\\includegraphics{figs/x}\n"
TOUCH = {"func": "touch", "text": MAIN, "path": "/home/user/atelier/main.tex"}
LAUNCH = {"func": "launch", "command": "texstudio /home/user/atelier/main.tex", "shell": True}
FILE = {"type": "file", "path": "/home/user/atelier/main.tex", "source": "figs/x", "target": "figs/y"}
GOOD: Mapping[str, Any] = {
    "type": "TeXstudio", "sort": "VM", "steps": 10, "instruction": "Mend it.", "version": "0.1",
    "initialize": [TOUCH, LAUNCH], "evaluate": [FILE],
}  # fmt: skip


def entry_of(folder: Path, **changes: Any) -> Entry:
    path = folder / "A-01.json"
    path.write_text(json.dumps({**GOOD, **changes}))
    (entry,) = survey(path, players())
    return entry


def test_a_file_becomes_a_task_with_what_it_needs(tmp_path: Path) -> None:
    compiled = {"type": "compile", "path": "/home/user/atelier", "file": "main"}
    task = entry_of(tmp_path, evaluate=[FILE, compiled]).task
    assert task is not None
    assert task.setup[1:] == (
        Verb("texstudio.scienceboard_styles", {"names": ["a", "b"]}),
        Verb("texstudio.scienceboard_graphic", {"path": "atelier/figs/y.pdf"}),
        Verb("texstudio.scienceboard_open", {"path": "atelier/main.tex"}),
    )
    assert task.files == ("atelier/main.tex",)
    (inspection,) = task.inspections
    assert inspection.name == "texstudio.build:atelier/main"
    assert inspection.argv[3:] == ("atelier", "main")


def test_a_file_is_compared_as_a_whole(tmp_path: Path) -> None:
    task = entry_of(tmp_path).task
    assert task is not None
    (check,) = task.graph.nodes[0].checks
    holds = ADAPTER.predicates[check.predicate.removeprefix("texstudio.")]
    right = MAIN.replace("figs/x", "figs/y").encode()
    for data, expected in ((right, True), (right + b"\n", False), (MAIN.encode(), False), (None, False)):
        evidence = Evidence({"texstudio": {}}, {"atelier/main.tex": data})
        assert holds(evidence, **check.arguments) is expected


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"initialize": [TOUCH, {**LAUNCH, "command": "code x"}]}, "launches 'code'"),
        ({"initialize": [TOUCH, {**LAUNCH, "command": "texstudio /home/user/y.tex"}]}, "opens 'y.tex'"),
        ({"evaluate": [{**FILE, "path": "/home/user/y.tex"}]}, "is not written by the task"),
        ({"evaluate": [{"type": "include", "path": "/home/user/y", "pattern": "(?=x)"}]}, "no form"),
        ({"evaluate": [{"type": "compile", "path": "/home/user/atelier", "file": "-x"}]}, "no name"),
        ({"evaluate": [{**FILE, "target": "figs/x.eps"}]}, "was in ScienceBoard's own image"),
    ],
)
def test_what_cannot_be_given_is_refused_by_name(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    assert told in entry_of(tmp_path, **changes).cannot


def test_a_program_that_is_launched_beside_it_sets_up_and_judges_under_its_own_name(tmp_path: Path) -> None:
    other = [{"func": "launch", "command": "kalgebra"}, {"func": "kalgebra_tab", "index": 1}]
    asked = {"type": "kalgebra_val", "key": "p", "value": 1}
    task = entry_of(tmp_path, initialize=[TOUCH, *other, LAUNCH], evaluate=[FILE, asked]).task
    assert task is not None
    assert task.app == "texstudio"
    assert [verb.name for verb in task.setup] == [
        "texstudio.scienceboard_touch", "kalgebra.scienceboard_launched", "kalgebra.tab",
        "texstudio.scienceboard_styles", "texstudio.scienceboard_graphic", "texstudio.scienceboard_open",
    ]  # fmt: skip
    checked = [(node.application, node.checks[0].predicate) for node in task.graph.nodes]
    assert checked == [
        ("texstudio", "texstudio.scienceboard_file"), ("kalgebra", "kalgebra.scienceboard_val"),
    ]  # fmt: skip
    env = gym.make("SciBoard-TeXstudio-v0", task=f"scienceboard:{tmp_path}", disable_env_checker=True)
    env.close()
    app = env.unwrapped.app  # type: ignore[attr-defined]
    assert [part.name for part in app.parts] == ["texstudio", "kalgebra"]
    assert [program.name for program in app.programs] == ["texstudio"]
    assert [part.name for part in app.late_parts(task)] == ["kalgebra"]


def test_a_program_beside_it_that_nobody_brought_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCI_GYM_CHIMERAX", str(tmp_path))
    entry = entry_of(tmp_path, initialize=[TOUCH, LAUNCH, {"func": "launch", "command": ["chimerax"]}])
    assert "launches ChimeraX beside TeXstudio" in entry.cannot
    assert "chimerax/download" in entry.cannot


@published
@pytest.mark.parametrize("folder", REVISIONS)
def test_those_that_need_no_other_program_load(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SCI_GYM_GRASSDATA", raising=False)
    for variable in ("SCI_GYM_CHIMERAX", "SCI_GYM_CELESTIA"):
        monkeypatch.setenv(variable, str(tmp_path))
    entries = list(survey(PUBLISHED / folder / "TeXstudio", players()))
    assert {entry.path.stem for entry in entries if entry.task is None} == OTHER_PROGRAMS
    told = ("launches", "needs the location")
    assert all(any(word in entry.cannot for word in told) for entry in entries if entry.task is None)


@pytest.mark.program
def test_two_programs_are_played_on_one_desktop() -> None:
    def at(role: str, name: str, label: str | None = None, nth: int = 0) -> OracleStep:
        return OracleStep(Action.click(0, 0), role=role, name=name, label=label, nth=nth)

    env = gym.make("SciBoard-TeXstudio-v0", task=f"scienceboard:{OWN / 'TeXstudio' / 'X-01.json'}",
                   reward="sparse", disable_env_checker=True)  # fmt: skip
    try:
        _, info = env.reset(seed=1)
        assert not info["success"]
        steps = [
            *map(OracleStep, [Action.hotkey("ctrl", "g"), Action.type("3\n"), Action.hotkey("shift", "end"),
                              Action.type("world\\_latlong\\_wgs84"), Action.hotkey("ctrl", "s"),
                              Action.hotkey("alt", "tab")]),
            at("push button", "Add vector map"), at("text", "", label="(map=name)"),
            OracleStep(Action.type("country_boundaries@PERMANENT")), at("push button", "OK", nth=-1),
            OracleStep(Action.wait(3.0)), OracleStep(Action.done()),
        ]  # fmt: skip
        *_, (_, reward, terminated, _, info) = play(env, steps)
        assert (reward, terminated, info["success"]) == (1.0, True, True), info["graph"]
    finally:
        env.close()


@published
@pytest.mark.program
def test_a_sample_of_the_published_tasks_is_solved_and_none_passes_untouched() -> None:
    played = list(play_all("TeXstudio", PUBLISHED / "scienceboard-verified" / "TeXstudio", SAMPLE))
    assert len(played) == len(SAMPLE)
    for one in played:
        assert one == Played(one.task, initialised=True, untouched=False, solved=True)
