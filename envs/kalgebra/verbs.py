"""Set-up verbs: they work KAlgebra through its windows, as a user would, until its state shows the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from sci_gym.app import Desktop
from sci_gym.envs.kalgebra import widgets
from sci_gym.envs.kalgebra.analitza import parse
from sci_gym.envs.kalgebra.arguments import Expression, Mode, Resolution, Style3D, Tab
from sci_gym.envs.kalgebra.compare import same_value
from sci_gym.envs.kalgebra.curves import same_plot
from sci_gym.envs.kalgebra.nodes import Declare, Node
from sci_gym.envs.kalgebra.state import MODES, RESOLUTIONS, STYLES_3D, read
from sci_gym.errors import ConfigurationError, DeadlineError, UnknownNameError
from sci_gym.specs import A11yNode, A11yTree, Action, Box, Observation

PROGRAM = "kalgebra"
CHECK_BOX_PX = 9
"""How far the middle of a plot's check box is from the left end of its cell."""

Find = Callable[[A11yTree], A11yNode | None]


def observed(observation: Observation) -> dict[str, Any]:
    """The program's state in an observation."""
    program = observation.program(PROGRAM)
    lines = program.state if program is not None else ()
    return read(observation.tree.of_program(PROGRAM), lines)


def tab(desktop: Desktop, *, name: Tab) -> None:
    """Show one of the tabs "Calculator", "2D Graph", "3D Graph" and "Dictionary"."""
    _known("tab", name, widgets.TABS)
    _show(desktop, name)


def enter(desktop: Desktop, *, expression: Expression) -> None:
    """Evaluate an expression or assignment in the calculator.

    Raises:
        AnalitzaError: KAlgebra would not accept it.
        DeadlineError: it was not evaluated in time, or KAlgebra reported an error.
    """
    node = _one_line(expression)
    name, value = (
        (node.name, expression.split(":=", 1)[1]) if isinstance(node, Declare) else ("ans", expression)
    )
    seen = _show(desktop, "Calculator")
    before = observed(seen)["variables"]
    seen = _submit(desktop, seen, "the calculator's input line", widgets.calculator_input, expression)
    same = name in before and same_value(before[name], value)
    _until(
        desktop,
        seen,
        f"{expression} is evaluated",
        lambda state: name in state["variables"] and (same or state["variables"] != before),
    )


def plot_2d(desktop: Desktop, *, expression: Expression) -> None:
    """Plot a curve in the plane; KAlgebra names it f0, f1 and so on."""
    _one_line(expression)
    seen = _show(desktop, "2D Graph")
    before = len(observed(seen)["plots_2d"])
    seen = _click(desktop, seen, "the page Add", lambda tree: widgets.tool(tree, "Add"))
    seen = _submit(desktop, seen, "the input line of the page Add", widgets.function_input, expression)
    _until(desktop, seen, f"{expression} is plotted", lambda state: len(state["plots_2d"]) > before)


def hide_plot(desktop: Desktop, *, equals: Expression) -> None:
    """Hide the visible plots in the plane that draw a curve."""
    seen = _show(desktop, "2D Graph")
    seen = _click(desktop, seen, "the page List", lambda tree: widgets.tool(tree, "List"))
    state = observed(seen)
    for plot in state["plots_2d"]:
        if plot["visible"] and same_plot(plot["plot"], equals, state["variables"]):
            seen = _hide(desktop, seen, plot["name"])


def plot_3d(desktop: Desktop, *, expression: Expression) -> None:
    """Plot a surface or curve in space, in place of the one that is there."""
    _one_line(expression)
    seen = _show(desktop, "3D Graph")
    before = observed(seen)["plots_3d"]
    same = any(same_plot(plot["plot"], expression, dimension=3) for plot in before)
    seen = _submit(desktop, seen, "the input line of the 3D graph", widgets.input_3d, expression)
    _until(
        desktop,
        seen,
        f"{expression} is plotted in space",
        lambda state: bool(state["plots_3d"]) and (same or state["plots_3d"] != before),
    )


def viewport(desktop: Desktop, *, left: float, top: float, width: float, height: float) -> None:
    """Show a part of the plane, given in the graph's units."""
    wanted = {"left": left, "top": top, "width": width, "height": height}
    seen = _show(desktop, "2D Graph")
    seen = _click(desktop, seen, "the page Viewport", lambda tree: widgets.tool(tree, "Viewport"))
    for side, value in wanted.items():
        seen = _click(desktop, seen, f"the field {side}", partial(_field, side))
        desktop.act(Action.hotkey("ctrl", "a"))
        seen = desktop.act(Action.type(f"{value:g}"))
    seen = _click(desktop, seen, "the button Apply", _apply)
    _until(desktop, seen, "the viewport is applied", lambda state: _near(state["viewport"], wanted))


def resolution(desktop: Desktop, *, equals: Resolution) -> None:
    """Draw the 2D graph at "Poor", "Normal", "Fine" or "Very Fine" resolution."""
    _known("resolution", equals, RESOLUTIONS)
    _choose(desktop, "2D Graph", equals, "resolution", equals)


def grid(desktop: Desktop, *, equals: bool) -> None:
    """Check or uncheck "Grid" in the 2D graph's menu."""
    _choose(desktop, "2D Graph", "Grid", "grid", equals)


def keep_aspect_ratio(desktop: Desktop, *, equals: bool) -> None:
    """Check or uncheck "Keep Aspect Ratio" in the 2D graph's menu."""
    _choose(desktop, "2D Graph", "Keep Aspect Ratio", "keep_aspect_ratio", equals)


def style_3d(desktop: Desktop, *, equals: Style3D) -> None:
    """Draw the 3D graph as "Dots", "Lines" or "Solid"."""
    _known("style", equals, STYLES_3D)
    _choose(desktop, "3D Graph", equals, "style_3d", equals)


def mode(desktop: Desktop, *, equals: Mode) -> None:
    """Set the calculator to "Calculate" or "Evaluate"."""
    _known("mode", equals, MODES)
    _choose(desktop, "Calculator", equals, "mode", equals)


def put_file(desktop: Desktop, *, path: str, text: str) -> None:
    """Write a text file below the guest's home, such as a script (`.kal`) to load."""
    desktop.put_file(path, text.encode())


VERBS: Mapping[str, Callable[..., None]] = {
    verb.__name__: verb
    for verb in (
        tab, enter, plot_2d, hide_plot, plot_3d, viewport, resolution, grid, keep_aspect_ratio, style_3d,
        mode, put_file,
    )
}  # fmt: skip
"""By name, as task files call them after `kalgebra.`."""


def _known(what: str, name: str, names: tuple[str, ...]) -> None:
    if name not in names:
        raise UnknownNameError(what, name, names)


def _one_line(expression: str) -> Node:
    if "\n" in expression:
        raise ConfigurationError(f"an expression must be one line: {expression!r}.")
    return parse(expression)


def _until(
    desktop: Desktop, seen: Observation, what: str, holds: Callable[[dict[str, Any]], bool]
) -> Observation:
    """The observation already made if the condition holds of it, else the first of which it does."""
    if holds(observed(seen)):
        return seen
    return desktop.wait_for(f"KAlgebra: {what}", lambda observation: holds(observed(observation)))


def _find(observation: Observation, find: Find) -> A11yNode | None:
    node = find(observation.tree.of_program(PROGRAM))
    return node if node is not None and node.showing else None


def _place(desktop: Desktop, seen: Observation, what: str, find: Find) -> Box:
    """Where a widget is, once it is on screen."""
    node = _find(seen, find)
    if node is None:
        seen = desktop.wait_for(
            f"KAlgebra: {what} is on screen", lambda shown: _find(shown, find) is not None
        )
        node = _find(seen, find)
    if node is None or node.box is None:
        raise DeadlineError(PROGRAM, f"{what} has no place on screen.")
    return node.box


def _click(desktop: Desktop, seen: Observation, what: str, find: Find) -> Observation:
    return desktop.act(Action.click(*_place(desktop, seen, what, find).center))


def _submit(desktop: Desktop, seen: Observation, what: str, find: Find, text: str) -> Observation:
    """Replace the content of an input line, and press Return."""
    _click(desktop, seen, what, find)
    desktop.act(Action.hotkey("ctrl", "a"))
    return desktop.act(Action.type(f"{text}\n"))


def _show(desktop: Desktop, name: str) -> Observation:
    seen = desktop.observe()
    if observed(seen)["tab"] != name:
        seen = _click(desktop, seen, f"the tab {name}", lambda tree: widgets.tab(tree, name))
    return _until(desktop, seen, f"the tab {name} is shown", lambda state: bool(state["tab"] == name))


def _choose(desktop: Desktop, menu: str, item: str, key: str, wanted: object) -> None:
    """Click a menu entry unless the state is already as wanted; a menu works only while its tab is shown."""
    seen = _show(desktop, menu)
    if observed(seen)[key] != wanted:
        seen = _click(desktop, seen, f"the menu {menu}", lambda tree: widgets.menu_title(tree, menu))
        seen = _click(desktop, seen, f"the entry {item}", lambda tree: widgets.menu_item(tree, menu, item))
    _until(desktop, seen, f"{key} is {wanted}", lambda state: bool(state[key] == wanted))


def _field(side: str, tree: A11yTree) -> A11yNode | None:
    return widgets.below(tree, widgets.dock(tree, "Functions"), "spin button", f"{side.title()}:")


def _apply(tree: A11yTree) -> A11yNode | None:
    return widgets.below(tree, widgets.dock(tree, "Functions"), "push button", "Apply")


def _listed(name: str, tree: A11yTree) -> A11yNode | None:
    plots = widgets.below(tree, widgets.dock(tree, "Functions"), "tree")
    return widgets.first((cell for cell, _ in widgets.cells(tree, plots)), lambda cell: cell.name == name)


def _near(shown: Mapping[str, float] | None, wanted: Mapping[str, float]) -> bool:
    return shown is not None and all(abs(shown[side] - value) < 0.01 for side, value in wanted.items())


def _hide(desktop: Desktop, seen: Observation, name: str) -> Observation:
    cell = _place(desktop, seen, f"the plot {name}", partial(_listed, name))
    seen = desktop.act(Action.click(cell.x + CHECK_BOX_PX, cell.center[1]))
    return _until(
        desktop,
        seen,
        f"the plot {name} is hidden",
        lambda state: all(not plot["visible"] for plot in state["plots_2d"] if plot["name"] == name),
    )
