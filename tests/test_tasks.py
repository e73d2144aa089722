"""Task templates: what a seed makes of them, and what their errors say."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sci_gym import tasks
from sci_gym.app import App, Desktop
from sci_gym.errors import TaskFileError
from sci_gym.evaluation import GraphRun, PredicateSet, right_stop
from sci_gym.oracle import read
from sci_gym.specs import Action, Evidence, Inspection, Kind, Observation, OracleStep, Reading, TaskSpec
from sci_gym.tasks import Template, load_template, load_templates
from sci_gym.tasks.checking import check_file
from tests.task_texts import STORING


def variable(evidence: Evidence, *, name: str, equals: float) -> bool:
    return bool(evidence.state["calc"].get(name) == equals)


def shows(evidence: Evidence, *, text: str, lines: list[str] | None = None) -> bool:
    return text in evidence.state["calc"]["screen"]


def tab(desktop: Desktop, *, name: str, zoom: float = 1.0) -> None:
    desktop.act(Action.press("tab"))


def stored(*, map: str, decimals: int = 3) -> Inspection:
    return Inspection(f"stored {map}", ("/usr/bin/dump", map, str(decimals)))


class Calc(App):
    """A program that is never started: task files need only its names."""

    name = "calc"
    env_id = "SciBoard-Calc-v0"
    title = "Calc"
    requirements = ()
    programs = ()
    verbs = {"tab": tab}  # noqa: RUF012
    predicates = {"variable": variable, "shows": shows}  # noqa: RUF012
    inspections = {"raster": stored}  # noqa: RUF012

    def ready(self, observation: Observation) -> bool:
        return True

    def read_state(self, observation: Observation) -> Mapping[str, Any]:
        return {}


SUM = (
    """\
difficulty = "easy"
instruction = "Store {a} + {b} in {name}."
paraphrases = ["Let {name} be {a} + {b}."]
max_steps = 15

"""
    + STORING
    + """
[[oracle]]
do = "type"
text = "{name}:={sum}\\n"
[[oracle]]
do = "done"
"""
)

MINIMAL = """\
difficulty = "easy"
instruction = "%s"
max_steps = 5
[parameters]
%s
[[node]]
id = "n"
goal = ""
check = {predicate = "stopped", kind = "DONE"}
"""

Load = Callable[[str], Template]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def load_source(source: str) -> Template:
        path = tmp_path / "sum.toml"
        path.write_text(source)
        return load_template(path, Calc())

    return load_source


def task(template: Template, seed: int = 0) -> TaskSpec:
    return template.instantiate(np.random.default_rng(seed))


def fault(load: Load, source: str) -> str:
    with pytest.raises(TaskFileError) as caught:
        load(source)
    return str(caught.value).split("/sum.toml", 1)[1]


# Filling in


def test_a_template_becomes_a_task(load: Load, tmp_path: Path) -> None:
    template = load(SUM)
    made = task(template)
    a, b, name, total = (made.parameters[key] for key in ("a", "b", "name", "sum"))
    assert (template.id, template.difficulty, template.parameters) == (
        "sum",
        "easy",
        ("a", "b", "name", "sum"),
    )
    assert total == a + b
    assert made.instruction in (f"Store {a} + {b} in {name}.", f"Let {name} be {a} + {b}.")
    assert made.setup[0].name == "calc.tab"
    assert made.setup[0].arguments == {"name": "Calculator"}
    node = made.graph.nodes[0]
    assert (node.goal, node.after, node.application) == (f"{name} is {total}", (), "calc")
    assert node.checks[0].predicate == "calc.variable"
    assert node.checks[0].arguments == {"name": name, "equals": total}
    assert made.oracle == (OracleStep(Action.type(f"{name}:={total}\n")), OracleStep(Action.done()))
    assert (made.app, made.max_steps, made.stagnation_steps, made.files) == ("calc", 15, 0, ())
    assert made.source == str(tmp_path / "sum.toml")


def test_the_same_seed_gives_the_same_task_and_seeds_differ(load: Load) -> None:
    template = load(SUM)
    made = [task(template, seed) for seed in range(40)]
    assert made == [task(template, seed) for seed in range(40)]
    assert len({each.instruction.split()[0] for each in made}) == 2, "both wordings are drawn"
    assert {each.parameters["a"] for each in made} == set(range(1, 10)), "both ends of the range are drawn"
    assert all(each.parameters["a"] != each.parameters["b"] for each in made)


def test_another_wording_leaves_the_parameters_of_a_seed(load: Load) -> None:
    before = [task(load(SUM), seed).parameters for seed in range(10)]
    more = SUM.replace('{a} + {b}."]', '{a} + {b}.", "Have {name} hold {a} + {b}."]')
    assert [task(load(more), seed).parameters for seed in range(10)] == before


def test_the_instantiated_task_can_be_judged(load: Load) -> None:
    made = task(load(SUM))
    evidence = Evidence({"calc": {made.parameters["name"]: made.parameters["sum"]}}, stop=Kind.DONE)
    run = GraphRun(made.graph, PredicateSet.of(Calc()), right_stop(made))
    run.update(evidence)
    assert run.verdict(evidence).success


@pytest.mark.parametrize(("kind", "stop"), [("task", "DONE"), ("question", "ANS"), ("infeasible", "FAIL")])
def test_the_kind_says_how_to_end(load: Load, kind: str, stop: str) -> None:
    assert right_stop(task(load(f'kind = "{kind}"\n' + SUM))) == stop


def test_an_undistinct_pair_would_be_seen(load: Load) -> None:
    template = load(SUM.replace(', distinct_from = "a"', ""))
    made = [task(template, seed).parameters for seed in range(60)]
    assert any(each["a"] == each["b"] for each in made)


def test_distinct_values_are_uniform_over_the_rest(load: Load) -> None:
    template = load(MINIMAL % ("", 'a = {low = 2, high = 2}\nb = {low = 1, high = 3, distinct_from = "a"}'))
    drawn = [task(template, seed).parameters["b"] for seed in range(200)]
    assert set(drawn) == {1, 3}
    assert 60 < drawn.count(1) < 140


def test_float_ranges_step_exactly(load: Load) -> None:
    template = load(MINIMAL % ("{x}", "x = {low = 0.1, high = 0.5, step = 0.1}"))
    assert {task(template, seed).instruction for seed in range(60)} == {"0.1", "0.2", "0.3", "0.4", "0.5"}


def test_int_ranges_take_a_step(load: Load) -> None:
    template = load(MINIMAL % ("{x}", "x = {low = 1, high = 6, step = 2}"))
    assert {task(template, seed).parameters["x"] for seed in range(40)} == {1, 3, 5}


def test_choices_may_be_tables(load: Load) -> None:
    cases = """case = {choice = [{f = "x^2", at = 3}, {f = "x^3", at = 2}]}
y = {compute = 'case.at + case["at"]'}"""
    template = load(MINIMAL % ("{case.f} at {case.at} and {y}", cases))
    assert {task(template, seed).instruction for seed in range(20)} == {"x^2 at 3 and 6", "x^3 at 2 and 4"}


def test_drawn_tables_are_the_tasks_own(load: Load) -> None:
    template = load(MINIMAL % ("", "case = {choice = [{at = 3}]}"))
    task(template).parameters["case"]["at"] = 99
    assert task(template).parameters["case"] == {"at": 3}


def test_braces_and_whole_numbers_in_text(load: Load) -> None:
    text = r"\\frac{{{a}}}{{2}} {whole} {half} {big}"
    numbers = (
        'a = {choice = [7]}\nwhole = {compute = "6/2"}\nhalf = {compute = "1/2"}\nbig = {compute = "1e300"}'
    )
    assert task(load(MINIMAL % (text, numbers))).instruction == r"\frac{7}{2} 3 0.5 1e+300"


def test_a_lone_placeholder_keeps_its_type_except_where_text_is_asked_for(load: Load) -> None:
    checks = """[
        {predicate = "variable", name = "{sum}", equals = "{sum}"},
        {predicate = "answer_set", equals = ["{a}", "1/2"]},
    ]"""
    source = SUM.replace('{predicate = "variable", name = "{name}", equals = "{sum}"}', checks)
    made = task(load(source))
    first, second = made.graph.nodes[0].checks
    assert first.arguments == {"name": str(made.parameters["sum"]), "equals": made.parameters["sum"]}
    assert second.predicate == "answer_set"
    assert second.arguments == {"equals": [str(made.parameters["a"]), "1/2"]}


def test_a_list_parameter_is_a_list_where_one_is_asked_for_and_else_text(load: Load) -> None:
    cases = "case = {choice = [{f = 'x^2-4', zeros = [-2, 2.0]}]}"
    source = MINIMAL % ("{case.f}: {case.zeros}", cases)
    checks = """[
        {predicate = "answer_set", equals = "{case.zeros}"},
        {predicate = "shows", text = "at {case.zeros}", lines = "{case.zeros}"},
    ]"""
    source = source.replace('{predicate = "stopped", kind = "DONE"}', checks)
    made = task(load(source + '[[oracle]]\ndo = "answer"\ntext = "{case.zeros}"\n'))
    answered, shown = made.graph.nodes[0].checks
    assert made.instruction == "x^2-4: -2, 2"
    assert answered.arguments == {"equals": ["-2", "2"]}
    assert shown.arguments == {"text": "at -2, 2", "lines": ["-2", "2"]}
    assert made.oracle == (OracleStep(Action.answer("-2, 2")),)


@pytest.mark.parametrize("choice", ["{at = 1}", "[{at = 1}]"])
def test_a_table_is_no_text(load: Load, choice: str) -> None:
    message = fault(load, MINIMAL % ("{case}", f"case = {{choice = [{choice}]}}"))
    assert message == ":2: instruction: parameter 'case' is or holds a table; name one of its fields."


# Arithmetic


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("a*b + c", 22),
        ("(a + b) * -c", -70),
        ("7 // 2 + 7 % 4", 6),
        ("2**10", 1024),
        ("2**0.5", math.sqrt(2)),
        ("max(a, b, c) - min(a, b) + abs(-1)", 8),
        ("round(pi, 2) + round(2.7)", 6.14),
        ("floor(2.7) + ceil(2.2)", 5),
        ("sqrt(16) + exp(0) + log(e)", 6.0),
        ("sin(0) + cos(0) + tan(0)", 1.0),
        ("factorial(5) + gcd(12, 18) + comb(5, 2)", 136),
    ],
)
def test_compute_is_arithmetic(load: Load, expression: str, value: float) -> None:
    given = "a = {choice = [3]}\nb = {choice = [4]}\nc = {choice = [10]}\n"
    made = task(load(MINIMAL % ("", f'{given}x = {{compute = "{expression}"}}')))
    assert made.parameters["x"] == pytest.approx(value)
    assert type(made.parameters["x"]) is type(value)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("__import__('os')", "unknown function '__import__'."),
        ("a.__class__", "3 has no field '__class__'"),
        ("(lambda: 1)()", "'(lambda: 1)()' is not arithmetic"),
        ("[a]", "'[a]' is not arithmetic"),
        ("a if a else 1", "'a if a else 1' is not arithmetic"),
        ("'x' * 9", "\"'x'\" is not arithmetic"),
        ("True + 1", "True is not a number"),
        ("abs", "unknown earlier parameter 'abs'."),
        ("later + 1", "unknown earlier parameter 'later'."),
        ("a +", "invalid syntax"),
        ("1 / (a - 3)", "division by zero"),
        ("9**9**9", "the result is too large"),
        ("10.0**400", ""),
        ("(-8)**0.5", "is not a number"),
        ("factorial(100000)", "factorial of more than 170"),
        ("factorial(-1)", "factorial() not defined for negative values"),
        ("comb(10**9, 10**8)", "comb of more than 1000"),
        ("round(5, -10**9)", "round takes 0 to 15 digits"),
        ("sqrt(-1)", ""),
        ("gcd(1.5, 2)", "'float' object cannot be interpreted as an integer"),
        ("1" + "+1" * 120, "String should have at most 200 characters"),
    ],
)
def test_compute_is_nothing_but_bounded_arithmetic(load: Load, expression: str, reason: str) -> None:
    source = MINIMAL % (
        "",
        f'a = {{choice = [3]}}\nx = {{compute = "{expression}"}}\nlater = {{choice = [1]}}',
    )
    message = fault(load, source)
    assert message.startswith(":6: parameters.x.compute: ")
    assert reason in message


def test_a_text_is_filled_in_once_and_named_as_often_as_needed(load: Load) -> None:
    """Its braces are plain text wherever it is put."""
    given = 'a = {choice = [3]}\nfile = {text = "{{x : {a}}}"}'
    made = task(load(MINIMAL % ("", given)))
    assert made.parameters["file"] == "{x : 3}"
    message = fault(load, MINIMAL % ("", 'file = {text = "{later}"}\nlater = {choice = [1]}'))
    assert message.startswith(":5: parameters.file.text: unknown parameter 'later'")


def test_compute_of_text_is_refused(load: Load) -> None:
    message = fault(load, MINIMAL % ("", 'a = {choice = ["x"]}\nb = {compute = "a * 3"}'))
    assert message == ":6: parameters.b.compute: 'a * 3': 'x' is not a number"


# Oracles


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (
            'do = "click"\ntarget = {role = "push button", name = "{name}", nth = -1}',
            OracleStep(Action(Kind.CLICK), "push button", "p", -1),
        ),
        ('do = "double_click"\nx = 3\ny = 4', OracleStep(Action.double_click(3, 4))),
        ('do = "right_click"\ntarget = {role = "text"}', OracleStep(Action(Kind.RIGHT_CLICK), "text")),
        ('do = "move"\nx = 3\ny = 4', OracleStep(Action.move_to(3, 4))),
        ('do = "drag"\nx = 3\ny = 4\nbutton = "right"', OracleStep(Action.drag_to(3, 4, "right"))),
        ('do = "scroll"\nx = 3\ny = 4\namount = "{n}"', OracleStep(Action.scroll(3, 4, 7))),
        ('do = "type"\ntext = "{n}"', OracleStep(Action.type("7"))),
        ('do = "press"\nkey = "{n}"', OracleStep(Action.press("7"))),
        ('do = "hotkey"\nkeys = ["ctrl", "shift", "s"]', OracleStep(Action.hotkey("ctrl", "shift", "s"))),
        ('do = "wait"', OracleStep(Action.wait(1.0))),
        ('do = "wait"\nseconds = 2.5', OracleStep(Action.wait(2.5))),
        ('do = "answer"\ntext = "{n}"', OracleStep(Action.answer("7"))),
        ('do = "code"\ntext = "ls"\nlanguage = "python"', OracleStep(Action.code("ls", "python"))),
        ('do = "api"\ntext = "{{}}"', OracleStep(Action.api("{}"))),
        ('do = "fail"', OracleStep(Action.fail())),
        (
            'do = "answer"\nread = {state = "console", after = "{name}:"}',
            OracleStep(Action.answer(""), read=Reading("calc.console", "p:")),
        ),
    ],
)
def test_oracle_steps_are_actions(load: Load, step: str, expected: OracleStep) -> None:
    given = 'n = {choice = [7]}\nname = {choice = ["p"]}'
    assert task(load(MINIMAL % ("", given) + f"[[oracle]]\n{step}\n")).oracle == (expected,)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ('do = "clik"', ":11: oracle[0].do: unknown oracle step 'clik'. Did you mean 'click'?"),
        ('do = "click"', ":10: oracle[0]: click needs either a target, or x and y."),
        ('do = "click"\nx = 3', ":10: oracle[0]: click needs either a target, or x and y."),
        (
            'do = "click"\nx = 1\ny = 2\ntarget = {role = "text"}',
            ":10: oracle[0]: click needs either a target, or x and y.",
        ),
        ('do = "type"', ":10: oracle[0]: type needs 'text'."),
        (
            'do = "type"\ntext = "x"\nkey = "a"',
            ":13: oracle[0].key: type does not take 'key'; it takes text.",
        ),
        ('do = "done"\ntext = "x"', ":12: oracle[0].text: done does not take 'text'; it takes nothing."),
        ('do = "press"\nkey = "entr"', ":12: oracle[0].key: unknown key 'entr'. Did you mean 'enter'?"),
        (
            'do = "hotkey"\nkeys = ["crl", "a"]',
            ":12: oracle[0].keys: unknown modifier 'crl'. Did you mean 'ctrl'?",
        ),
        ('do = "hotkey"\nkeys = []', ":10: oracle[0]: hotkey needs 'keys'."),
        (
            'do = "code"\ntext = ""\nlanguage = "pyhton"',
            ":13: oracle[0].language: unknown language 'pyhton'. Did you mean 'python'?",
        ),
        ('do = "wait"\nseconds = 0', ":12: oracle[0].seconds: Input should be greater than 0, not 0."),
        (
            'do = "click"\ntarget = {rol = "text"}',
            ":12: oracle[0].target.rol: unknown key 'rol'. Did you mean 'role'?",
        ),
        ('do = "click"\n[oracle.target]\nname = "x"', ":12: oracle[0].target: 'role' is missing."),
        (
            'do = "answer"\ntext = "x"\nread = {state = "console", after = ":"}',
            ":13: oracle[0].read: is what answer or type take in place of 'text'.",
        ),
        ('do = "type"\nread = {state = "console"}', ":12: oracle[0].read: 'after' is missing."),
    ],
)
def test_wrong_oracle_steps_are_named(load: Load, step: str, message: str) -> None:
    assert fault(load, MINIMAL % ("", "n = {choice = [7]}") + f"[[oracle]]\n{step}\n").startswith(message)


# Without a program


def always(evidence: Evidence) -> bool:
    return True


def careless(evidence: Evidence) -> bool:
    return bool(evidence.state["calc"]["screen"])


class Careless(Calc):
    predicates = {"always": always, "careless": careless}  # noqa: RUF012


@pytest.mark.parametrize(
    ("predicate", "words"),
    [
        ("always", "holds even when no program runs"),
        ("careless", "must be false when no program runs"),
    ],
)
def test_checks_are_tried_without_a_program(tmp_path: Path, predicate: str, words: str) -> None:
    path = tmp_path / "sum.toml"
    check = '{predicate = "stopped", kind = "DONE"}'
    path.write_text((MINIMAL % ("", "")).replace(check, f'{{predicate = "{predicate}"}}'))
    faults = {one.field: one for one in check_file(path, Careless(), range(3)).faults}
    assert words in faults["node[0].check[0]"].message
    assert faults["node[0].check[0]"].line == 9


# Errors


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("max_steps = 15", "max_steps == 15", ":4: TOML: Invalid value"),
        ('do = "done"\n', 'do = "done', ":25: TOML: Unterminated string"),
        ("max_steps = 15\n", "", ":1: file: 'max_steps' is missing."),
        ("max_steps", "max_step", ":4: max_step: unknown key 'max_step'. Did you mean 'max_steps'?"),
        ("max_steps = 15", 'max_steps = "15"', ":4: max_steps: Input should be a valid integer, not '15'."),
        ("max_steps = 15", "max_steps = 0", ":4: max_steps: Input should be greater than 0, not 0."),
        ('"easy"', '"trivial"', ":1: difficulty: Input should be 'easy', 'medium' or 'hard', not 'trivial'."),
        ("Store {a}", "Store {aa}", ":2: instruction: unknown parameter 'aa'. Did you mean 'a'?"),
        ("Store {a}", "Store {a.f}", ":2: instruction: unknown parameter 'a.f'."),
        (
            "Store {a}",
            "Store {a",
            ":2: instruction: a single '{'; write '{{' for a brace that stays.",
        ),
        ("Let {name}", "Let {nam}", ":3: paraphrases[0]: unknown parameter 'nam'. Did you mean 'name'?"),
        ("a = {low = 1,", "a = {low = 10,", ":7: parameters.a: low is above high."),
        ("a = {low = 1,", "a = {low = 0.5,", ":7: parameters.a: a range of floats needs a step."),
        ("a = {low = 1,", "a = {lo = 1,", ":7: parameters.a.lo: unknown key 'lo'. Did you mean 'low'?"),
        ("a = {low = 1,", 'a = {low = "1",', ":7: parameters.a.low: a number is wanted, not '1'."),
        ("a = {low = 1, high = 9}", "a = 5", ":7: parameters.a: a table is wanted, not 5."),
        (
            'distinct_from = "a"',
            'distinct_from = "sum"',
            ":8: parameters.b.distinct_from: unknown earlier parameter 'sum'.",
        ),
        ("high = 9, dis", "high = 1, dis", ":8: parameters.b: no value is left that is distinct from 'a'."),
        ('["p", "q"]', "[]", ":9: parameters.name.choice: List should have at least 1 item"),
        (
            'verb = "tab"',
            'verb = "tap"',
            ":13: setup[0].verb: unknown verb 'calc.tap'. Did you mean 'calc.tab'?",
        ),
        (
            'name = "Calculator"',
            'nme = "Calculator"',
            ":14: setup[0].nme: unknown argument of verb calc.tab 'nme'. Did you mean 'name'?",
        ),
        (
            'name = "Calculator"',
            "name = 3",
            ":14: setup[0].name: verb calc.tab: argument 'name': Input should be a valid string, not 3.",
        ),
        ('name = "Calculator"', "", ":13: setup[0].verb: verb calc.tab: argument 'name' is missing."),
        (
            '"variable"',
            '"varible"',
            ":19: node[0].check[0].predicate: unknown predicate 'calc.varible'. Did you mean",
        ),
        (
            'equals = "{sum}"',
            'equals = "{name}"',
            ":19: node[0].check[0].equals: predicate calc.variable: argument 'equals': "
            "Input should be a valid number, not 'p'.",
        ),
        (
            'goal = "{name} is {sum}"',
            'goal = "{name} is {summ}"',
            ":18: node[0].goal: unknown parameter 'summ'. Did you mean 'sum'?",
        ),
        (
            'id = "stored"',
            'id = "stored"\nafter = ["store"]',
            ":18: node[0].after: unknown parent of subtask",
        ),
        (
            'id = "stored"',
            'id = "stored"\nafter = ["stored"]',
            ":18: node[0].after: subtasks wait for one another",
        ),
        ('id = "stored"\n', "", ":16: node[0]: 'id' is missing."),
        ('id = "stored"', 'idd = "stored"', ":17: node[0].idd: unknown key 'idd'. Did you mean 'id'?"),
        (
            '{predicate = "variable", name = "{name}", equals = "{sum}"}',
            '{predicate = "file_exists", path = "out.txt"}',
            ":19: node[0].check[0].path: 'out.txt' is not read; add it to files.",
        ),
    ],
)
def test_errors_say_where_and_what(load: Load, old: str, new: str, message: str) -> None:
    assert old in SUM
    assert fault(load, SUM.replace(old, new, 1)).startswith(message)


def test_windows_line_ends_count_as_one(tmp_path: Path) -> None:
    path = tmp_path / "sum.toml"
    path.write_bytes(SUM.replace('"variable"', '"varible"').replace("\n", "\r\n").encode())
    with pytest.raises(TaskFileError, match=r"sum\.toml:19: node\[0\]\.check\[0\]\.predicate: "):
        load_template(path, Calc())


def test_an_error_starts_with_the_file(load: Load, tmp_path: Path) -> None:
    with pytest.raises(TaskFileError) as caught:
        load(SUM.replace("max_steps", "max_step"))
    assert str(caught.value).startswith(f"{tmp_path / 'sum.toml'}:4: max_step: ")


TRICKY = '''\
difficulty = "easy" # max_steps = "here"
instruction = """
[[node]]
id = "not a node"
"""
paraphrases = [
    "one, [two]",
    "three",
    # a comment, with commas
    "{oops}",
]
max_steps = 5
[parameters.case]
choice = [
    {text = "a, {{b}}", n = 1},
    {text = "c", m = 2},
]
[[node]]
id = "first"
goal = ""
check = [
    {predicate = "shows", text = "}}]"},
    {predicate = "shows", text = "x", txt = "y"},
]
[[node]]
id = "second"
goal = ""
[[node.check]]
predicate = "shows"
text = "x"
[[node.check]]
predicate = "shows"
text = 4
'''


def test_lines_are_right_in_sources_that_look_like_others(load: Load) -> None:
    assert fault(load, TRICKY).startswith(":10: paraphrases[2]: unknown parameter 'oops'.")
    second = TRICKY.replace("{oops}", "{case.text}")
    assert fault(load, second).startswith(
        ":23: node[0].check[1].txt: unknown argument of predicate calc.shows"
    )
    typed = second.replace('text = "x", txt = "y"', "text = 7")
    assert fault(load, typed).startswith(":23: node[0].check[1].text: predicate calc.shows: argument 'text'")
    third = second.replace(', txt = "y"', "")
    assert fault(load, third).startswith(":33: node[1].check[1].text: predicate calc.shows: argument 'text'")
    fourth = third.replace("text = 4", 'text = "{case.n}"')
    assert fault(load, fourth).startswith(":33: node[1].check[1].text: unknown parameter 'case.n'.")
    assert load(third.replace("text = 4", 'text = "{case.text}"')).id == "sum"


def test_files_may_be_named_by_parameters(load: Load) -> None:
    check = '{predicate = "file_contains", path = "{name}.txt", text = "{sum}"}'
    source = SUM.replace('{predicate = "variable", name = "{name}", equals = "{sum}"}', check)
    made = task(load('files = ["{name}.txt"]\n' + source))
    assert made.files == (f"{made.parameters['name']}.txt",)
    assert fault(load, 'files = ["p.txt"]\n' + source).startswith(
        ":20: node[0].check[0].path: 'q.txt' is not read"
    )


def test_a_later_subtask_is_found(load: Load) -> None:
    again = '\n[[node]]\nid = "stored"\ngoal = ""\ncheck = {predicate = "stopped", kind = "DONE"}\n'
    assert fault(load, SUM + again).startswith(":28: node[1].id: there are two subtasks 'stored'")
    cycle = SUM.replace('id = "stored"', 'id = "stored"\nafter = ["b"]') + again.replace(
        '"stored"', '"b"\nafter = ["stored"]'
    )
    assert fault(load, cycle).startswith(":18: node[0].after: subtasks wait for one another: ")


def test_every_entry_of_a_choice_is_checked(load: Load) -> None:
    entries = ", ".join(["{v = 1}"] * 30 + ['{v = "x"}'] + ["{v = 1}"] * 30)
    source = MINIMAL % ("", f"case = {{choice = [{entries}]}}") + (
        '[[node]]\nid = "v"\ngoal = ""\ncheck = {predicate = "variable", name = "v", equals = "{case.v}"}\n'
    )
    assert fault(load, source).startswith(":13: node[1].check[0].equals: ")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(TaskFileError, match=r"gone\.toml:1: file: cannot be read: No such file"):
        load_template(tmp_path / "gone.toml", Calc())
    (tmp_path / "latin.toml").write_bytes('a = 1\nb = "é"\n'.encode("latin-1"))
    with pytest.raises(TaskFileError, match=r"latin\.toml:2: file: is not UTF-8"):
        load_template(tmp_path / "latin.toml", Calc())


def test_an_apps_templates_are_loaded_by_id(tmp_path: Path) -> None:
    class Here(Calc):
        folder = tmp_path

    assert load_templates(Here()) == {}
    (tmp_path / "tasks").mkdir()
    for name in ("b", "a"):
        (tmp_path / "tasks" / f"{name}.toml").write_text(SUM)
    assert list(load_templates(Here())) == ["a", "b"]
    (tmp_path / "tasks" / "c.toml").write_text(SUM + "x")
    with pytest.raises(TaskFileError, match=r"c\.toml:26: TOML: "):
        load_templates(Here())


def test_the_documented_example_loads(load: Load) -> None:
    lines = (
        (tasks.__doc__ or "").split("`calculator-sum.toml`:")[1].split("Predicates, verbs")[0].splitlines()
    )
    made = task(load("\n".join(line.removeprefix("    ") for line in lines).replace("kalgebra", "calc")))
    assert made.files == ("out.txt",)
    assert made.oracle[0].role == "text"
    assert list(made.oracles) == ["gui", "console"]


# Inspections, and further oracles


def test_an_inspection_is_made_of_its_arguments(load: Load) -> None:
    made = task(load(SUM + '[[inspect]]\ninspection = "raster"\nmap = "{name}{a}"\n'))
    (one,) = made.inspections
    name = f"{made.parameters['name']}{made.parameters['a']}"
    assert (one.name, one.argv) == (f"stored {name}", ("/usr/bin/dump", name, "3"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('inspection = "rastr"\nmap = "x"', ":27: inspect[0].inspection: unknown inspection 'calc.rastr'"),
        ('inspection = "raster"', ":27: inspect[0].inspection: inspection calc.raster: "),
        ('inspection = "raster"\nmap = "x"\nmop = 1', ":29: inspect[0].mop: unknown argument of inspection"),
        ('inspection = "raster"\nmap = "x"\ndecimals = "2"', ":29: inspect[0].decimals: inspection"),
        ('inspection = "raster"\nmap = "x"\n[[inspect]]\ninspection = "raster"\nmap = "x"',
         ":29: inspect[1]: 'stored x' is inspected twice."),
    ],
)  # fmt: skip
def test_wrong_inspections_are_named(load: Load, call: str, message: str) -> None:
    assert fault(load, SUM + f"[[inspect]]\n{call}\n").startswith(message)


@pytest.mark.parametrize(
    ("text", "after", "word"),
    [
        ("minimum: 2.5\nmaximum: 31.25\n", "maximum:", "31.25"),
        ("maximum: 1\nmaximum: 31.25\n", "maximum:", "31.25"),
        ("|1|forest. . . . .| 449.250|\n", "forest", "449.250"),
        ("maximum: 31.", "maximum:", None),
        ("maximum: . .\n", "maximum:", None),
        ("minimum: 2.5\n", "maximum:", None),
        ("", "maximum:", None),
    ],
)
def test_an_oracle_reads_a_whole_word(text: str, after: str, word: str | None) -> None:
    assert read(Reading("calc.console", after), text) == word


def test_a_template_has_several_oracles_by_name(load: Load) -> None:
    more = '[[oracles.console]]\ndo = "code"\ntext = "{a}"\n[[oracles.console]]\ndo = "done"\n'
    made = task(load(SUM + more + '[[oracles.other]]\ndo = "fail"\n'))
    assert list(made.oracles) == ["gui", "console", "other"]
    assert made.oracles["gui"] == made.oracle
    a = str(made.parameters["a"])
    assert made.oracles["console"] == (OracleStep(Action.code(a)), OracleStep(Action.done()))


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ('[[oracles.gui]]\ndo = "done"', ":26: oracles.gui: the main solution's steps are [[oracle]]."),
        ('[[oracles.one]]\ndo = "done"\n[[oracles.two]]\ndo = "done"\n[[oracles.two]]\ndo = "dome"',
         ":31: oracles.two[1].do: unknown oracle step 'dome'. Did you mean 'done'?"),
    ],
)  # fmt: skip
def test_wrong_steps_of_further_oracles_are_named(load: Load, steps: str, message: str) -> None:
    assert fault(load, SUM + f"{steps}\n").startswith(message)
