"""Any tree and any report give a KAlgebra state, and every predicate an answer."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sci_gym import observation as seen
from sci_gym.bounds import MAX_NODES
from sci_gym.loader import load_app
from sci_gym.specs import A11yNode, A11yTree, Box, Evidence, Observation, Program

APP = load_app("kalgebra")
ROLES = (
    "page tab list", "page tab", "layered pane", "text", "document web", "frame", "table", "table cell",
    "tree", "spin button", "panel", "label", "menu bar", "menu item", "push button", "application", "",
)  # fmt: skip
NAMES = (
    "Calculator", "2D Graph", "3D Graph", "Dictionary", "Functions", "Operations", "Variables", "Information",
    "Grid", "Left:", "Top:", "Width:", "Height:", "OK", "Normal", "Solid", "x", "x^2", "x->x", "i", "",
)  # fmt: skip
EXPRESSIONS = (
    "x->x", "sum(k : k=1..1e9)", "((((((((((x", "9^9^9^9", "x:=x", "f->f(f)", "vector{1, x}", "-" * 3000,
    "(" * 3999, '"' * 3999, "//" * 1999, "1e999", "!" * 100, "x" * 5000, "1/0", "²" * 1000,
    "product(k : k=1..99)", "sum(sum(sum(k*j*x : k=1..999) : j=1..999) : i=1..999)",
)  # fmt: skip
TEXT = st.one_of(st.sampled_from(NAMES), st.sampled_from(EXPRESSIONS), st.text(max_size=10))
BOXES = st.builds(Box, *[st.integers(-(2**31), 2**31 - 1)] * 4)


@st.composite
def trees(draw: st.DrawFn) -> A11yTree:
    nodes = []
    for index in range(draw(st.integers(0, 60))):
        parent = draw(st.integers(max(-1, index - 8), index - 1))
        cell = st.tuples(st.integers(0, 3), st.integers(0, 2)) | st.just((2**32 - 1, 2**32 - 1)) | st.none()
        nodes.append(
            A11yNode(
                index,
                parent,
                draw(st.sampled_from(ROLES)),
                draw(TEXT),
                draw(TEXT),
                "",
                draw(st.none() | st.floats(allow_nan=False)),
                draw(st.sampled_from([0, 2**64 - 1, 1 << 4])),
                draw(st.none() | BOXES),
                draw(st.sampled_from(["kalgebra", ""])),
                draw(cell),
            )
        )
    return A11yTree(tuple(nodes), draw(st.booleans()))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
REPORTS = st.dictionaries(
    st.sampled_from(
        ["model", "number", "plots", "plotter", "left", "top", "width", "name", "plot", "visible"]
    ),
    JSON,
)
PLOTS = st.lists(st.fixed_dictionaries({"name": JSON, "plot": TEXT, "visible": JSON}), max_size=3)
MODELS = st.fixed_dictionaries({"model": JSON, "number": st.integers(-1, 2), "plots": PLOTS | JSON})
LINES = st.one_of(
    st.text(max_size=30),
    st.one_of(REPORTS, MODELS).map(json.dumps),
    st.sampled_from(["[" * 60_000, "1" * 5000]),
)


def observed(tree: A11yTree, lines: list[str]) -> Observation:
    program = Program(1, "kalgebra", True, 0, 1, tuple(lines), "")
    blank = np.zeros((480, 640, 3), np.uint8)
    return Observation(blank, tree, (0, 0), (), (program,), {}, settled=True, consistent=True)


def arguments(name: str) -> dict[str, Any]:
    wanted: dict[str, dict[str, Any]] = {
        "variable": {"name": "x", "equals": "2"}, "variable_absent": {"name": "x"},
        "function": {"name": "x", "equals": "x->x"}, "plots_2d_count": {"equals": 1}, "plots_3d_none": {},
        "viewport": {"left": 1.0}, "grid": {"equals": True}, "keep_aspect_ratio": {"equals": True},
        "plotted_3d": {"equals": "x*y"},
    }  # fmt: skip
    named = {"tab", "dictionary_entry"}
    return wanted.get(name, {"name": "Calculator"} if name in named else {"equals": "x^2"})


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(trees(), st.lists(LINES, max_size=4))
def test_any_tree_has_a_state_and_any_state_a_verdict(tree: A11yTree, lines: list[str]) -> None:
    observation = observed(tree, lines)
    state = APP.read_state(observation)
    assert set(state) >= {"tab", "variables", "plots_2d"}
    assert APP.ready(observation) in (True, False)
    evidence = Evidence(state={"kalgebra": state}, files={}, stop=None, answer=None)
    for name, predicate in APP.predicates.items():
        assert predicate(evidence, **arguments(name)) in (True, False)
    marks = seen.find_marks(tree.showing, 640, 480)
    assert len(seen.describe_tree(tree.showing, marks)) <= seen.MAX_TEXT_CHARS
    assert seen.draw_marks(observation.screenshot, marks).shape == (480, 640, 3)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("role", ["page tab list", "table cell", "menu bar", "frame"])
@pytest.mark.parametrize("deep", [True, False])
def test_a_tree_as_large_as_may_be_is_read_soon(role: str, deep: bool) -> None:
    """The timeout stands for "soon": a walk of each node's descendants would take minutes."""
    nodes = tuple(
        A11yNode(index, index - 1 if deep else min(index - 1, 0), role, "Functions", "x",
                 states=2**64 - 1, box=Box(0, 0, 1, 1), program="kalgebra", cell=(index, index % 2))
        for index in range(MAX_NODES)
    )  # fmt: skip
    assert APP.read_state(observed(A11yTree(nodes), []))
