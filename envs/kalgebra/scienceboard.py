"""How ScienceBoard's tasks for KAlgebra are played: their calls as verbs and checks of the stock program.

What is read in place of their patched program's answers stands in `ADAPTER.sources`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from sci_gym.app import Desktop
from sci_gym.envs.kalgebra import verbs, widgets
from sci_gym.envs.kalgebra.analitza import parse
from sci_gym.envs.kalgebra.equations import parse_equation, parse_number
from sci_gym.envs.kalgebra.points import agrees
from sci_gym.scienceboard import Adapter, CannotError, Judged, Source, TaskFile, judged
from sci_gym.specs import Evidence, Verb

TOLERANCE = 1e-6
UNDEFINED = "#UNDEF"
SIZE = "#SIZE"

Points = list[Annotated[list[float | str], Field(min_length=2, max_length=3)]]
Tab = Annotated[int, Field(ge=0, lt=len(widgets.TABS))]


def tab(task: TaskFile, *, index: Tab) -> list[Verb]:
    """Show a tab, counted from 0."""
    return [Verb("kalgebra.tab", {"name": widgets.TABS[index]})]


def func_2d(task: TaskFile, *, expr: str) -> list[Verb]:
    """Plot a curve in the plane."""
    parse(expr)
    return [Verb("scienceboard_plot", {"expression": expr, "dimension": 2})]


def func_3d(task: TaskFile, *, expr: str) -> list[Verb]:
    """Plot a surface in space."""
    parse(expr)
    return [Verb("scienceboard_plot", {"expression": expr, "dimension": 3})]


def val(task: TaskFile, *, key: str, value: float | str) -> Judged:
    """A variable is a number."""
    number = parse_number(value)
    if number is None:
        raise CannotError(f"value {value!r} is no number, so that no variable would ever be it.")
    return judged("kalgebra.scienceboard_val", name=key, value=number)


def var(task: TaskFile, *, key: str, value: str) -> Judged:
    """A variable has a value as it is written, or there is none."""
    if value == UNDEFINED:
        return judged("kalgebra.variable_absent", name=key)
    return judged("kalgebra.scienceboard_var", name=key, text=value)


def eqn(
    task: TaskFile, *, key: Points | Literal["#SIZE"], value: int | dict[str, bool | int | str]
) -> Judged:
    """A number of plots; or one plot agrees with points, and is drawn in a color, resolution or style."""
    if isinstance(key, str):
        if not isinstance(value, int):
            raise CannotError(f"value must be the number of plots beside {SIZE}, not {value!r}.")
        return judged("kalgebra.plots_2d_count", equals=value)
    if not isinstance(value, dict):
        raise CannotError(f"value must say which points are on the plot, not {value!r}.")
    return judged("kalgebra.scienceboard_eqn", **parse_equation(key, value))


def plot(desktop: Desktop, *, expression: str, dimension: int) -> None:
    """Plot, and show the tab again that was shown."""
    before = verbs.observed(desktop.observe())["tab"]
    (verbs.plot_2d if dimension == 2 else verbs.plot_3d)(desktop, expression=expression)
    if before is not None:
        verbs.tab(desktop, name=before)


def scienceboard_val(evidence: Evidence, *, name: str, value: float) -> bool:
    """A variable is a number within 1e-6 of one."""
    shown = parse_number(_written(evidence, name))
    return shown is not None and abs(shown - value) <= TOLERANCE


def scienceboard_var(evidence: Evidence, *, name: str, text: str) -> bool:
    """A variable has a value, as Analitza writes it."""
    return _written(evidence, name) == text


def scienceboard_eqn(
    evidence: Evidence,
    *,
    points: list[list[float]],
    passed: list[bool],
    dimension: int,
    resolution: str | None = None,
    style: str | None = None,
    color: str | None = None,
) -> bool:
    """Some plot agrees with every point, and has the settings that are given; hidden plots count."""
    state = _state(evidence)
    if any(
        wanted not in (None, state.get(key))
        for key, wanted in (("resolution", resolution), ("style_3d", style))
    ):
        return False
    environment = {
        name: text for name, text in state.get("variables", {}).items() if (name, text) != ("i", "0")
    }
    asked = [(tuple(point), wanted) for point, wanted in zip(points, passed, strict=True)]
    return any(
        color in (None, each.get("color")) and agrees(each["plot"], asked, dimension, environment)
        for each in state.get(f"plots_{dimension}d", ())
    )


ADAPTER = Adapter(
    program="KAlgebra",
    executables=frozenset({"kalgebra"}),
    setup={"tab": tab, "func_2d": func_2d, "func_3d": func_3d},
    checks={"val": val, "var": var, "eqn": eqn},
    verbs={"scienceboard_plot": plot},
    predicates={
        check.__name__: check for check in (scienceboard_val, scienceboard_var, scienceboard_eqn)
    },
    sources=(
        Source("POST /tab", "a click on the tab", True),
        Source("POST /add/2d, /add/3d", "typed into the input line of the tab, as a user would", False,
               "the page of the dock beside the graph is Add afterwards"),
        Source("GET /vars", "what is given to Analitza::Variables::modify, as Analitza writes it; "
               "constants from the table of variables over AT-SPI", True),
        Source("POST /func/2d, /func/3d: points", "the plots of PlotsModel, evaluated on the host, within "
               "1e-4 in single precision", False,
               "exact for functions of coordinates, polar plots and equations; where a function has no real "
               "value theirs reads 0, ours passes nothing; other plots pass the points that they draw, but "
               "spherical and parametric surfaces and curves in space none"),
        Source("POST /func/2d: res", "the resolution checked in the menu 2D Graph", True),
        Source("POST /func/3d: style", "the style checked in the menu 3D Graph", True),
        Source("POST /func/2d: color", "QColor::name() of PlotItem::color()", True),
        Source("POST /func/2d: number of plots", "the rows of PlotsModel, hidden ones included", True),
    ),
)  # fmt: skip


def _state(evidence: Evidence) -> Any:
    return evidence.state.get("kalgebra", {})


def _written(evidence: Evidence, name: str) -> str | None:
    """A variable's value as Analitza writes it; as shown, where none was given since the start."""
    state = _state(evidence)
    shown: str | None = state.get("variables", {}).get(name)
    return None if shown is None else state.get("values", {}).get(name, shown)
