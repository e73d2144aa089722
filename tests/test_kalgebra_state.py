"""KAlgebra's state, read from trees that were recorded from the real program (22.12, Qt 5)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sci_gym.app import Desktop
from sci_gym.envs.kalgebra.app import APP
from sci_gym.errors import ConfigurationError, DeadlineError
from sci_gym.specs import A11yNode, A11yTree, Action, Box, Evidence, Kind, Observation, Program

DATA = Path(__file__).parent / "data"
RECORDINGS = ("calculator", "typed", "unapplied", "space", "dictionary")


def observation(nodes: tuple[A11yNode, ...], lines: tuple[str, ...] = ()) -> Observation:
    program = Program(1, "kalgebra", True, 0, 1, lines, "")
    pixels = np.zeros((1, 1, 3), np.uint8)
    return Observation(pixels, A11yTree(nodes), (0, 0), (), (program,), {}, True, True)


def recorded(name: str, lines: bool = True) -> Observation:
    record = json.loads((DATA / f"kalgebra_{name}.json").read_text())
    nodes = []
    for row in record["nodes"]:
        fields = dict(zip(record["fields"], row, strict=True))
        fields["box"] = None if fields["box"] is None else Box(*fields["box"])
        nodes.append(A11yNode(**fields, program="kalgebra"))
    return observation(tuple(nodes), tuple(record["lines"]) if lines else ())


def state(name: str, lines: bool = True) -> dict[str, Any]:
    return dict(APP.read_state(recorded(name, lines)))


def holds(recording: str, predicate: str, /, **arguments: object) -> bool:
    evidence = Evidence({"kalgebra": state(recording)})
    return APP.predicates[predicate](evidence, **arguments)


def test_calculator() -> None:
    read = state("calculator")
    assert read["tab"] == "Calculator"
    assert read["variables"]["a"] == "2.3333333333333335"
    assert read["variables"]["f"] == "x->x^2+sin(x)"
    assert read["input"] == "c:=list{3+4*i}"
    assert (read["plots_2d"], read["plots_3d"]) == ([], [])
    assert read["viewport"] == {"left": -10.0, "top": 10.0, "width": 20.0, "height": 20.0}
    assert (read["resolution"], read["style_3d"], read["mode"]) == ("Normal", "Solid", "Evaluate")
    assert (read["grid"], read["keep_aspect_ratio"]) == (True, True)
    assert read["dictionary"] == {"filter": "", "entry": None}


def test_plots_in_the_plane_with_and_without_the_module() -> None:
    plots = state("typed")["plots_2d"]
    assert [plot["name"] for plot in plots] == ["f0", "f1", "f2", "f3"]
    assert [plot["visible"] for plot in plots] == [False, True, True, True]
    assert state("typed", lines=False)["plots_2d"] == plots


def test_space_and_dictionary() -> None:
    space = state("space")
    assert space["tab"] == "3D Graph"
    assert space["plots_3d"] == [{"name": "func3d", "plot": "x^2+y^2+z^2=9", "color": None, "visible": True}]
    assert (space["style_3d"], space["input_3d"]) == ("Lines", "x^2+y^2+z^2=9")
    dictionary = state("dictionary")
    assert dictionary["dictionary"] == {"filter": "arcs", "entry": "arcsin"}
    assert dictionary["mode"] == "Calculate"


def test_cells_may_come_with_their_places() -> None:
    plain = recorded("calculator")
    count: dict[int, int] = {}
    nodes = []
    for node in plain.tree:
        if node.role == "table cell":
            place = count[node.parent] = count.get(node.parent, -1) + 1
            node = node._replace(cell=(place // 2, place % 2))
        nodes.append(node)
    placed = observation(tuple(nodes), plain.programs[0].state)
    assert APP.read_state(placed) == APP.read_state(plain)


def test_ready_needs_the_input_line_on_screen() -> None:
    assert APP.ready(recorded("calculator"))
    assert not APP.ready(recorded("space"))
    assert not APP.ready(observation(()))


@pytest.mark.parametrize("name", RECORDINGS)
@pytest.mark.parametrize("share", [0, 1, 3, 20, 60, 120, 200])
def test_a_partial_tree_gives_a_partial_state(name: str, share: int) -> None:
    whole = recorded(name)
    read = APP.read_state(
        observation(tuple(whole.tree)[:share], ("not json", "[]", '{"model": 1}', '{"number": 0}'))
    )
    assert set(read) == set(APP.read_state(whole))


def test_another_programs_windows_are_not_read() -> None:
    foreign = tuple(node._replace(program="other") for node in recorded("calculator").tree)
    assert APP.read_state(observation(foreign))["tab"] is None


@pytest.mark.parametrize(
    ("recording", "predicate", "arguments", "expected"),
    [
        ("calculator", "tab", {"name": "Calculator"}, True),
        ("calculator", "tab", {"name": "2D Graph"}, False),
        ("calculator", "variable", {"name": "a", "equals": "7/3"}, True),
        ("calculator", "variable", {"name": "a", "equals": 2.33}, False),
        ("calculator", "variable", {"name": "a", "equals": 2.33, "tolerance": 0.01}, True),
        ("calculator", "variable", {"name": "b", "equals": "7/3"}, False),
        ("calculator", "variable", {"name": "ans", "equals": "list{3+4*i}"}, True),
        ("calculator", "variable", {"name": "m", "equals": "vector{3,7}"}, True),
        ("calculator", "variable_absent", {"name": "b"}, True),
        ("calculator", "variable_absent", {"name": "a"}, False),
        ("calculator", "function", {"name": "f", "equals": "t->sin(t)+t*t"}, True),
        ("calculator", "function", {"name": "f", "equals": "t->t*t"}, False),
        ("calculator", "function", {"name": "a", "equals": "x->7/3"}, False),
        ("calculator", "mode", {"equals": "Evaluate"}, True),
        ("calculator", "plots_2d_count", {"equals": 0}, True),
        ("calculator", "plots_3d_none", {}, True),
        ("typed", "plotted_2d", {"equals": "2*x^2+2*y^2=8"}, True),
        ("typed", "plotted_2d", {"equals": "7*x/3"}, True),
        ("typed", "plotted_2d", {"equals": "y=x^2"}, False),
        ("typed", "plotted_2d", {"equals": "y=x^2", "visible": False}, True),
        ("typed", "plot_hidden", {"equals": "y=x^2"}, True),
        ("typed", "plot_hidden", {"equals": "7*x/3"}, False),
        ("typed", "not_plotted_2d", {"equals": "y=x^2"}, False),
        ("typed", "plots_2d_count", {"equals": 4}, True),
        ("typed", "resolution", {"equals": "Poor"}, True),
        ("typed", "grid", {"equals": False}, True),
        ("typed", "keep_aspect_ratio", {"equals": False}, True),
        ("typed", "viewport", {"left": -5, "top": 4.5, "width": 12, "height": 9}, True),
        ("typed", "viewport", {"left": -5, "top": 4}, False),
        ("space", "plotted_3d", {"equals": "2*x^2+2*y^2=18-2*z^2"}, True),
        ("space", "plotted_3d", {"equals": "x*y"}, False),
        ("space", "plots_3d_none", {}, False),
        ("space", "style_3d", {"equals": "Lines"}, True),
        ("dictionary", "dictionary_entry", {"name": "arcsin"}, True),
        ("dictionary", "dictionary_entry", {"name": "arcs"}, False),
    ],
)
def test_predicates(recording: str, predicate: str, arguments: dict[str, Any], expected: bool) -> None:
    assert holds(recording, predicate, **arguments) is expected


def test_a_plot_typed_but_not_plotted_is_no_plot() -> None:
    assert any(node.text == "x^3" for node in recorded("typed").tree)
    assert holds("typed", "not_plotted_2d", equals="x^3")


def test_a_viewport_typed_but_not_applied_is_no_viewport() -> None:
    assert any(node.name == "Top:" and node.value == 7 for node in recorded("unapplied").tree)
    assert not holds("unapplied", "viewport", top=7)


def test_nothing_holds_of_a_program_that_is_gone() -> None:
    evidence = Evidence({"kalgebra": APP.read_state(observation(()))})
    arguments: dict[str, dict[str, Any]] = {
        "tab": {"name": "Calculator"},
        "variable": {"name": "pi", "equals": "pi"},
        "variable_absent": {"name": "a"},
        "function": {"name": "f", "equals": "x->x"},
        "plotted_2d": {"equals": "x"},
        "not_plotted_2d": {"equals": "x"},
        "plot_hidden": {"equals": "x"},
        "plots_2d_count": {"equals": 0},
        "plotted_3d": {"equals": "x*y"},
        "plots_3d_none": {},
        "viewport": {},
        "resolution": {"equals": "Normal"},
        "grid": {"equals": False},
        "keep_aspect_ratio": {"equals": False},
        "style_3d": {"equals": "Solid"},
        "mode": {"equals": "Evaluate"},
        "dictionary_entry": {"name": "sin"},
    }
    assert arguments.keys() == APP.predicates.keys()
    for name, given in arguments.items():
        assert not APP.predicates[name](evidence, **given), name
        assert not APP.predicates[name](Evidence({}), **given), name


@pytest.mark.parametrize("name", ["variable", "function"])
def test_a_wrong_expectation_is_an_error_not_a_failure(name: str) -> None:
    evidence = Evidence({"kalgebra": state("calculator")})
    with pytest.raises(ConfigurationError):
        APP.predicates[name](evidence, name="f", equals="2+")
    with pytest.raises(ConfigurationError, match="complex"):
        APP.predicates["variable"](evidence, name="a", equals="3+4*i")


class Recorder:
    """A desktop that shows one recording for ever, and notes the actions."""

    def __init__(self, name: str) -> None:
        self.shown = recorded(name)
        self.actions: list[Action] = []

    def act(self, action: Action) -> Observation:
        self.actions.append(action)
        return self.shown

    def observe(self) -> Observation:
        return self.shown

    def wait_for(self, what: str, holds: Any) -> Observation:
        if not holds(self.shown):
            raise DeadlineError("kalgebra", what)
        return self.shown

    def put_file(self, path: str, data: bytes) -> None:
        self.actions.append(Action.code(f"{path} {data!r}"))


def test_verbs_click_where_the_widgets_are() -> None:
    desktop = Recorder("calculator")
    checked: Desktop = desktop
    with pytest.raises(DeadlineError, match="2D Graph"):
        APP.verbs["tab"](checked, name="2D Graph")
    (click,) = desktop.actions
    tab = next(node for node in desktop.shown.tree if node.role == "page tab" and node.name == "2D Graph")
    assert tab.box is not None
    assert (click.kind, (click.x, click.y)) == (Kind.CLICK, tab.box.center)


def test_verbs_do_nothing_that_is_done() -> None:
    desktop = Recorder("calculator")
    APP.verbs["tab"](desktop, name="Calculator")
    APP.verbs["mode"](desktop, equals="Evaluate")
    assert desktop.actions == []


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("tab", {"name": "Graph"}),
        ("mode", {"equals": "Guess"}),
        ("resolution", {"equals": "Best"}),
        ("style_3d", {"equals": "Foil"}),
        ("enter", {"expression": "2+"}),
        ("plot_2d", {"expression": "x^"}),
    ],
)
def test_verbs_refuse_what_cannot_be(verb: str, arguments: dict[str, Any]) -> None:
    desktop = Recorder("calculator")
    with pytest.raises(ConfigurationError):
        APP.verbs[verb](desktop, **arguments)
    assert desktop.actions == []


def test_the_start_up_module_is_there() -> None:
    (program,) = APP.programs
    assert program.preload is not None
    assert "SCI_GYM_STATE_FD" in program.preload.read_text()
