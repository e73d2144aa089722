"""ScienceBoard's tasks for TeXstudio: what files become, and the published ones on the real program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sci_gym.envs.texstudio.scienceboard import ADAPTER
from sci_gym.loader import players
from sci_gym.scienceboard import Entry, survey
from sci_gym.specs import Evidence, Verb
from tests.scienceboard import Played, play_all
from tests.test_scienceboard import PUBLISHED, REVISIONS, published

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


@published
@pytest.mark.parametrize("folder", REVISIONS)
def test_those_that_need_no_other_program_load(folder: str) -> None:
    entries = list(survey(PUBLISHED / folder / "TeXstudio", players()))
    assert {entry.path.stem for entry in entries if entry.task is None} == OTHER_PROGRAMS
    assert all("does not start" in entry.cannot for entry in entries if entry.task is None)


@published
@pytest.mark.program
def test_a_sample_of_the_published_tasks_is_solved_and_none_passes_untouched() -> None:
    played = list(play_all("TeXstudio", PUBLISHED / "scienceboard-verified" / "TeXstudio", SAMPLE))
    assert len(played) == len(SAMPLE)
    for one in played:
        assert one == Played(one.task, initialised=True, untouched=False, solved=True)
