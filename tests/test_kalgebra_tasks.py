"""KAlgebra's task templates, without the program: what a seed makes of them, and if answers are right."""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import mpmath
import numpy as np
import pytest

from sci_gym.evaluation import GraphRun, PredicateSet, right_stop
from sci_gym.loader import load_app
from sci_gym.specs import Check, Evidence, Kind, TaskSpec
from sci_gym.tasks import Template, load_templates

APP = load_app("kalgebra")
TEMPLATES: Mapping[str, Template] = load_templates(APP)
PREDICATES = PredicateSet.of(APP)
SEEDS = range(20)
VARIABLES = {"i": "0", "pi": "3.141592653589793", "e": "2.718281828", "true": "1", "false": "0"}
EMPTY_STATE = {
    "tab": "Calculator",
    "variables": VARIABLES,
    "plots_2d": [],
    "plots_3d": [],
    "viewport": {"left": -10.0, "top": 10.0, "width": 20.0, "height": 20.0},
    "resolution": "Normal",
    "grid": True,
    "keep_aspect_ratio": True,
    "style_3d": "Solid",
    "mode": "Calculate",
    "input": "",
    "input_3d": "",
    "dictionary": {"filter": "", "entry": None},
}
every_template = pytest.mark.parametrize("name", sorted(TEMPLATES))


def made(name: str, seed: int) -> TaskSpec:
    return TEMPLATES[name].instantiate(np.random.default_rng(seed))


def evidence(stop: Kind | None = None, answer: str | None = None, **state: object) -> Evidence:
    return Evidence(state={"kalgebra": {**EMPTY_STATE, **state}}, stop=stop, answer=answer)


def checks_of(spec: TaskSpec) -> list[Check]:
    return [check for node in spec.graph.nodes for check in node.checks]


def answer_check(spec: TaskSpec) -> Check:
    (found,) = (check for check in checks_of(spec) if check.predicate.startswith("answer_"))
    return found


def test_there_are_enough_templates_of_every_kind_and_difficulty() -> None:
    kinds = Counter(template.kind for template in TEMPLATES.values())
    difficulties = Counter(template.difficulty for template in TEMPLATES.values())
    assert len(TEMPLATES) >= 18
    assert kinds["task"] >= 12
    assert kinds["question"] >= 4
    assert kinds["infeasible"] >= 2
    assert min(difficulties[each] for each in ("easy", "medium", "hard")) >= 4


@every_template
def test_difficulty_fits_the_graph(name: str) -> None:
    template, graph = TEMPLATES[name], made(name, 0).graph
    joins = [node for node in graph.nodes if len(node.after) > 1]
    sizes = {"easy": range(1, 3), "medium": range(2, 5), "hard": range(4, 12)}
    if template.kind != "infeasible":
        assert template.subtasks in sizes[template.difficulty]
    assert joins or template.difficulty != "hard"


def test_several_graphs_branch() -> None:
    graphs = [made(name, 0).graph.nodes for name in TEMPLATES]
    roots = [nodes for nodes in graphs if sum(not node.after for node in nodes) > 1]
    joins = [nodes for nodes in graphs if any(len(node.after) > 1 for node in nodes)]
    assert len(roots) >= 4
    assert len(joins) >= 4


@every_template
def test_wording_is_filled_in(name: str) -> None:
    for seed in SEEDS:
        spec = made(name, seed)
        words = [spec.instruction, *(node.goal for node in spec.graph.nodes)]
        assert not [text for text in words if re.search(r"[{}]|None|\.0\b|\d{8}", text)]


@every_template
def test_parameters_and_wording_vary_with_the_seed(name: str) -> None:
    specs = [made(name, seed) for seed in SEEDS]
    assert len({repr(spec.parameters) for spec in specs}) > 2
    document = tomllib.loads(TEMPLATES[name].source)
    wordings = [document["instruction"], *document["paraphrases"]]
    used = {spec.instruction: [like(wording, spec.instruction) for wording in wordings] for spec in specs}
    assert all(sum(matches) == 1 for matches in used.values())
    assert all(map(any, zip(*used.values(), strict=True))), "a wording is never used"


def like(wording: str, text: str) -> bool:
    """Whether a text is the wording, filled in."""
    parts = re.split(r"\{[\w.]+\}", wording)
    return re.fullmatch(".+".join(map(re.escape, parts)), text) is not None


@every_template
def test_the_same_seed_gives_the_same_task(name: str) -> None:
    assert all(made(name, seed) == made(name, seed) for seed in SEEDS)


@every_template
def test_nothing_holds_before_the_program_runs(name: str) -> None:
    empty = Evidence(state={})
    for seed in SEEDS:
        held = [check for check in checks_of(made(name, seed)) if PREDICATES.holds(check, empty)]
        assert not held


@every_template
def test_nothing_holds_when_the_task_begins(name: str) -> None:
    for seed in SEEDS:
        spec = made(name, seed)
        wrong_stop = Kind.FAIL if right_stop(spec) is Kind.DONE else Kind.DONE
        for stop in (None, wrong_stop):
            seen = evidence(stop, **set_up(spec))
            run = GraphRun(spec.graph, PREDICATES, right_stop(spec))
            run.update(seen)
            assert run.verdict(seen).coverage_rate == 0
            assert not run.verdict(seen).success


def set_up(spec: TaskSpec) -> dict[str, Any]:
    """What the set-up verbs leave in the program."""
    called = [(verb.name.removeprefix("kalgebra."), verb.arguments) for verb in spec.setup]
    entered = [arguments["expression"].split(":=") for name, arguments in called if name == "enter"]
    plotted = [arguments["expression"] for name, arguments in called if name == "plot_2d"]
    return {"variables": {**VARIABLES, **dict(entered)}, "plots_2d": plots(*plotted)}


def plots(*texts: str) -> list[dict[str, object]]:
    return [{"name": f"f{place}", "plot": text, "visible": True} for place, text in enumerate(texts)]


@every_template
def test_the_oracle_ends_as_the_task_has_to_end(name: str) -> None:
    for seed in SEEDS:
        spec = made(name, seed)
        last = spec.oracle[-1].action
        assert last.kind is right_stop(spec)
        assert len(spec.oracle) <= spec.max_steps / 2
        if spec.question:
            assert PREDICATES.holds(answer_check(spec), evidence(Kind.ANS, last.text))


def test_no_two_templates_ask_for_the_same_variable() -> None:
    asked: dict[str, set[str]] = {}
    for name in TEMPLATES:
        for check in (check for seed in SEEDS for check in checks_of(made(name, seed))):
            if check.predicate in ("kalgebra.variable", "kalgebra.function"):
                asked.setdefault(str(check.arguments["name"]), set()).add(name)
    assert not {variable: names for variable, names in asked.items() if len(names) > 1}


def test_no_answer_answers_another_question() -> None:
    questions = [name for name in TEMPLATES if TEMPLATES[name].kind == "question"]
    specs = [made(name, seed) for name in questions for seed in SEEDS]
    for one in specs:
        for other in (spec for spec in specs if spec.id != one.id):
            given = evidence(Kind.ANS, other.oracle[-1].action.text)
            assert not PREDICATES.holds(answer_check(one), given), (one.id, other.id)


def test_no_answer_stands_in_the_instruction() -> None:
    for name in (name for name in TEMPLATES if TEMPLATES[name].kind == "question"):
        for seed in SEEDS:
            spec = made(name, seed)
            given = spec.oracle[-1].action.text
            if len(given) > 1:
                assert not re.search(rf"\b{re.escape(given)}\b", spec.instruction)


# Independent computations: of the parameters alone, with mpmath, never with the template's `compute`.


def fibonacci(start: int, second: int, n: int) -> int:
    a, b = start, second
    for _ in range(n):
        a, b = b, a + b
    return a


def turning_points(polynomial: str) -> list[float]:
    terms = re.findall(r"([+-]?\d*)\*?x(?:\^(\d))?", polynomial)
    whole = {"": 1, "+": 1, "-": -1}
    by_power = {int(power or 1): whole.get(factor) or int(factor) for factor, power in terms}
    slope = np.polynomial.Polynomial([by_power.get(power, 0) for power in range(5)]).deriv()
    return [round(float(root), 9) for root in slope.trim().roots()]


EXAMPLES = {"gcd": 3, "lcm": 4, "rem": 5, "quotient": 2, "min": 4, "factorof": 3, "root": 2}
"""The number in the example of each operation, as KAlgebra 22.12 shows it."""

ANSWERS: dict[str, Callable[..., object]] = {
    "ask-cube-sum": lambda low, high, **_: mpmath.fsum(k**3 for k in range(low, high + 1)),
    "ask-triangle": lambda g, h, **_: mpmath.mpf(g) * mpmath.mpf(h) / 2,
    "ask-plot-values": lambda a, b, c, d, p, **_: mpmath.polyval([a, c, b - d], p),
    "ask-dictionary": lambda case: EXAMPLES[case["op"]],
    "ask-fibonacci": lambda s, u, n, **_: fibonacci(s, u, n),
    "ask-intersection": lambda slope, shift, **_: max(mpmath.polyroots([1, -slope, -shift])),
    "ask-turning-points": lambda case, **_: turning_points(case["f"]),
    "ask-zeros": lambda first, second, third, **_: mpmath.polyroots([1, -first, second, third]),
}


def test_every_question_is_computed_here() -> None:
    assert set(ANSWERS) == {name for name in TEMPLATES if TEMPLATES[name].kind == "question"}


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_answers_are_right(name: str) -> None:
    for seed in SEEDS:
        spec = made(name, seed)
        right = ANSWERS[name](**spec.parameters)
        numbers = right if isinstance(right, list) else [right]
        text = ", ".join(mpmath.nstr(mpmath.mpf(number), 15) for number in numbers)
        assert PREDICATES.holds(answer_check(spec), evidence(Kind.ANS, text)), text
        wrong = ", ".join(mpmath.nstr(mpmath.mpf(number) + 1, 15) for number in numbers)
        assert not PREDICATES.holds(answer_check(spec), evidence(Kind.ANS, wrong)), wrong


CHOOSE: dict[str, Callable[[int, int], int]] = {"lcm": math.lcm, "gcd": math.gcd, "max": max, "min": min}

# What a variable has to be at the end, from the parameters alone.
VALUES: dict[str, Callable[..., dict[str, object]]] = {
    "calc-power-sum": lambda a, k, b, c, name: {name: a**k + b * c},
    "calc-log-base": lambda n, base, name: {name: mpmath.log(n, base)},
    "series-sum": lambda n, p, name: {name: mpmath.nsum(lambda k: 1 / k**p, [1, n])},
    "product-odd": lambda n, d, name: {name: mpmath.nprod(lambda k: 2 * k - 1 + d, [1, n])},
    "kinetic-energy": lambda m, s: {"kinetic": mpmath.mpf(m) * s * s / 2},
    "radius-changed": lambda old, new: {"radius": new, "disk": mpmath.pi * new**2},
    "function-at-point": lambda a, b, p, value, slope, **_: {
        value: mpmath.polyval([1, -a, 0, b], p),
        slope: mpmath.diff(lambda x: x**3 - a * x**2 + b, p),
    },
    "vector-sum": lambda a, b, c, d, f, g: {"vlen": mpmath.norm([a + d, b + f, c + g])},
    "script-dot-product": lambda a, b, c, d, f, g, **_: {"work": mpmath.fdot([a, b, c], [d, f, g])},
    "lookup-and-use": lambda case, a, b, name: {name: CHOOSE[case["op"]](a, b)},
    "plot-2d-and-value": lambda a, b, **_: {"amp": mpmath.hypot(a, b)},
    "wave-report": lambda s, p, **_: {"swing": s, "pace": p, "intensity": mpmath.mpf(s * p) ** 2 / 2},
    "quadratic-roots": lambda a, b, c, **_: dict(
        zip(("lower", "upper"), sorted(mpmath.polyroots([a, -b, -c])), strict=True)
    ),
    "script-spiral": lambda s, **_: {"spacing": s, "reach": 2 * mpmath.pi * s},
    "plane-and-space": lambda r, **_: {"volume": mpmath.pi * 4 * r**3 / 3},
    "data-statistics": lambda a, b, c, d, f, **_: {
        "mean": np.mean([a, b, c, d, f]),
        "spread": np.var([a, b, c, d, f]),
        "sigma": np.std([a, b, c, d, f]),
    },
    "function-family": lambda d, c, p, value, **_: {value: mpmath.mpf(p) ** 2 / d - c},
}


@pytest.mark.parametrize("name", sorted(VALUES))
def test_variables_are_right(name: str) -> None:
    for seed in SEEDS:
        spec = made(name, seed)
        for variable, number in VALUES[name](**spec.parameters).items():
            checks = [check for check in checks_of(spec) if check.arguments.get("name") == variable]
            assert checks, f"{name} does not check {variable}"
            shown = mpmath.nstr(mpmath.mpf(number), 14, min_fixed=-20, max_fixed=20)
            wrong = mpmath.nstr(mpmath.mpf(number) * 1.01 + 0.003, 14, min_fixed=-20, max_fixed=20)
            right = evidence(variables={**VARIABLES, variable: shown})
            off = evidence(variables={**VARIABLES, variable: wrong})
            assert all(PREDICATES.holds(check, right) for check in checks), (variable, shown)
            assert not any(PREDICATES.holds(check, off) for check in checks), (variable, wrong)


# Another way to write what has to be plotted, and a curve that is close but wrong.
PLOTS: dict[str, tuple[str, str]] = {
    "plot-parabola": ("x->x*({a}*x-{b})+{c}", "({a}*x)^2-{b}*x+{c}"),
    "plot-circle": ("x^2-2*{a}*x+{a}^2+(y+{b})^2-{r}^2=0", "(x+{a})^2+(y-{b})^2={r}^2"),
    "plot-lissajous": (
        "t->vector{{{b}*0+{a}*sin({m}*t),{b}*cos({n}*t)}}",
        "t->vector{{{a}*sin({n}*t),{b}*cos({m}*t)}}",
    ),
    "plot-rose": ("q->-{a}*cos({n}*q)*(-1)", "q->{a}*sin({n}*q)"),
    "plot-piecewise": (
        "piecewise{{x>=0?x*(x-{b})+{a},?{a}-x}}",
        "piecewise{{x<0?x^2+{a}-{b}*x,?{a}-x}}",
    ),
    "tangent-line": ("2*{a}*(x-{a})+{a}^2+{b}", "2*{a}*x+{b}"),
    "derivative-plot": ("3/{d}*x*x-{b}", "3*x^2-{b}"),
}


@pytest.mark.parametrize("name", sorted(PLOTS))
def test_plots_are_judged_by_what_they_draw(name: str) -> None:
    for seed in list(SEEDS)[:5]:
        spec = made(name, seed)
        right, wrong = (text.format(**spec.parameters) for text in PLOTS[name])
        checks = [check for check in checks_of(spec) if check.predicate == "kalgebra.plotted_2d"]
        assert any(PREDICATES.holds(check, evidence(plots_2d=plots(right))) for check in checks), right
        assert not any(PREDICATES.holds(check, evidence(plots_2d=plots(wrong))) for check in checks), wrong
