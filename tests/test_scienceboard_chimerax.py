"""ScienceBoard's tasks for ChimeraX: what files become, and what holds of what the program tells."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from sci_gym.envs.chimerax.dump import MODELS
from sci_gym.envs.chimerax.scienceboard import ADAPTER, VARIABLE
from sci_gym.loader import load_app
from sci_gym.scienceboard import Entry, Player, survey
from sci_gym.specs import Evidence, TaskSpec, Verb
from tests.scienceboard import Played, play_all
from tests.test_scienceboard import PUBLISHED, REVISIONS, published

FIRST = f"{MODELS}(1,)."
NUCLEOTIDES = f"lambda key: key.startswith('{FIRST}_nucleotide_info')"
BONDS = "lambda key: '.'.join(key.split('.')[:-1] + ['_pbond_drawing', '_opaque_color_count'])"
SAMPLE = ("A-03", "A-05", "B-02")
"""What is drawn, selected atoms and colours, and a model that is found by its name."""
STRUCTURES = ("2olx", "3ppd", "1dns", "251d", "3bna", "4tut", "4r0u", "102l", "AF-A8Z1J3-F1-model_v4")
LAUNCH = {
    "func": "launch", "command": ["chimerax", "--cmd", "remotecontrol rest start json true port «PORTLIKE»"],
}  # fmt: skip
NAME = {"type": "states", "key": f"{FIRST}_name", "value": "2olx"}
GOOD: Mapping[str, Any] = {
    "type": "ChimeraX", "sort": "VM", "steps": 5, "instruction": "Look.", "version": "0.5",
    "initialize": [
        LAUNCH, {"func": "clear_log"}, {"func": "open", "name": "2olx"},
        {"func": "turn", "axis": "y", "angle": 1},
    ],
    "evaluate": [NAME],
}  # fmt: skip


@pytest.fixture(autouse=True)
def brought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files that have nothing but the names of structures."""
    folder = tmp_path / "structures"
    folder.mkdir()
    for name in STRUCTURES:
        (folder / f"{name}.cif").touch()
    monkeypatch.setenv(VARIABLE, str(folder))
    return folder


def entry_of(folder: Path, **changes: Any) -> Entry:
    path = folder / "A-01.json"
    path.write_text(json.dumps({**GOOD, **changes}))
    (entry,) = survey(path, {"ChimeraX": Player.of(load_app("chimerax"), ADAPTER)})
    return entry


def task_of(folder: Path, *evaluate: Mapping[str, Any]) -> TaskSpec:
    entry = entry_of(folder, **({"evaluate": evaluate} if evaluate else {}))
    assert entry.task is not None, entry.wrong or entry.cannot
    return entry.task


def holds(task: TaskSpec, **state: Any) -> bool:
    (check,) = [check for node in task.graph.nodes for check in node.checks]
    predicate = ADAPTER.predicates[check.predicate.removeprefix("chimerax.")]
    return predicate(Evidence({"chimerax": state}), **check.arguments)


def test_a_file_becomes_a_task(tmp_path: Path) -> None:
    assert task_of(tmp_path).setup == (
        Verb("chimerax.scienceboard_brought", {"name": "2olx.cif"}),
        Verb("chimerax.command", {"text": "log clear"}),
        Verb("chimerax.command", {"text": "open 2olx"}),
        Verb("chimerax.command", {"text": "turn y 1"}),
    )
    app = Player.of(load_app("chimerax"), ADAPTER).app
    assert app.programs[0].env["SCI_GYM_CHIMERAX_DUMP"] == "1"


@pytest.mark.parametrize("interface", ["gui", "hybrid"])
def test_the_app_knows_these_tasks_with_every_interface(tmp_path: Path, interface: str) -> None:
    path = tmp_path / "A-01.json"
    path.write_text(json.dumps(GOOD))
    env = gym.make("SciBoard-ChimeraX-v0", task=f"scienceboard:{path}", interface=interface,
                   disable_env_checker=True)  # fmt: skip
    app = env.unwrapped.app  # type: ignore[attr-defined]
    env.close()
    assert {"scienceboard_states", "scienceboard_info"} <= set(app.predicates)
    assert app.programs[0].env["SCI_GYM_INTERFACE"] == interface
    assert app.programs[0].env["SCI_GYM_CHIMERAX_DUMP"] == "1"


@pytest.mark.parametrize(
    ("check", "dump", "expected"),
    [
        (NAME, {f"{FIRST}_name": "2olx"}, True),
        (NAME, {f"{FIRST}_name": "3ppd"}, False),
        (NAME, {"other": 1}, False),
        (NAME, {}, False),
        (
            {**NAME, "key": f"{FIRST}_pbond_drawing._colors", "value": "[[139   0   0 255] [1 2 3 4]]"},
            {f"{FIRST}_pbond_drawing._colors": "[[139 0 0 255] [1 2 3 4]]"},
            True,
        ),
        (
            {**NAME, "key": f"{FIRST}_pbond_drawing._colors", "value": "[[139   0   0 255]]"},
            {f"{FIRST}_pbond_drawing._colors": "[[138 0 0 255]]"},
            False,
        ),
        (
            {"type": "states", "key": NUCLEOTIDES, "value": None},
            {f"{FIRST}_name": "3bna"},
            True,
        ),
        (
            {"type": "states", "key": NUCLEOTIDES, "value": None},
            {f"{FIRST}_nucleotide_info": True},
            False,
        ),
        (
            {
                "type": "states", "value": 12,
                "find": "lambda key, value: key.endswith('._name') and value == 'hydrogen bonds'",
                "key": BONDS,
            },
            {
                f"{MODELS}(2,)._name": "hydrogen bonds",
                f"{MODELS}(2,)._pbond_drawing._opaque_color_count": 12,
            },
            True,
        ),
        (
            {
                "type": "states", "pattern": "4 clashes",
                "find": "lambda key, value: key.endswith('page_source')", "key": "lambda key: key",
            },
            {"log.page_source": "<br>14 clashes"},
            True,
        ),
    ],
)  # fmt: skip
def test_values_of_the_session(
    tmp_path: Path, check: dict[str, Any], dump: dict[str, Any], expected: bool
) -> None:
    assert holds(task_of(tmp_path, check), dump=dump) is expected


def test_the_selection_counts_however_its_atoms_are_written(tmp_path: Path) -> None:
    line = "atom id {}/A:9@N1 idatm_type N3+"
    for model in ("", "#1", "#!1"):
        task = task_of(tmp_path, {"type": "info", "key": "sel", "value": [line.format(model)]})
        assert holds(task, dump={"selected": [["1", "A", 9, "N1", "N3+"]]})
        assert not holds(task, dump={"selected": [["1", "A", 9, "N1", "C3"]]})
        assert not holds(task, dump={"selected": []})


def test_the_colors_of_residues(tmp_path: Path) -> None:
    value = ["#1/A:1 color #7b68ee", "#1/A:2 color #7b68ee80"]
    task = task_of(tmp_path, {"type": "info", "key": "rescolor /A", "value": value})
    residues = [
        {"chain": chain, "number": number, "color": color}
        for chain, number, color in (("A", 1, "#7b68eeff"), ("A", 2, "#7b68ee80"), ("B", 1, "#000000ff"))
    ]
    assert holds(task, models={"1": {"residues": residues}})
    assert not holds(task, models={"1": {"residues": residues[1:]}})
    assert not holds(task, models={})


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"initialize": [{**LAUNCH, "command": "gimp"}]}, "launches 'gimp'"),
        (
            {"initialize": [{**LAUNCH, "command": ["chimerax", "--script", "x.py"]}]},
            "started without commands",
        ),
        (
            {"initialize": [LAUNCH, {"func": "open", "name": "1abc"}]},
            "https://files.rcsb.org/download/1abc.cif",
        ),
        ({"initialize": [LAUNCH, {"func": "open", "name": "x; exit"}]}, "needs the structure"),
        (
            {"initialize": [LAUNCH, {"func": "alphafold_match", "name": "P01308"}]},
            "https://alphafold.ebi.ac.uk",
        ),
        ({"initialize": [LAUNCH, {"func": "color", "style": "red\nexit"}]}, "which is no style"),
        ({"evaluate": [{**NAME, "key": "_state_containers.undo"}]}, "'_state_containers.undo'"),
        ({"evaluate": [{**NAME, "key": f"{FIRST}_secret"}]}, "not told of the stock program"),
        ({"evaluate": [{**NAME, "key": "lambda key: key.endswith('_secret')"}]}, "looks for '_secret'"),
        ({"evaluate": [{"type": "info", "key": "models", "value": []}]}, "`info models`"),
        ({"evaluate": [{"type": "file", "key": "~/x", "value": "lambda: 1"}]}, "only texts are compared"),
    ],
)
def test_what_cannot_be_given_is_refused_by_name(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    assert told in entry_of(tmp_path, **changes).cannot


@published
@pytest.mark.parametrize("folder", REVISIONS)
def test_all_published_files_load_but_the_one_that_asks_for_the_day(folder: str) -> None:
    entries = survey(PUBLISHED / folder / "ChimeraX", {"ChimeraX": Player.of(load_app("chimerax"), ADAPTER)})
    assert {entry.path.stem for entry in entries if entry.task is None} <= {"D-03"}


@published
@pytest.mark.program
@pytest.mark.needs_installation("chimerax")
def test_a_sample_of_the_published_tasks_is_solved_and_none_passes_untouched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VARIABLE, str(PUBLISHED / "structures"))
    played = list(play_all("ChimeraX", PUBLISHED / "scienceboard-verified" / "ChimeraX", SAMPLE))
    assert len(played) == len(SAMPLE)
    for one in played:
        assert one == Played(one.task, initialised=True, untouched=False, solved=True)
