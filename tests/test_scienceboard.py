"""ScienceBoard's task files: what is read, what is refused, and what a file becomes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from typer.testing import CliRunner

from sci_gym.cli import app as cli
from sci_gym.errors import ConfigurationError, TaskFileError
from sci_gym.loader import load_app, players, select_tasks
from sci_gym.scienceboard import Entry, Player, read_task_file, survey
from sci_gym.scienceboard.library import refused_lambdas
from sci_gym.specs import Check, Evidence, TaskSpec
from tests.scienceboard import solution, solutions

OWN = Path(__file__).parent / "data" / "scienceboard"
PUBLISHED = Path(os.environ.get("SCI_GYM_PEERS", Path(__file__).parents[2] / "shared" / "peers"))
REVISIONS = {"scienceboard": "scienceboard-9896c9b", "scienceboard-verified": "verified-cfee7c8"}
published = pytest.mark.skipif(
    not (PUBLISHED / "scienceboard").is_dir(), reason=f"ScienceBoard's task files are not in {PUBLISHED}"
)
GOOD: Mapping[str, Any] = {
    "type": "KAlgebra",
    "sort": "VM",
    "steps": 5,
    "instruction": "Let p be 1.",
    "version": "0.1",
    "initialize": [{"func": "launch", "command": "kalgebra «PORTLIKE»", "shell": True, "wait": 2.5}],
    "evaluate": [{"type": "val", "key": "p", "value": 1}],
}


def entry_of(tmp_path: Path, **changes: Any) -> Entry:
    path = tmp_path / "A-01.json"
    path.write_text(json.dumps({**GOOD, **changes}, indent=1))
    (entry,) = survey(path, players())
    return entry


def task_of(tmp_path: Path, **changes: Any) -> TaskSpec:
    entry = entry_of(tmp_path, **changes)
    assert entry.task is not None, entry.wrong or entry.cannot
    return entry.task


def holds(task: TaskSpec, **state: Any) -> bool:
    """Whether all checks of a task hold on a state of KAlgebra."""
    predicates = players()["KAlgebra"].app.predicates
    evidence = Evidence(state={"kalgebra": {"tab": "Calculator", "variables": {}, **state}})
    checks = [check for node in task.graph.nodes for check in node.checks]
    return all(
        predicates[one.predicate.removeprefix("kalgebra.")](evidence, **one.arguments) for one in checks
    )


def test_a_file_becomes_a_task(tmp_path: Path) -> None:
    task = task_of(tmp_path, steps=7, initialize=[*GOOD["initialize"], {"func": "tab", "index": 1}])
    assert (task.max_steps, task.instruction, task.question, task.infeasible) == (
        7,
        "Let p be 1.",
        False,
        False,
    )
    assert [(verb.name, verb.arguments) for verb in task.setup] == [("kalgebra.tab", {"name": "2D Graph"})]
    assert task.id.startswith("KAlgebra-A-01@content-")


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"steps": 0}, "4: steps:"),
        ({"steps": "5"}, "4: steps:"),
        ({"setps": 5}, "setps: unknown key 'setps'. Did you mean 'steps'?"),
        ({"type": "Kalgebra"}, "2: type: 'Kalgebra' is none of"),
        ({"initialize": [{"func": "tab", "index": 4}]}, "10: initialize[0].index:"),
        ({"initialize": [{"func": "tab"}]}, "initialize[0].func: func tab: argument 'index' is missing"),
        ({"initialize": [{"func": "tabs", "index": 1}]}, "initialize[0].func: unknown func 'tabs'"),
        ({"initialize": [{"func": "func_2d", "expr": "x^^"}]}, "initialize[0]: func_2d:"),
        ({"evaluate": []}, "evaluate:"),
        (
            {"evaluate": [{"type": "val", "key": "p"}]},
            "evaluate[0].type: type val: argument 'value' is missing",
        ),
        ({"evaluate": [{"type": "stop", "value": "TIMEOUT"}]}, "evaluate[0].value: must be one of"),
        ({"evaluate": [{"type": "stop", "value": "ANS"}]}, "evaluate[0].args: must be a list of words"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, changes: dict[str, Any], place: str) -> None:
    assert place in entry_of(tmp_path, **changes).wrong


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"type": "KAlgebra",\n "steps": }', ":2: JSON: "),
        ("[]", ":1: file: "),
        ('{"type": NaN}', "NaN is no JSON"),
        ("[" * 100_000, ":1: JSON: "),
    ],
)
def test_what_is_no_task_file_is_told(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(TaskFileError, match=r"x\.json") as raised:
        read_task_file(path)
    assert told in str(raised.value)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"sort": "Raw"}, "of sort 'Raw'"),
        (
            {"initialize": [{"func": "download", "url": "https://x.example/y", "path": "~/y"}]},
            "https://x.example/y",
        ),
        (
            {"initialize": [{"func": "touch", "text": "", "path": "/home/user/../root/x"}]},
            "outside /home/user",
        ),
        ({"initialize": [{"func": "launch", "command": "gimp"}]}, "launches 'gimp'"),
        ({"initialize": [{"func": "launch", "command": "kalgebra --help"}]}, "'--help'"),
        ({"evaluate": [{"type": "eqn", "key": [[1, 1]], "value": {"width": 3}}]}, "asks for 'width'"),
        ({"evaluate": [{"type": "eqn", "key": [[1, 1]], "value": {"(1, 2)": True}}]}, "can never hold"),
        ({"evaluate": [{"type": "eqn", "key": [[1, 1]], "value": {"(1, 1)": True, "res": 7}}]}, "res 7"),
        ({"evaluate": [{"type": "eqn", "key": [[1, 1]], "value": {"expr": "x->x"}}]}, "asks for 'expr'"),
        (
            {"evaluate": [{"type": "eqn", "key": [[1, 1]], "value": {"(1, 1)": True, "style": 2}}]},
            "asks for style",
        ),
        (
            {"evaluate": [{"type": "eqn", "key": [[1, 1]], "value": {"(1, 1)": True, "color": "red"}}]},
            "color 'red'",
        ),
        ({"evaluate": [{"type": "val", "key": "p", "value": "one"}]}, "is no number"),
    ],
)
def test_what_cannot_be_given_is_refused_by_name(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    assert told in entry_of(tmp_path, **changes).cannot


def test_stops(tmp_path: Path) -> None:
    asked = task_of(tmp_path, evaluate=[{"type": "stop", "value": "ANS", "args": ["two", "Words"]}])
    assert asked.question
    assert asked.graph.nodes[0].checks == (
        Check("answer_text", {"equals": "two Words", "ignore_case": False}),
    )
    failing = task_of(tmp_path, evaluate=[{"type": "stop", "value": "FAIL"}])
    assert failing.infeasible


def test_values(tmp_path: Path) -> None:
    number = task_of(tmp_path, evaluate=[{"type": "val", "key": "p", "value": 0.5}])
    assert holds(number, variables={"p": "0.5000009"})
    assert not holds(number, variables={"p": "0.500002"})
    assert not holds(number, variables={"p": "1/2"})
    assert not holds(number, variables={"p": "0.5"}, values={"p": "0.5+i"})
    text = task_of(tmp_path, evaluate=[{"type": "var", "key": "p", "value": "1+-i"}])
    assert holds(text, variables={"p": "1"}, values={"p": "1+-i"})
    assert not holds(text, variables={}, values={"p": "1+-i"})
    gone = task_of(tmp_path, evaluate=[{"type": "var", "key": "e", "value": "#UNDEF"}])
    assert holds(gone, variables={})
    assert not holds(gone, variables={"e": "2"})
    assert not holds(gone, tab=None)


PLOTS = [{"name": "f0", "plot": "x^2", "color": "#ff0000", "visible": False}]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"(2, 4)": True, "(2, 5)": False}, True),
        ({"(2, 4)": True, "(2, 5)": True}, False),
        ({"(2, 4)": False}, False),
        ({"(2, 4)": True, "color": "#ff0000"}, True),
        ({"(2, 4)": True, "color": "#0000ff"}, False),
        ({"(2, 4)": True, "res": 3328}, True),
        ({"(2, 4)": True, "res": 832}, False),
    ],
)
def test_equations(tmp_path: Path, value: dict[str, Any], expected: bool) -> None:
    task = task_of(tmp_path, evaluate=[{"type": "eqn", "key": [[2, 4], [2, 5]], "value": value}])
    assert holds(task, plots_2d=PLOTS, resolution="Very Fine") is expected


@pytest.mark.parametrize(
    ("plot", "point", "passes"),
    [
        ("y->y^2", "(9, 3)", True),
        ("y->y^2", "(3, 9)", False),
        ("q->2*q", "(-1, -2)", True),
        ("x^2+y^2=25", "(3, -4)", True),
        ("x^2+y^2=25", "(3, 3)", False),
        ("(x-y)^2=0", "(3, 3)", True),
        ("ln(x)", "(-1, 0)", False),
        ("t->vector{t, t^2}", "(2, 4)", True),
        ("t->vector{t, t^2}", "(2, 3)", False),
        ("x^2-z^2", "(3, 5, 2)", True),
        ("x^2-y^2=2", "(3, -5, -18)", True),
        ("x^2+y^2+z^2=9", "(1, 2, -2)", True),
        ("x^2+y^2+z^2=9", "(1, 2, 1)", False),
        ("(u,v)->vector{u,v,0}", "(1, 1, 0)", False),
        ("no plot(", "(1, 1)", False),
    ],
)
def test_points_on_plots(tmp_path: Path, plot: str, point: str, passes: bool) -> None:
    key = [float(part) for part in point[1:-1].split(",")]
    task = task_of(tmp_path, evaluate=[{"type": "eqn", "key": [key], "value": {point: True}}])
    assert holds(task, **{f"plots_{len(key)}d": [{"plot": plot, "visible": True}]}) is passes


def test_sizes(tmp_path: Path) -> None:
    task = task_of(tmp_path, evaluate=[{"type": "eqn", "key": "#SIZE", "value": 1}])
    assert holds(task, plots_2d=PLOTS)
    assert not holds(task, plots_2d=[])


def test_a_folder_is_drawn_from_and_other_programs_are_left_out() -> None:
    draw = select_tasks(load_app("kalgebra"), f"scienceboard:{OWN}")
    assert {draw(np.random.default_rng(seed)).id.partition("@")[0] for seed in range(9)} == {"KAlgebra-X-01"}


@pytest.mark.parametrize(
    ("place", "told"), [("GrassGIS", "needs SciBoard-GrassGIS-v0"), ("none", "no task files")]
)
def test_a_folder_with_nothing_to_play_is_refused(place: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        gym.make("SciBoard-KAlgebra-v0", task=f"scienceboard:{OWN / place}", disable_env_checker=True)


def test_the_command_tells_what_loads() -> None:
    result = CliRunner().invoke(cli, ["import", "scienceboard", str(OWN), "--json"])
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert [(row["program"], row["loads"], row["cannot"]) for row in told["programs"]] == [
        ("GrassGIS", 1, 0),
        ("KAlgebra", 1, 0),
        ("TeXstudio", 1, 0),
    ]
    only = CliRunner().invoke(cli, ["import", "scienceboard", str(OWN), "--app", "kalgebra", "--json"])
    assert len(json.loads(only.stdout)["files"]) == 1


def test_the_command_fails_on_a_wrong_file(tmp_path: Path) -> None:
    (tmp_path / "A-01.json").write_text("{")
    result = CliRunner().invoke(cli, ["import", "scienceboard", str(tmp_path)])
    assert result.exit_code == 1
    assert "A-01.json:1: JSON" in result.stdout.replace("\n", "")


@published
@pytest.mark.parametrize("folder", REVISIONS)
def test_every_published_file_is_read_and_named_by_its_revision(folder: str) -> None:
    entries = list(survey(PUBLISHED / folder, players()))
    assert [entry.path for entry in entries if entry.wrong] == []
    assert {str(entry.revision) for entry in entries} == {REVISIONS[folder]}
    assert [entry.path for entry in entries if entry.program == "KAlgebra" and entry.task is None] == []


@published
def test_only_what_looks_into_python_is_refused_of_the_published_lambdas() -> None:
    files = [read_task_file(path) for folder in REVISIONS for path in (PUBLISHED / folder).rglob("*.json")]
    refused = {(file.program, file.path.stem) for file in files if list(refused_lambdas(file))}
    assert refused == {("GrassGIS", "B-12"), ("ChimeraX", "D-03")}


@published
def test_two_revisions_are_compared_field_by_field() -> None:
    folders = [str(PUBLISHED / folder / "KAlgebra") for folder in REVISIONS]
    result = CliRunner().invoke(cli, ["import", "scienceboard", folders[0], "--beside", folders[1], "--json"])
    assert json.loads(result.stdout)["differs"] == [
        {"path": "C-07.json", "fields": ["evaluate", "ans"]},
        {"path": "C-12.json", "fields": ["evaluate", "ans"]},
    ]


@published
def test_mended_faults_are_told_of_the_earlier_revision_only() -> None:
    told = {
        folder: {
            entry.path.stem
            for entry in survey(PUBLISHED / folder / "KAlgebra", players())
            if any(fault.mended_by for fault in entry.faults)
        }
        for folder in REVISIONS
    }
    assert told == {"scienceboard": {"C-07", "C-12"}, "scienceboard-verified": set()}


@pytest.mark.parametrize("player", players().values(), ids=players())
def test_the_documentation_holds_the_table_of_sources(player: Player) -> None:
    text = (OWN.parents[2] / "docs" / "scienceboard.md").read_text()
    for source in player.adapter.sources:
        assert f"| {source.key} | {source.ours} | {'exact' if source.exact else 'approximate'}" in text


@pytest.mark.parametrize("program", players())
def test_solutions_are_of_known_steps(program: str) -> None:
    for revision, table in solutions(program).items():
        for name in table:
            assert solution(f"{program}-{name}@{'verified' if revision == 'both' else revision}-0")
