"""Reads KAlgebra's state from its accessibility tree, and from what `guest/plots.c` reports."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from sci_gym.app import json_object
from sci_gym.envs.kalgebra import widgets
from sci_gym.envs.kalgebra.arguments import Mode, Resolution, Style3D
from sci_gym.specs import A11yTree, State

RESOLUTIONS: tuple[str, ...] = get_args(Resolution)
STYLES_3D: tuple[str, ...] = get_args(Style3D)
MODES: tuple[str, ...] = get_args(Mode)
SIDES = ("left", "top", "width", "height")
MAX_SIDE = sys.float_info.max
MAX_LISTED = 50
"""Plots, and variables, that count; more than a person would make, and few enough to compare."""
NO_ENTRY = "<b>Name</b>"
"""What the dictionary's label for a name is called while it is empty: after the label beside it."""


def read(tree: A11yTree, lines: Iterable[str]) -> dict[str, Any]:
    """The state as plain data; `KAlgebra.read_state` documents the keys."""
    reports = [json_object(line) for line in lines]
    models, viewport = _reported(reports)
    variables = _variables(tree)
    calculator, space = widgets.calculator_input(tree), widgets.input_3d(tree)
    tabs = widgets.tab_list(tree)
    return {
        "tab": None if tabs is None else tabs.name,
        "variables": variables,
        "values": {name: text for name, text in _values(reports) if name in variables},
        "plots_2d": models[0] if 0 in models else _listed_plots(tree),
        "plots_3d": [plot for number, plots in sorted(models.items()) if number for plot in plots],
        "viewport": viewport or _typed_viewport(tree),
        "resolution": widgets.checked(tree, "2D Graph", RESOLUTIONS),
        "grid": widgets.checked(tree, "2D Graph", ("Grid",)) is not None,
        "keep_aspect_ratio": widgets.checked(tree, "2D Graph", ("Keep Aspect Ratio",)) is not None,
        "style_3d": widgets.checked(tree, "3D Graph", STYLES_3D),
        "mode": widgets.checked(tree, "Calculator", MODES),
        "input": "" if calculator is None else calculator.text,
        "input_3d": "" if space is None else space.text,
        "dictionary": _dictionary(tree),
    }


def _variables(tree: A11yTree) -> dict[str, str]:
    table = widgets.below(tree, widgets.dock(tree, "Functions"), "table")
    return {name.name: value.name for name, value in widgets.cells(tree, table)[:MAX_LISTED]}


def _listed_plots(tree: A11yTree) -> list[dict[str, Any]]:
    listed = widgets.below(tree, widgets.dock(tree, "Functions"), "tree")
    return [
        {"name": name.name, "plot": plot.name, "color": None, "visible": name.has(State.CHECKED)}
        for name, plot in widgets.cells(tree, listed)[:MAX_LISTED]
    ]


def _typed_viewport(tree: A11yTree) -> dict[str, float] | None:
    functions = widgets.dock(tree, "Functions")
    sides: dict[str, float] = {}
    for side in SIDES:
        spin = widgets.below(tree, functions, "spin button", f"{side.title()}:")
        if spin is None or spin.value is None:
            return None
        sides[side] = spin.value
    return sides


def _dictionary(tree: A11yTree) -> dict[str, Any]:
    field = widgets.below(tree, widgets.dock(tree, "Operations"), "text")
    panel = widgets.first(tree, lambda node: node.role == "panel" and node.name == "Information")
    label = widgets.child(tree, panel, "label")
    entry = None if label is None or label.name in ("", NO_ENTRY) else label.name
    return {"filter": "" if field is None else field.text, "entry": entry}


def _values(reports: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Variables and the values that they were given last."""
    for report in reports:
        name, value = report.get("variable"), report.get("value")
        if isinstance(name, str) and isinstance(value, str):
            yield name, value


def _reported(
    reports: Iterable[Mapping[str, Any]],
) -> tuple[dict[int, list[dict[str, Any]]], dict[str, float] | None]:
    """What the start-up module said last: plots by number of their model, and the 2D graph's viewport."""
    models: dict[int, list[dict[str, Any]]] = {}
    viewport: dict[str, float] | None = None
    for report in reports:
        number = report.get("number")
        if "model" in report and isinstance(number, int):
            models[number] = _plots(report.get("plots"))
        elif "plotter" in report and number == 0:
            viewport = _sides(report) or viewport
    return models, viewport


def _plots(listed: object) -> list[dict[str, Any]]:
    plots = listed[:MAX_LISTED] if isinstance(listed, list) else []
    return [_plot(plot) for plot in plots if isinstance(plot, Mapping)]


def _sides(report: Mapping[str, Any]) -> dict[str, float] | None:
    sides = {side: report.get(side, 0.0) for side in SIDES}
    if any(not isinstance(value, float | int) or not abs(value) <= MAX_SIDE for value in sides.values()):
        return None
    return {side: float(value) for side, value in sides.items()}


def _plot(plot: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": str(plot.get("name", "")),
        "plot": str(plot.get("plot", "")),
        "color": _color(plot.get("color")),
        "visible": plot.get("visible") is True,
    }


def _color(color: object) -> str | None:
    return color if isinstance(color, str) and color else None
