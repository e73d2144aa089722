"""What a plotted expression draws: its kind and function, as `PlotsFactory::requestPlot` decides them.

KAlgebra goes by the names of the parameters: `x^2` is y = x^2, `y^2` is x = y^2, `x*y` in the plane is the
curve x*y = 0, and in space the surface z = x*y. An equation becomes the difference of its sides first, so
that `y=x^2` is implicit in the plane, and `x=3` is the line y = x-3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sci_gym.envs.kalgebra.analitza import parse
from sci_gym.envs.kalgebra.compare import as_function, function_of
from sci_gym.envs.kalgebra.evaluate import Evaluator
from sci_gym.envs.kalgebra.lexer import AnalitzaError
from sci_gym.envs.kalgebra.nodes import Apply, Block, Declare, Lambda, Name, Node, Number
from sci_gym.envs.kalgebra.values import Items

Point = tuple[float, ...]

KINDS: dict[int, dict[tuple[str, ...], str]] = {
    2: {
        ("x",): "explicit-x",
        ("y",): "explicit-y",
        ("q",): "polar",
        ("t",): "parametric",
        ("x", "y"): "implicit",
        ("p", "r"): "implicit-polar",
    },
    3: {
        ("x", "y"): "surface-z",
        ("x", "z"): "surface-y",
        ("y", "z"): "surface-x",
        ("x", "y", "z"): "implicit",
        ("p", "r"): "cylindrical",
        ("p", "t"): "spherical",
        ("u", "v"): "parametric-surface",
        ("t",): "space-curve",
    },
}
"""Kind of a plot by dimension and sorted parameter names."""
VECTORS = {"parametric": 2, "space-curve": 3, "parametric-surface": 3}
SOLVED = {"explicit-x": "y", "explicit-y": "x", "surface-z": "z", "surface-y": "y", "surface-x": "x"}
"""Coordinate that an explicit plot gives."""
AXES = {2: ("x", "y"), 3: ("x", "y", "z")}


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot that can be evaluated.

    Attributes:
        kind: one of the values of `KINDS`.
        dimension: 2 for the plane, 3 for space.
        function: the function drawn, its parameters in alphabetical order.
        evaluator: evaluates it with the program's variables.
    """

    kind: str
    dimension: int
    function: Lambda
    evaluator: Evaluator

    def value(self, *arguments: float) -> float | None:
        """The function's real value, None where it has none."""
        result = function_of(self.evaluator, self.function)(arguments)
        return result if isinstance(result, float) else None

    def vector(self, *arguments: float) -> Point | None:
        """The point that a parametric plot draws for its parameters, None where there is none."""
        result = function_of(self.evaluator, self.function)(arguments)
        if not isinstance(result, Items):
            return None
        point = tuple(item for item in result.items if isinstance(item, float))
        return point if len(point) == len(result.items) == self.dimension else None

    def solve(self, rest: Sequence[float]) -> Point | None:
        """The point of an explicit plot over its parameters."""
        value = self.value(*rest)
        if value is None:
            return None
        known = dict(zip(self.function.parameters, rest, strict=True))
        return tuple(known.get(axis, value) for axis in AXES[self.dimension])

    @property
    def has_field(self) -> bool:
        """Whether `field` tells on which side of the plot a point lies."""
        return self.kind.startswith("implicit") or self.kind in SOLVED or self.kind == "cylindrical"

    def field(self, point: Point) -> float | None:
        """A number that is 0 on the plot and changes its sign across it, None where it is undefined."""
        if self.kind == "implicit":
            return self.value(*point)
        if self.kind in SOLVED:
            named = dict(zip(AXES[self.dimension], point, strict=True))
            value = self.value(*(named[name] for name in self.function.parameters))
            return None if value is None else named[SOLVED[self.kind]] - value
        angle, radius = math.atan2(point[1], point[0]), math.hypot(point[0], point[1])
        value = self.value(angle, radius)
        return value if value is None or self.dimension == 2 else point[2] - value


def classify(text: str, dimension: int, environment: Mapping[str, str] | None = None) -> Plot:
    """What KAlgebra draws for an expression.

    Args:
        text: an expression, equation, lambda or assignment.
        dimension: 2 or 3.
        environment: the program's variables, name to text; they are no parameters.

    Raises:
        AnalitzaError: KAlgebra draws nothing for it.
    """
    known = environment or {}
    node = as_function(_difference(parse(text)), known)
    names = tuple(sorted(node.parameters))
    kind = KINDS[dimension].get(names)
    if kind is None or len(set(names)) != len(names):
        raise AnalitzaError(
            f"{text!r} is no plot in {dimension} dimensions with parameters {', '.join(names)}."
        )
    body = node.body
    if isinstance(body, Block) and body.kind != "piecewise":
        if (body.kind, len(body.items)) != ("vector", VECTORS.get(kind)):
            raise AnalitzaError(f"{text!r} is no plot in {dimension} dimensions: it gives a {body.kind}.")
    elif isinstance(body, Number) and kind in VECTORS:
        raise AnalitzaError(f"{text!r} is no plot in {dimension} dimensions: it gives a number.")
    return Plot(kind, dimension, Lambda(names, node.body), Evaluator(known))


def _difference(node: Node) -> Node:
    if isinstance(node, Declare):
        node = node.value
    if isinstance(node, Apply) and node.function == Name("eq") and len(node.arguments) == 2:
        return Apply(Name("minus"), node.arguments)
    return node
