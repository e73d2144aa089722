"""ScienceBoard's tasks for Lean: what files become, and one of our own on the real judge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from sci_gym.envs.lean.scienceboard import ADAPTER
from sci_gym.loader import load_app
from sci_gym.scienceboard import Entry, Player, survey
from sci_gym.specs import Action, Check, Verb
from tests.test_scienceboard import PUBLISHED, REVISIONS, published

LEAN = next(one for one in load_app("lean").requirements if one.shown)
needs_lean = pytest.mark.skipif(LEAN.found is None, reason=f"no Lean here: {LEAN.advice}")
DEFINITIONS = {"E-01", "E-02"}
LAUNCH = {"func": "launch", "command": "code /home/user/sci /home/user/sci/Sci/Basic.lean", "shell": True}
QUERY = {"func": "query", "expr": "theorem same (n : Nat) : again n = succ n := by sorry"}
GOOD: Mapping[str, Any] = {
    "type": "Lean", "sort": "VM", "steps": 10, "instruction": "Prove it.", "version": "0.1",
    "initialize": [
        {"func": "open", "libs": ["Nat"]}, {"func": "def", "expr": "def again (n : Nat) : Nat := succ n"},
        QUERY, LAUNCH,
    ],
    "evaluate": [{"type": "placeholder"}],
}  # fmt: skip
TEXT = """\
open Nat

def again (n : Nat) : Nat := succ n

theorem same (n : Nat) : again n = succ n := by
  sorry
"""


def entries_of(path: Path, installation: Path | None = None) -> list[Entry]:
    player = Player.of(load_app("lean", installation), ADAPTER)
    return list(survey(path, {"Lean": player}))


def written(folder: Path, **changes: Any) -> Path:
    path = folder / "A-01.json"
    path.write_text(json.dumps({**GOOD, **changes}))
    return path


def toolchain(folder: Path, *modules: str) -> Path:
    """A folder that only looks like a toolchain with these modules."""
    for name in (*(f"lib/lean/{module}.olean" for module in modules), "bin/lean"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o755)
    return folder


def test_a_file_becomes_a_task(tmp_path: Path) -> None:
    (entry,) = entries_of(written(tmp_path))
    assert entry.task is not None, entry.cannot
    assert entry.task.setup == (Verb("lean.project", {"text": TEXT}),)
    assert entry.task.graph.nodes[0].checks == (Check("lean.proved", {"theorem": "same"}),)
    (inspection,) = entry.task.inspections
    assert inspection.env == {"TASK": TEXT}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"initialize": [QUERY, {**LAUNCH, "command": "gedit"}]}, "launches 'gedit'"),
        ({"initialize": [{"func": "import", "libs": ["Else.Where"]}, QUERY]}, "the Lean library Else.Where"),
        ({"initialize": [{"func": "open", "libs": ["a\nb"]}, QUERY]}, "no module's name"),
        ({"initialize": [{**QUERY, "expr": "def x : Nat := by sorry"}]}, "asks for 'def'"),
        ({"initialize": [{**QUERY, "expr": "theorem x : 1 = 1"}]}, "ends with ':= by sorry'"),
        ({"initialize": [QUERY, QUERY]}, "one statement"),
        ({"initialize": []}, "one statement"),
    ],
)
def test_what_cannot_be_given_is_refused_by_name(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    (entry,) = entries_of(written(tmp_path, **changes))
    assert told in entry.cannot


@needs_lean
def test_one_of_our_own_is_judged_with_what_it_opens(tmp_path: Path) -> None:
    task = f"scienceboard:{written(tmp_path)}"
    env = gym.make("SciBoard-Lean-v0", task=task, reward="sparse", disable_env_checker=True)
    env.reset(seed=0)
    *_, info = env.step(Action.done())
    assert not info["success"]
    env.reset(seed=0)
    env.step(Action.code("rfl", "app"))
    *_, info = env.step(Action.done())
    env.close()
    assert info["success"]


@published
@pytest.mark.parametrize("folder", REVISIONS)
def test_theorems_load_where_mathlib_is_and_else_say_what_is_missing(folder: str, tmp_path: Path) -> None:
    whole = entries_of(PUBLISHED / folder / "Lean", toolchain(tmp_path / "whole", "Mathlib"))
    assert {entry.path.stem for entry in whole if entry.task is None} == DEFINITIONS
    bare = entries_of(PUBLISHED / folder / "Lean", toolchain(tmp_path / "bare"))
    assert all("needs the Lean library Mathlib" in entry.cannot for entry in bare)
