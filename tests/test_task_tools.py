"""What task authors have: `sci-gym tasks new`, `check`, `list`, on the tasks of the real KAlgebra."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sci_gym.loader import load_app
from sci_gym.specs import Action, OracleStep
from sci_gym.tasks import load_template, load_templates
from sci_gym.tasks.instances import count_instances
from sci_gym.tasks.interface import interface_of
from sci_gym.tasks.locator import FieldError
from sci_gym.tasks.parameters import Choice, Compute, Parameter, Range
from tests.task_texts import STORING

SCI_GYM = Path(sys.executable).with_name("sci-gym")
GOOD = (
    """\
difficulty = "medium"
instruction = "Store {a} + {b} in `{name}`, and plot y = {a} * x^2."
paraphrases = ["Let `{name}` be {a} + {b}; draw y = {a} * x^2 too."]
max_steps = 8

"""
    + STORING
    + """
[[node]]
id = "plotted"
goal = "the parabola is drawn"
after = ["stored"]
check = {predicate = "plotted_2d", equals = "{a}*x^2"}

[[oracle]]
do = "type"
text = "{name}:={a}+{b}\\n"
[[oracle]]
do = "click"
target = {role = "page tab", name = "2D Graph"}
[[oracle]]
do = "type"
text = "{a}*x^2\\n"
[[oracle]]
do = "done"
"""
)
# What is written instead of what, the line that is told, its field, and words of the message.
MISTAKES: Mapping[str, tuple[str, str, int, str, str]] = {
    "syntax": ("max_steps = 8", "max_steps = = 8", 4, "TOML", "Invalid value"),
    "misspelt-key": ("max_steps", "max_stps", 4, "max_stps", "Did you mean 'max_steps'?"),
    "missing-key": ('id = "stored"\n', "", 16, "node[0]", "'id' is missing"),
    "wrong-difficulty": ('"medium"', '"middling"', 1, "difficulty", "'easy', 'medium' or 'hard'"),
    "text-for-a-number": ("= 8", '= "8"', 4, "max_steps", "should be a valid integer, not '8'"),
    "unknown-in-instruction": ("Store {a}", "Store {aa}", 2, "instruction", "Did you mean 'a'?"),
    "unclosed-brace": ("Store {a}", "Store {a", 2, "instruction", "write '{{'"),
    "unknown-in-paraphrase": ("be {a}", "be {c}", 3, "paraphrases[0]", "unknown parameter 'c'"),
    "paraphrase-lacks-one": ("{a} + {b}; draw", "{a}; draw", 3, "paraphrases[0]", "lacks {b}"),
    "paraphrase-adds-one": ("be {a}", "be {sum}: {a}", 3, "paraphrases[0]", "names {sum}"),
    "unused-parameter": ("[parameters]\n", "[parameters]\nc = {low = 1, high = 2}\n", 7, "parameters.c",
                         "is used nowhere; write {c} or remove it"),
    "empty-range": ("{low = 1, high = 9}", "{low = 9, high = 1}", 7, "parameters.a", "low is above high"),
    "nothing-distinct": ("high = 9, dis", "high = 1, dis", 8, "parameters.b", "no value is left"),
    "division-by-zero": ('"a + b"', '"a + b / (a - 5)"', 10, "parameters.sum.compute", "division by zero"),
    "no-arithmetic": ('"a + b"', '"open(a)"', 10, "parameters.sum.compute", "unknown function 'open'"),
    "unknown-verb": ('verb = "tab"', 'verb = "tap"', 13, "setup[0].verb", "Did you mean 'kalgebra.tab'?"),
    "unknown-predicate": ('"variable"', '"varable"', 19, "node[0].check[0].predicate", "'kalgebra.variable'"),
    "unknown-argument": ('equals = "{a}*', 'equal = "{a}*', 25, "node[1].check[0].equal", "mean 'equals'"),
    "wrong-type": ('equals = "{a}*x^2"', "equals = 3", 25, "node[1].check[0].equals", "valid string, not 3"),
    "no-expression": ('equals = "{a}*x^2"', 'equals = "{a}*x^"', 25, "node[1].check[0].equals",
                      "found 'the end'"),
    "misspelt-choice": ('name = "Calculator"', 'name = "Calc"', 14, "setup[0].name", "'Calculator', '2D"),
    "unknown-parent": ('after = ["stored"]', 'after = ["store"]', 24, "node[1].after", "mean 'stored'?"),
    "cycle": ('id = "stored"', 'id = "stored"\nafter = ["plotted"]', 18, "node[0].after", "wait for one"),
    "same-id-twice": ('id = "plotted"', 'id = "stored"', 22, "node[1].id", "ids must be unique"),
    "wrong-stop-is-checked": ('"plotted_2d", equals = "{a}*x^2"', '"stopped", kind = "FAIL"', 25,
                              "node[1].check[0].kind", "ends with DONE"),
    "unknown-step": ('do = "click"', 'do = "clik"', 31, "oracle[1].do", "Did you mean 'click'?"),
    "unknown-role": ('"page tab"', '"page tap"', 32, "oracle[1].target.role", "Did you mean 'page tab'?"),
    "misspelt-target": ("{role", "{rol", 32, "oracle[1].target.rol", "Did you mean 'role'?"),
    "no-target": ('target = {role = "page tab", name = "2D Graph"}\n', "", 30, "oracle[1]", "needs either"),
    "no-oracle": (GOOD[GOOD.index("[[oracle]]"):], "", 1, "file", "has no [[oracle]]"),
    "in-another-oracle": ('do = "done"\n', 'do = "done"\n[[oracles.keys]]\ndo = "press"\nkey = "entr"\n', 40,
                          "oracles.keys[0].key", "Did you mean 'enter'?"),
    "another-oracle-ends-wrong": ('do = "done"\n', 'do = "done"\n[[oracles.keys]]\ndo = "fail"\n', 38,
                                  "oracles.keys[0]", "ends with DONE; let"),
    "empty-oracle": ("max_steps = 8", "max_steps = 8\noracles = {keys = []}", 5, "oracles.keys[0]",
                     "ends with DONE"),
    "wrong-end": ('do = "done"', 'do = "fail"', 36, "oracle[3]", "ends with DONE; let"),
    "goes-on-after-the-end": ('[[oracle]]\ndo = "done"', '[[oracle]]\ndo = "done"\n[[oracle]]\ndo = "done"',
                              36, "oracle[3]", "before the last step"),
    "too-few-steps": ("max_steps = 8", "max_steps = 3", 4, "max_steps", "is below the 4 steps"),
}  # fmt: skip


def run(*arguments: str) -> tuple[int, Any]:
    command = [str(SCI_GYM), "tasks", *arguments, "--json"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return result.returncode, json.loads(result.stdout or "null") or result.stderr


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `tasks check` tells of each mistake, all checked in one go."""
    folder = tmp_path_factory.mktemp("tasks")
    for name, (old, new, *_) in MISTAKES.items():
        assert GOOD.count(old) >= 1, name
        (folder / f"{name}.toml").write_text(GOOD.replace(old, new, 1))
    (folder / "good.toml").write_text(GOOD)
    status, report = run("check", "--app", "kalgebra", *map(str, sorted(folder.glob("*.toml"))))
    assert (status, len(report["files"])) == (1, len(MISTAKES) + 1)
    assert report["faults"] == sum(len(one["faults"]) for one in report["files"])
    return {Path(one["file"]).stem: one for one in report["files"]}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_its_line_and_what_to_do(told: dict[str, Any], name: str) -> None:
    *_, line, field, words = MISTAKES[name]
    first = told[name]["faults"][0]
    assert (first["line"], first["field"]) == (line, field), first
    assert words in first["message"]


def test_a_good_task_has_no_fault(told: dict[str, Any]) -> None:
    assert told["good"]["faults"] == []


def test_all_mistakes_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "many.toml"
    wrong = ("Store {a}", "Store {aa}"), ('"variable"', '"varable"'), ('"page tab"', '"page tap"')
    text = GOOD
    for old, new in (*wrong, ("max_steps = 8", "max_steps = 3")):
        text = text.replace(old, new, 1)
    path.write_text(text)
    _, report = run("check", str(path), "--app", "kalgebra")
    assert [one["line"] for one in report["files"][0]["faults"]] == [2, 19]
    path.write_text(text.replace("{aa}", "{a}").replace("varable", "variable"))
    _, report = run("check", str(path), "--app", "kalgebra")
    assert [one["line"] for one in report["files"][0]["faults"]] == [4, 32]


def test_the_shipped_tasks_have_no_fault() -> None:
    status, report = run("check")
    assert (status, report["faults"]) == (0, 0)
    assert len(report["files"]) >= len(load_templates(load_app("kalgebra")))


def test_a_file_of_no_app_asks_whose_it_is(tmp_path: Path) -> None:
    (tmp_path / "good.toml").write_text(GOOD)
    status, message = run("check", str(tmp_path / "good.toml"))
    assert status == 2
    assert "--app NAME" in message


# New tasks


def test_a_new_task_is_right_and_says_what_to_fill_in(tmp_path: Path) -> None:
    status, written = run("new", "kalgebra", "ask-sum", "--into", str(tmp_path))
    path = tmp_path / "ask-sum.toml"
    assert (status, written["file"], written["faults"]) == (0, str(path), [])
    status, report = run("check", str(path), "--app", "kalgebra")
    assert (status, report["files"]) == (0, [written])
    marks = [number for number, line in enumerate(path.read_text().splitlines(), 1) if "FILL IN: " in line]
    assert [one["line"] for one in written["fill_in"]] == marks
    assert len(marks) > 5
    assert load_template(path, load_app("kalgebra")).kind == "question"
    text = path.read_text()
    assert all(f"#   {name}(" in text for name in ("plotted_2d", "answer_set", "put_file"))


def test_a_task_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "ask-sum.toml"
    path.write_text("mine")
    status, message = run("new", "kalgebra", "ask-sum", "--into", str(tmp_path))
    assert (status, path.read_text()) == (2, "mine")
    assert "is there already" in message


@pytest.mark.parametrize("name", ["Ask Sum", "../sum", "ask_sum", "", "-x"])
def test_a_task_s_id_is_lower_case_words(tmp_path: Path, name: str) -> None:
    status, _ = run("new", "--into", str(tmp_path / "inside"), "kalgebra", "--", name)
    assert status == 2
    assert not list(tmp_path.iterdir())


# Lists


def test_the_list_counts_tasks_and_their_instances() -> None:
    _, listing = run("list", "--app", "kalgebra")
    (app,) = listing["apps"]
    rows = {row["id"]: row for row in listing["tasks"]}
    assert app["tasks"] == len(rows) == sum(app["difficulty"].values()) == sum(app["interface"].values())
    assert app["instances"] == sum(row["instances"] for row in rows.values())
    lookup = rows["lookup-and-use"]
    assert (lookup["subtasks"], lookup["depth"], lookup["interface"]) == (2, 2, "gui")
    assert lookup["instances"] == 4 * (13 * 9 - 4) * 2
    assert rows["infeasible-video"]["interface"] == "both", "FAIL is an action of every interface"


def brute_force(parameters: Mapping[str, Parameter], values: dict[str, Any] | None = None) -> int:
    """The number of draws, counted one by one."""
    values = values or {}
    rest = [name for name in parameters if name not in values]
    if not rest:
        return 1
    try:
        options = parameters[rest[0]].options(values, ())
    except FieldError:
        return 0
    return sum(brute_force(parameters, {**values, rest[0]: options[at]}) for at in range(len(options)))


@pytest.mark.parametrize(
    "parameters",
    [
        {"a": Range(low=1, high=6), "b": Choice(choice=["p", "q"]), "c": Compute(compute="a+1")},
        {"a": Range(low=1, high=6), "b": Range(low=4, high=9, distinct_from="a")},
        {"a": Range(low=0, high=9, step=3), "b": Range(low=0, high=9, step=2, distinct_from="a")},
        {"a": Range(low=0.1, high=0.5, step=0.1), "b": Range(low=0.3, high=0.9, step=0.2, distinct_from="a")},
        {"a": Range(low=1, high=3), "b": Range(low=2, high=5, distinct_from="a"),
         "c": Range(low=3, high=4, distinct_from="b"), "d": Range(low=1, high=1)},
        {"a": Choice(choice=[1, 2, 9]), "b": Range(low=1, high=4, distinct_from="a"),
         "c": Range(low=2, high=3, distinct_from="a")},
    ],
)  # fmt: skip
def test_instances_are_counted_as_if_one_by_one(parameters: Mapping[str, Parameter]) -> None:
    assert count_instances(parameters) == brute_force(parameters)


def test_large_ranges_are_counted_at_once() -> None:
    big = {"low": 1, "high": 10**12}
    assert count_instances({"a": Range(**big), "b": Range(**big)}) == 10**24
    distinct = {"a": Range(**big), "b": Range(**big, distinct_from="a")}
    assert count_instances(distinct) == 10**12 * (10**12 - 1)


@pytest.mark.parametrize(
    ("steps", "interface"),
    [
        ([Action.click(1, 1), Action.done()], "gui"),
        ([Action.code("true"), Action.done()], "cli"),
        ([Action.answer("42")], "both"),
        ([Action.click(1, 1), Action.code("true"), Action.done()], "hybrid"),
    ],
)
def test_the_oracle_shows_the_interface(steps: list[Action], interface: str) -> None:
    task = load_templates(load_app("kalgebra"))["product-odd"].instantiate(np.random.default_rng(0))
    assert interface_of(replace(task, oracles={"gui": tuple(map(OracleStep, steps))})) == interface
