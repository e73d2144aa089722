"""What a task can ask of KAlgebra: named conditions on the state that `KAlgebra.read_state` gives.

Expected values are Analitza expressions, evaluated on the host with Analitza's constants alone: no variable
of the program changes them. What stands in an input line but was not evaluated or plotted counts for
nothing, and no condition holds of a program that is gone, not even that it has no plots.

Raises, all of them: `AnalitzaError` (a `ConfigurationError`) when an expected expression is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sci_gym.envs.kalgebra.analitza import parse
from sci_gym.envs.kalgebra.arguments import Expression, Mode, Resolution, Style3D, Tab
from sci_gym.envs.kalgebra.compare import TOLERANCE, opened, same_function, same_value
from sci_gym.envs.kalgebra.curves import same_plot
from sci_gym.envs.kalgebra.lexer import AnalitzaError
from sci_gym.envs.kalgebra.nodes import Lambda
from sci_gym.specs import Evidence


def tab(evidence: Evidence, *, name: Tab) -> bool:
    """The current tab is "Calculator", "2D Graph", "3D Graph" or "Dictionary"."""
    return _is(evidence, "tab", name)


def variable(
    evidence: Evidence, *, name: str, equals: Expression | float, tolerance: float = TOLERANCE
) -> bool:
    """A variable has a value, such as "2*pi" or "vector{1, 2}", within a relative tolerance.

    KAlgebra shows only the real part of a complex variable, so a complex value must be expected inside a
    list.
    """
    expected = equals if isinstance(equals, str) else repr(float(equals))
    _refuse_complex(expected)
    shown = _variables(evidence)
    return name in shown and same_value(shown[name], expected, _environment(shown), tolerance)


def variable_absent(evidence: Evidence, *, name: str) -> bool:
    """There is no variable of a name."""
    return _alive(evidence) and name not in _variables(evidence)


def function(evidence: Evidence, *, name: str, equals: Expression, whole: bool = False) -> bool:
    """A variable is a function with the same values as "x->x^2", say, whatever its parameters are called.

    With `whole` it is compared at whole numbers from 0 only, as befits a recursion or a sequence.
    """
    shown = _variables(evidence)
    if not _is_lambda(shown.get(name, "")):
        return False
    return same_function(shown[name], equals, _environment(shown), whole=whole)


def plotted_2d(evidence: Evidence, *, equals: Expression, visible: bool = True) -> bool:
    """A plot in the plane draws the same curve, in whatever form; with `visible` one that is not hidden."""
    return any(plot["visible"] or not visible for plot in _same_2d(evidence, equals))


def not_plotted_2d(evidence: Evidence, *, equals: Expression) -> bool:
    """No plot in the plane draws that curve, not even a hidden one."""
    return _alive(evidence) and not _same_2d(evidence, equals)


def plot_hidden(evidence: Evidence, *, equals: Expression) -> bool:
    """That curve is in the list of plots, and every such plot is hidden."""
    plots = _same_2d(evidence, equals)
    return bool(plots) and not any(plot["visible"] for plot in plots)


def plots_2d_count(evidence: Evidence, *, equals: int) -> bool:
    """There are so many plots in the plane, hidden ones included."""
    return _alive(evidence) and len(_state(evidence).get("plots_2d", ())) == equals


def plotted_3d(evidence: Evidence, *, equals: Expression) -> bool:
    """The plot in space is the same surface or curve."""
    environment = _environment(_variables(evidence))
    plots = _state(evidence).get("plots_3d", ())
    same = [same_plot(plot["plot"], equals, environment, 3) for plot in plots]
    return any(same)


def plots_3d_none(evidence: Evidence) -> bool:
    """Nothing is plotted in space."""
    return _alive(evidence) and not _state(evidence).get("plots_3d", ())


def viewport(
    evidence: Evidence,
    *,
    left: float | None = None,
    top: float | None = None,
    width: float | None = None,
    height: float | None = None,
    tolerance: float = 0.01,
) -> bool:
    """The 2D graph's viewport has these sides, in the graph's units; None is any."""
    shown = _state(evidence).get("viewport")
    if not _alive(evidence) or shown is None:
        return False
    wanted = {"left": left, "top": top, "width": width, "height": height}
    return all(abs(shown[side] - value) <= tolerance for side, value in wanted.items() if value is not None)


def resolution(evidence: Evidence, *, equals: Resolution) -> bool:
    """The 2D graph's resolution is "Poor", "Normal", "Fine" or "Very Fine"."""
    return _is(evidence, "resolution", equals)


def grid(evidence: Evidence, *, equals: bool) -> bool:
    """The entry "Grid" of the 2D graph's menu is checked, or is not."""
    return _is(evidence, "grid", equals)


def keep_aspect_ratio(evidence: Evidence, *, equals: bool) -> bool:
    """The entry "Keep Aspect Ratio" of the 2D graph's menu is checked, or is not."""
    return _is(evidence, "keep_aspect_ratio", equals)


def style_3d(evidence: Evidence, *, equals: Style3D) -> bool:
    """The 3D graph is drawn as "Dots", "Lines" or "Solid"."""
    return _is(evidence, "style_3d", equals)


def mode(evidence: Evidence, *, equals: Mode) -> bool:
    """The calculator's mode is "Calculate" or "Evaluate"."""
    return _is(evidence, "mode", equals)


def dictionary_entry(evidence: Evidence, *, name: str) -> bool:
    """The dictionary shows the entry of an operation, such as "arcsin"."""
    return bool(_state(evidence).get("dictionary", {}).get("entry") == name)


PREDICATES: Mapping[str, Callable[..., bool]] = {
    check.__name__: check
    for check in (
        tab, variable, variable_absent, function, plotted_2d, not_plotted_2d, plot_hidden, plots_2d_count,
        plotted_3d, plots_3d_none, viewport, resolution, grid, keep_aspect_ratio, style_3d, mode,
        dictionary_entry,
    )
}  # fmt: skip
"""By name, as task files call them after `kalgebra.`."""


def _state(evidence: Evidence) -> Mapping[str, Any]:
    return evidence.state.get("kalgebra", {})


def _alive(evidence: Evidence) -> bool:
    return _state(evidence).get("tab") is not None


def _is(evidence: Evidence, key: str, wanted: object) -> bool:
    return _alive(evidence) and bool(_state(evidence).get(key) == wanted)


def _variables(evidence: Evidence) -> Mapping[str, str]:
    variables: Mapping[str, str] = _state(evidence).get("variables", {})
    return variables


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables to evaluate shown expressions with; `i` is shown by its real part."""
    return {name: text for name, text in variables.items() if (name, text) != ("i", "0")}


def _same_2d(evidence: Evidence, expected: str) -> list[Mapping[str, Any]]:
    environment = _environment(_variables(evidence))
    plots = _state(evidence).get("plots_2d", ())
    return [plot for plot in plots if same_plot(plot["plot"], expected, environment, 2)]


def _is_lambda(text: str) -> bool:
    try:
        return isinstance(parse(text), Lambda)
    except AnalitzaError:
        return False


def _refuse_complex(expected: str) -> None:
    node, evaluator = opened(expected)
    try:
        value = evaluator.value(node)
    except AnalitzaError:
        return
    if isinstance(value, complex):
        raise AnalitzaError(
            f"{expected!r} is complex, and KAlgebra shows real parts; expect it inside a list."
        )
