"""The lambdas of task files: what they give, what is refused, and that nothing gets out or hangs."""

from __future__ import annotations

import ast
import keyword
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sci_gym.scienceboard.lambdas import Lambda, LambdaFailedError, LambdaRefusedError
from sci_gym.scienceboard.lambdas.calls import FUNCTIONS, METHODS

DUMP: dict[str, Any] = {
    "layers": [{"name": "roads@A", "hidden": False}, {"name": "lakes@A", "hidden": True}],
    "time": {"value": 2400000.05, "scale": 1},
    "output": "n: 263975\nmean: 1",
    "at": [3, 4, 0],
}
PLAIN = (bool, int, float, str, list, tuple, dict, type(None))


@pytest.mark.parametrize(
    "text",
    [
        "lambda dump: dump['time']['value']",
        "lambda dump: [item for item in dump['layers'] if item['name'] == 'roads@A'][0]['hidden']",
        "lambda dump: any([item['name'] == 'lakes@A' for item in dump['layers']])",
        "lambda dump: all(item['name'].endswith('@A') for item in dump['layers'])",
        "lambda dump: any(item['name'] == 'roads@A' or 1 / 0 for item in dump['layers'])",
        "lambda dump: dump.get('none', {}).get('x')",
        "lambda dump: 'n: 263975' in dump['output'] and 'n: 1' not in dump['output']",
        "lambda dump: abs(dump['time']['value'] - 2400000) < 0.1",
        "lambda dump: (a := dump['at'], s := sum([x ** 2 for x in a]), __import__('math').sqrt(s))[-1]",
        "lambda dump: (lambda good: [good(it) for it in dump['layers']])(lambda it: it['hidden'] is True)",
        "lambda dump: '.'.join('a.b.c'.split('.')[:-1] + ['d'])",
        "lambda dump: {item['name'].split('@')[0]: item['hidden'] for item in dump['layers']}",
        "lambda dump: [(i, j) for i in range(3) for j in range(i) if i != j]",
        "lambda dump: dict([part.split('=', 1) for part in ['a=1', 'b=2=3']])",
        "lambda dump: str(dump['time']['scale']).strip() in ['1', '1.0'] if len(dump) > 2 else None",
        "lambda dump: 1 < 2 < 3 != 4",
        "lambda dump: isinstance(dump, dict) and isinstance(dump['at'], (list, tuple))",
        "lambda dump: max(dump['at']) - min(1, 2) + round(2.567, 1) // 1 % 2",
        "lambda dump: [name for name, hidden in [('a', 1), ('b', 0)] if not hidden]",
    ],
)
def test_it_gives_what_python_gives(text: str) -> None:
    assert Lambda(text)(DUMP) == eval(text)(DUMP)  # noqa: S307 (texts of this file)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("dump", "no lambda"),
        ("lambda dump: dump.clear()", "the method 'clear'"),
        ("lambda dump: dump.__class__", "the attribute '__class__'"),
        ("lambda dump: ''.__class__()", "the method '__class__'"),
        ("lambda dump: dump.time", "the attribute 'time'"),
        ("lambda dump: ().__class__.__base__.__subclasses__()", "'__subclasses__'"),
        ("lambda dump: open('/etc/passwd')", "the name 'open'"),
        ("lambda dump: eval('1')", "the name 'eval'"),
        ("lambda dump: getattr(dump, 'x')", "the name 'getattr'"),
        ("lambda dump: __import__('os').system('true')", "the method 'system'"),
        ("lambda dump: __import__('math')", "the name '__import__'"),
        ("lambda dump: __import__('math').factorial(9)", "the method 'factorial'"),
        ("lambda: __import__('datetime').datetime.today().strftime('%Y')", "the method 'strftime'"),
        ("lambda dump: f'{dump}'", "a JoinedStr"),
        ("lambda dump: '{0.__class__}'.format(dump)", "the method 'format'"),
        ("lambda dump: (await dump)", "a Await"),
        ("lambda dump: [*dump]", "a Starred"),
        ("lambda dump: len(*dump)", "a Starred"),
        ("lambda dump: sorted(dump, key=len)", "an argument by name"),
        ("lambda dump: dump[0](1)", "a call of what is neither"),
        ("lambda dump: (x for x in dump)", "a generator outside a call"),
        ("lambda dump: [y := x for x in dump]", "':=' in a comprehension"),
        ("lambda dump=1: dump", "a parameter that is not a plain name"),
        ("lambda *dump: dump", "a parameter that is not a plain name"),
        ("lambda dump: dump is 1", "'is' beside anything"),
        ("lambda dump: 1 << 9", "a LShift"),
        ("lambda dump: b'x'", "a constant of type bytes"),
        ("lambda dump: 1j", "a constant of type complex"),
        ("lambda dump: " + "9" * 200, "a constant of type int"),
        ("lambda dump: " + "-" * 3000 + "1", "nest"),
        ("lambda dump: " + "(" * 3000, "no Python expression"),
        ("lambda dump: " + "1+" * 12000 + "1", "more than"),
        ("lambda dump: x", "the name 'x'"),
        ("lambda __class__: 1", "the name '__class__'"),
    ],
)
def test_other_forms_are_refused_by_name(text: str, told: str) -> None:
    with pytest.raises(LambdaRefusedError) as raised:
        Lambda(text)
    assert told in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        "lambda d: d['none']",
        "lambda d: d['at'][9]",
        "lambda d: 1 / 0",
        "lambda d: 'a' + 1",
        "lambda d: 'a' * 9",
        "lambda d: '%99999999d' % 1",
        "lambda d: (-1) ** 0.5",
        "lambda d: len",
        "lambda d: lambda x: x",
        "lambda d: str(lambda x: x)",
        "lambda d: [len]",
        "lambda d: len(x for x in d)",
        "lambda d: (d.get('a', b), b := 1)",
        "lambda d: 2 ** 64 ** 2",
        "lambda d: 2.0 ** 9999",
        "lambda d: [0 for a in range(99999) for b in range(99999)]",
        "lambda d: range(10 ** 9)",
        "lambda d: 'a'.replace('', 'b' + str([0 for i in range(99999)]))" + ".replace('', 'ccccccccccc')" * 9,
        "lambda d: (lambda f: f(f))(lambda f: f(f))",
        "lambda d: (x := [0]," + " x := [x, x]," * 50 + " x == x)[-1]",
        "lambda d: (x := 'ab'," + " x := x + x," * 40 + " len(x))[-1]",
        "lambda d: round(1, -10 ** 9)",
        "lambda d: int('9' + 'x')",
        "lambda d: sum([[1], [2]])",
    ],
)  # fmt: skip
def test_a_call_without_a_result_fails_in_bounds(text: str) -> None:
    with pytest.raises(LambdaFailedError):
        Lambda(text)(DUMP)


def test_data_from_a_guest_is_held_to_its_bounds() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    for data in (deep, [0] * 2_000_000, "x" * 2_000_000, object(), {"a": b"x"}, 1 << 999):
        with pytest.raises(LambdaFailedError):
            Lambda("lambda d: d")(data)


NAMES = ["d", "k", "f", *sorted(FUNCTIONS), "eval", "__import__", "self"]
ATTRIBUTES = [*sorted(METHODS), "__class__", "__globals__", "format", "f_back", "gi_frame", "mro", "clear"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "==", "<", "in", "not in", "is", "and", "or", "<<", "@"]
leaf = st.one_of(
    st.sampled_from(NAMES),
    st.sampled_from(["None", "True", "0", "1", "9", "2.5", "'a'", "'at'", "''", "'layers'", "b'x'", "..."]),
)


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    one, two, some = inner, st.tuples(inner, inner), st.lists(inner, max_size=3)
    return st.one_of(
        st.tuples(inner, st.sampled_from(OPERATORS), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        two.map(lambda t: f"({t[0]})[{t[1]}]"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]})[{t[1]}:{t[2]}]"),
        st.tuples(inner, st.sampled_from(ATTRIBUTES), some).map(
            lambda t: f"({t[0]}).{t[1]}({', '.join(t[2])})"
        ),
        st.tuples(inner, st.sampled_from(ATTRIBUTES)).map(lambda t: f"({t[0]}).{t[1]}"),
        st.tuples(st.sampled_from(NAMES), some).map(lambda t: f"{t[0]}({', '.join(t[1])})"),
        two.map(lambda t: f"[{t[0]} for k in {t[1]}]"),
        two.map(lambda t: f"{{k: {t[0]} for k in {t[1]}}}"),
        two.map(lambda t: f"any({t[0]} for k in {t[1]})"),
        two.map(lambda t: f"(lambda f: {t[0]})({t[1]})"),
        two.map(lambda t: f"(f := {t[0]}, {t[1]})"),
        one.map(lambda t: f"(lambda d: {t})"),
        some.map(lambda t: f"[{', '.join(t)}]"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        one.map(lambda t: f"(not {t})"),
    )


expression = st.recursive(leaf, _grown, max_leaves=14)


def _closed(value: Any) -> bool:
    parts = list(value.items()) if type(value) is dict else value if type(value) in (list, tuple) else []
    return type(value) in PLAIN and all(map(_closed, parts))


def _hold(text: str) -> None:
    """A text is refused, or fails, or gives plain data; its tree has no attribute but the known methods."""
    try:
        found = Lambda(text)
    except LambdaRefusedError:
        return
    for node in ast.walk(ast.parse(text.strip(), mode="eval")):
        assert not isinstance(node, ast.Attribute) or node.attr in METHODS
    try:
        assert _closed(found(*[DUMP] * found.parameters))
    except LambdaFailedError:
        return


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(expression)
def test_no_expression_gets_out_or_hangs(text: str) -> None:
    _hold(f"lambda d: {text}")


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from([*keyword.kwlist, *NAMES, *OPERATORS, *"()[]{},.:=* '\"\\\n\0"]),
            st.text(max_size=3),
        ),
        max_size=30,
    )
)
def test_no_text_gets_out_or_hangs(parts: list[str]) -> None:
    _hold("lambda d: " + " ".join(parts))
    _hold("".join(parts))
