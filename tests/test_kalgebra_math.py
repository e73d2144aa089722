"""Analitza's language on the host, held against values that the real KAlgebra 22.12 computed."""

from __future__ import annotations

import contextlib
import json
import math
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sci_gym.envs.kalgebra.analitza import parse
from sci_gym.envs.kalgebra.compare import same_function, same_value
from sci_gym.envs.kalgebra.curves import same_plot
from sci_gym.envs.kalgebra.evaluate import Evaluator
from sci_gym.envs.kalgebra.lexer import AnalitzaError
from sci_gym.envs.kalgebra.plots import classify
from sci_gym.errors import ConfigurationError

PAIRS: list[tuple[str, str | None]] = [
    tuple(pair) for pair in json.loads((Path(__file__).parent / "data" / "kalgebra_values.json").read_text())
]
"""What was entered into the real program, and what its table of variables then showed (None: no variable)."""
SYMBOLIC = {"3+4|sqrt1", "sqrt(4)", "list{sqrt0,i^2,(1+i)*(2-i)}"}
"""Names of no function: the program keeps the text."""
SHOWN_WRONG = {"(-8)^(1/3)", "conjugate(3+4*i)", "x->(-x)^2", "list{root(-4+0*i,2)}"}
"""The program shows complex variables by their real part, prints nan, and drops parentheses about a minus."""


def value(text: str) -> object:
    return Evaluator().value(parse(text))


@pytest.mark.parametrize(("text", "shown"), PAIRS)
def test_values_agree_with_the_program(text: str, shown: str | None) -> None:
    if text in SYMBOLIC | SHOWN_WRONG:
        return
    if shown in (None, "", "nan", "inf", "-inf"):
        with pytest.raises(AnalitzaError):
            value(text)
    else:
        assert same_value(str(shown), text), f"the program computed {shown}"


def test_the_record_is_large_enough() -> None:
    assert len(PAIRS) > 300


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2+",
        "(1",
        "x->",
        "f(2)(3)",
        "1..2",
        "a:=b:=1",
        "sum(k:k=1..)",
        "vector{1,",
        "set{1}",
        "2 $ 3",
        '"a',
        "é$",
        "1e999",
    ],
)
def test_what_the_program_refuses_is_refused(text: str) -> None:
    with pytest.raises(AnalitzaError):
        parse(text)


def test_errors_are_configuration_errors() -> None:
    with pytest.raises(ConfigurationError, match="character 2"):
        parse("2+")


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet='xyk123.+-*/^()[]{}|,:=<>?@ ->²"sumlitvecor', max_size=60))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    with contextlib.suppress(AnalitzaError):
        Evaluator().value(parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "(" * 3000 + "1" + ")" * 3000,
        "-" * 3000 + "1",
        "1" + "+1" * 1900,
        "x" + "[1]" * 900,
        "sum(sum(sum(k*l*m:m=1..9999):l=1..9999):k=1..9999)",
        "sum(k:k=1..10^15)",
        "range(10^9)",
        "factorial(7)^(10^9)",
        "matrix{matrixrow{1,2},matrixrow{3,4}}^(10^9)",
        "identitymatrix(10^6)",
        "vector(10^9, 1)",
        "(f->f(f))(f->f(f))",
    ],
)
def test_hostile_text_costs_little(text: str) -> None:
    start = time.monotonic()
    with pytest.raises(AnalitzaError):
        value(text)
    assert time.monotonic() - start < 2


def test_endless_recursion_is_an_error() -> None:
    with pytest.raises(AnalitzaError):
        Evaluator({"f": "n->f(n+1)", "a": "b", "b": "a"}).value(parse("f(1)+a"))


def test_functions_may_call_themselves() -> None:
    environment = {"fib": "n->piecewise { n=0 ? 0, n=1 ? 1, ? fib(n-1)+fib(n-2) }"}
    assert Evaluator(environment).value(parse("fib(10)")) == 55.0


@pytest.mark.parametrize(
    ("actual", "expected", "same"),
    [
        ("6.283185307179586", "2*pi", True),
        ("6.28", "2*pi", False),
        ("1e+20", "10^20", True),
        ("vector { 1, 2 }", "vector{1, 4/2}", True),
        ("vector { 1, 2 }", "list{1, 2}", False),
        ("list { 3+4*i }", "list{3+4*i}", True),
        ('"abc"', '"abc"', True),
        ("2*x", "x+x", True),
        ("x->2*x", "y->y*2", True),
        ("x->cos(x)*x+sin(x)", "diff(x*sin(x):x)", True),
        ("", "1", False),
        ("nan", "1", False),
        ("1", "1+1e-7", True),
        ("1", "1+1e-5", False),
    ],
)
def test_same_value(actual: str, expected: str, same: bool) -> None:
    assert same_value(actual, expected) is same


def test_expected_values_ignore_the_programs_variables() -> None:
    assert not same_value("3", "pi", {"pi": "3"})
    assert same_value("x->f(x)+a", "x->x^2+3", {"f": "x->x^2", "a": "3"})


@pytest.mark.parametrize(
    ("actual", "expected", "same"),
    [
        ("x->x^2", "t->t*t", True),
        ("(x, y)->x*y", "(a,b)->b*a", True),
        ("(x, y)->x-y", "(a,b)->b-a", False),
        ("x->x^2/x", "x->x", True),
        ("x->x/10^8", "x->x/10^7", False),
        ("x->root(x, 2)", "x->x^0.5", True),
        ("x->root(x, 3)", "x->x^(1/3)", True),
        ("x->ln(x)", "x->ln(abs(x))", False),
        ("x->sin(x)", "(x,y)->sin(x)", False),
        ("n->factorial(n)", "n->product(k:k=1..n)", True),
    ],
)
def test_same_function(actual: str, expected: str, same: bool) -> None:
    assert same_function(actual, expected) is same


def test_whole_numbers_only() -> None:
    shown = "n->piecewise { n=0 ? 0, n=1 ? 1, ? fib(n-1)+fib(n-2) }"
    expected = "fib:=n->piecewise{n<2 ? n, ? fib(n-1)+fib(n-2)}"
    assert same_function(shown, expected, {"fib": shown}, whole=True)
    assert not same_function(shown, "n->n", {"fib": shown}, whole=True)


@pytest.mark.parametrize(
    ("text", "dimension", "kind"),
    [
        ("x^2", 2, "explicit-x"),
        ("y->y^2", 2, "explicit-y"),
        ("y=x^2", 2, "implicit"),
        ("x=3", 2, "explicit-x"),
        ("q->q", 2, "polar"),
        ("t->vector{t,t^2}", 2, "parametric"),
        ("r=1+cos(p)", 2, "implicit-polar"),
        ("x*y", 3, "surface-z"),
        ("(x,z)->x+z", 3, "surface-y"),
        ("x^2+y^2+z^2=1", 3, "implicit"),
        ("(u,v)->vector{u,v,u*v}", 3, "parametric-surface"),
    ],
)
def test_kinds_follow_the_parameters(text: str, dimension: int, kind: str) -> None:
    assert classify(text, dimension).kind == kind


@pytest.mark.parametrize(
    ("text", "dimension"), [("a->a", 2), ("3", 2), ("t->vector{t,t}", 3), ("z", 2), ("r=2", 2)]
)
def test_what_the_program_cannot_draw(text: str, dimension: int) -> None:
    with pytest.raises(AnalitzaError):
        classify(text, dimension)


@pytest.mark.parametrize(
    ("actual", "expected", "same"),
    [
        ("x->x^2", "x*x", True),
        ("y=x^2", "x^2", True),
        ("x^2", "y=x^2+0.001", False),
        ("2*x^2+2*y^2-8=0", "x^2+y^2=4", True),
        ("x^2+y^2=4.01", "x^2+y^2=4", False),
        ("t->vector { 2*cos(t), 2*sin(t) }", "x^2+y^2=4", True),
        ("t->vector { 2*cos(t), 3*sin(t) }", "x^2+y^2=4", False),
        ("x^2", "t->vector{t,t**2}", True),
        ("t->vector { t/10, t^2/100 }", "x^2", False),
        ("q->2", "x^2+y^2=4", True),
        ("q->sin(q)", "x^2+y^2=y", True),
        ("q->sin(q)", "x^2+y^2=x", False),
        ("r=1+cos(p)", "q->1+cos(q)", True),
        ("y->y^2", "x=y^2", True),
        ("y->y^2", "x->x^2", False),
        ("exp(x)", "ln(y)=x", True),
        ("1/x", "x*y=1", True),
        ("tan(x)", "y=tan(x)", True),
        ("abs(x)", "x->piecewise{x>0 ? x, ? -x}", True),
        ("x^2/9+y^2/4=1", "x^2/4+y^2/9=1", False),
        ("(x-5)^2+(y-5)^2=0.25", "0.25=(y-5)^2+(x-5)^2", True),
        ("(x^2+y^2-4)*(x-1)=0", "x^2+y^2=4", False),
        ("x^2+y^2=0-1", "x^2+y^2=0-2", False),
        ("", "x", False),
    ],
)
def test_same_plot(actual: str, expected: str, same: bool) -> None:
    assert same_plot(actual, expected) is same


@pytest.mark.parametrize(
    ("actual", "expected", "same"),
    [
        ("x*y", "z=x*y", True),
        ("x*y", "x+y", False),
        ("2*x^2+2*y^2+2*z^2=18", "x^2+y^2+z^2=9", True),
        ("x^2+y^2+z^2=8", "x^2+y^2+z^2=9", False),
        ("(r, p)->r", "z=root(x^2+y^2, 2)", True),
        ("(u, v)->vector { u, v, u*v }", "(u,v)->vector{u,v,v*u}", True),
        ("(t, p)->2", "(t, p)->3-1", True),
    ],
)
def test_same_surface(actual: str, expected: str, same: bool) -> None:
    assert same_plot(actual, expected, dimension=3) is same


def test_plots_use_the_programs_variables_for_what_it_shows_alone() -> None:
    assert same_plot("a*x^2", "3*x^2", {"a": "3"})
    assert not same_plot("pi*x", "pi*x", {"pi": "3"})


def test_a_costly_plot_is_no_plot() -> None:
    start = time.monotonic()
    assert not same_plot("sum(k*y:k=1..5000)=x", "x^2+y^2=4")
    assert time.monotonic() - start < 10


@settings(max_examples=60, deadline=None)
@given(st.floats(-50, 50), st.floats(-50, 50))
def test_sums_and_products_are_exact(a: float, b: float) -> None:
    result = value(f"({a:.6f})*({b:.6f})+({a:.6f})")
    assert isinstance(result, float)
    assert math.isclose(result, float(f"{a:.6f}") * float(f"{b:.6f}") + float(f"{a:.6f}"), abs_tol=1e-12)
