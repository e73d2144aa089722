"""Set-up verbs: they work KAlgebra through its windows, as a user would, until its state shows the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sci_gym.app import Desktop
from sci_gym.envs.kalgebra import widgets
from sci_gym.envs.kalgebra.analitza import parse
from sci_gym.envs.kalgebra.compare import same_value
from sci_gym.envs.kalgebra.curves import same_plot
from sci_gym.envs.kalgebra.nodes import Declare
from sci_gym.envs.kalgebra.state import MODES, RESOLUTIONS, STYLES_3D, read
from sci_gym.errors import ConfigurationError, UnknownNameError
from sci_gym.specs import A11yNode, A11yTree, Action, Observation

PROGRAM = "kalgebra"
CHECK_BOX_PX = 9
"""How far the middle of a plot's check box is from the left end of its cell."""

Find = Callable[[A11yTree], A11yNode | None]


def observed(observation: Observation) -> dict[str, Any]:
    """The program's state in an observation."""
    programs = [program for program in observation.programs if program.name == PROGRAM]
    lines = programs[-1].state if programs else ()
    return read(observation.tree.of_program(PROGRAM), lines)


def tab(desktop: Desktop, *, name: str) -> None:
    """Show one of the tabs "Calculator", "2D Graph", "3D Graph" and "Dictionary"."""
    _known("tab", name, widgets.TABS)
    if observed(desktop.observe())["tab"] != name:
        _click(desktop, f"the tab {name}", lambda tree: widgets.tab(tree, name))
    _until(desktop, f"the tab {name} is shown", lambda state: bool(state["tab"] == name))


def enter(desktop: Desktop, *, expression: str) -> None:
    """Evaluate an expression or assignment in the calculator.

    Raises:
        AnalitzaError: KAlgebra would not accept it.
        DeadlineError: it was not evaluated in time, or KAlgebra reported an error.
    """
    node = parse(expression)
    name, value = (
        (node.name, expression.split(":=", 1)[1]) if isinstance(node, Declare) else ("ans", expression)
    )
    tab(desktop, name="Calculator")
    before = observed(desktop.observe())["variables"]
    _write(desktop, "the calculator's input line", widgets.calculator_input, expression)
    desktop.act(Action.press("enter"))
    same = name in before and same_value(before[name], value)
    _until(
        desktop,
        f"{expression} is evaluated",
        lambda state: same or _changed(before, state["variables"], name),
    )


def plot_2d(desktop: Desktop, *, expression: str) -> None:
    """Plot a curve in the plane; KAlgebra names it f0, f1 and so on."""
    parse(expression)
    tab(desktop, name="2D Graph")
    before = len(observed(desktop.observe())["plots_2d"])
    _click(desktop, "the page Add", lambda tree: widgets.tool(tree, "Add"))
    _write(desktop, "the input line of the page Add", widgets.function_input, expression)
    desktop.act(Action.press("enter"))
    _until(desktop, f"{expression} is plotted", lambda state: len(state["plots_2d"]) > before)


def hide_plot(desktop: Desktop, *, equals: str) -> None:
    """Hide the visible plots in the plane that draw a curve."""
    tab(desktop, name="2D Graph")
    _click(desktop, "the page List", lambda tree: widgets.tool(tree, "List"))
    state = observed(desktop.observe())
    for plot in state["plots_2d"]:
        if plot["visible"] and same_plot(plot["plot"], equals, state["variables"]):
            _toggle(desktop, plot["name"])


def plot_3d(desktop: Desktop, *, expression: str) -> None:
    """Plot a surface or curve in space, in place of the one that is there."""
    parse(expression)
    tab(desktop, name="3D Graph")
    before = observed(desktop.observe())["plots_3d"]
    same = any(same_plot(plot["plot"], expression, dimension=3) for plot in before)
    _write(desktop, "the input line of the 3D graph", widgets.input_3d, expression)
    desktop.act(Action.press("enter"))
    _until(
        desktop,
        f"{expression} is plotted in space",
        lambda state: bool(state["plots_3d"]) and (same or state["plots_3d"] != before),
    )


def viewport(desktop: Desktop, *, left: float, top: float, width: float, height: float) -> None:
    """Show a part of the plane, given in the graph's units."""
    tab(desktop, name="2D Graph")
    _click(desktop, "the page Viewport", lambda tree: widgets.tool(tree, "Viewport"))
    wanted = {"left": left, "top": top, "width": width, "height": height}
    for side, value in wanted.items():
        _click(desktop, f"the field {side}", lambda tree, side=side: _side(tree, side))  # type: ignore[misc]
        desktop.act(Action.hotkey("ctrl", "a"))
        desktop.act(Action.type(f"{value:g}"))
    _click(
        desktop,
        "the button Apply",
        lambda tree: widgets.below(tree, _functions(tree), "push button", "Apply"),
    )
    _until(desktop, "the viewport is applied", lambda state: _near(state["viewport"], wanted))


def resolution(desktop: Desktop, *, equals: str) -> None:
    """Draw the 2D graph at "Poor", "Normal", "Fine" or "Very Fine" resolution."""
    _known("resolution", equals, RESOLUTIONS)
    _choose(desktop, "2D Graph", equals, "resolution", equals)


def grid(desktop: Desktop, *, equals: bool) -> None:
    """Check or uncheck "Grid" in the 2D graph's menu."""
    _choose(desktop, "2D Graph", "Grid", "grid", equals)


def keep_aspect_ratio(desktop: Desktop, *, equals: bool) -> None:
    """Check or uncheck "Keep Aspect Ratio" in the 2D graph's menu."""
    _choose(desktop, "2D Graph", "Keep Aspect Ratio", "keep_aspect_ratio", equals)


def style_3d(desktop: Desktop, *, equals: str) -> None:
    """Draw the 3D graph as "Dots", "Lines" or "Solid"."""
    _known("style", equals, STYLES_3D)
    _choose(desktop, "3D Graph", equals, "style_3d", equals)


def mode(desktop: Desktop, *, equals: str) -> None:
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


def _until(desktop: Desktop, what: str, holds: Callable[[dict[str, Any]], bool]) -> None:
    desktop.wait_for(f"KAlgebra: {what}", lambda observation: holds(observed(observation)))


def _found(observation: Observation, find: Find) -> A11yNode | None:
    node = find(observation.tree.of_program(PROGRAM))
    return node if node is not None and node.showing else None


def _click(desktop: Desktop, what: str, find: Find) -> None:
    observation = desktop.wait_for(
        f"KAlgebra: {what} is on screen", lambda observation: _found(observation, find) is not None
    )
    node = _found(observation, find)
    if node is not None and node.box is not None:
        desktop.act(Action.click(*node.box.center))


def _write(desktop: Desktop, what: str, find: Find, text: str) -> None:
    """Replace the content of an input line."""
    if "\n" in text:
        raise ConfigurationError(f"an expression for {what} must be one line: {text!r}.")
    _click(desktop, what, find)
    desktop.act(Action.hotkey("ctrl", "a"))
    desktop.act(Action.press("delete"))
    desktop.act(Action.type(text))
    desktop.wait_for(
        f"KAlgebra: {text} stands in {what}",
        lambda observation: (node := _found(observation, find)) is not None and node.text == text,
    )


def _changed(before: Mapping[str, str], after: Mapping[str, str], name: str) -> bool:
    return name in after and after != before


def _choose(desktop: Desktop, menu: str, item: str, key: str, wanted: object) -> None:
    """Click a menu entry unless the state is already as wanted; a menu works only while its tab is shown."""
    tab(desktop, name=menu)
    if observed(desktop.observe())[key] != wanted:
        _click(desktop, f"the menu {menu}", lambda tree: widgets.menu_title(tree, menu))
        _click(desktop, f"the entry {item}", lambda tree: widgets.menu_item(tree, menu, item))
    _until(desktop, f"{key} is {wanted}", lambda state: bool(state[key] == wanted))


def _functions(tree: A11yTree) -> A11yNode | None:
    return widgets.dock(tree, "Functions")


def _side(tree: A11yTree, side: str) -> A11yNode | None:
    return widgets.below(tree, _functions(tree), "spin button", f"{side.title()}:")


def _near(shown: Mapping[str, float] | None, wanted: Mapping[str, float]) -> bool:
    return shown is not None and all(abs(shown[side] - value) < 0.01 for side, value in wanted.items())


def _toggle(desktop: Desktop, name: str) -> None:
    def find(tree: A11yTree) -> A11yNode | None:
        listed = widgets.below(tree, _functions(tree), "tree")
        return next((cell for cell, _ in widgets.cells(tree, listed) if cell.name == name), None)

    observation = desktop.wait_for(f"KAlgebra: {name} is listed", lambda seen: _found(seen, find) is not None)
    cell = _found(observation, find)
    if cell is not None and cell.box is not None:
        desktop.act(Action.click(cell.box.x + CHECK_BOX_PX, cell.box.center[1]))
    _until(
        desktop,
        f"{name} is hidden",
        lambda state: all(not plot["visible"] for plot in state["plots_2d"] if plot["name"] == name),
    )
