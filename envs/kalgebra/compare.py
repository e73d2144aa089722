"""Whether two expressions mean the same: values, and functions by sampling.

`actual` is text that the program showed and may be anything; `expected` comes from a task. Names in
`actual` mean the program's variables (`environment`); names in `expected` mean Analitza's constants or
nothing, so that a policy cannot change what is expected by redefining `pi`. An `expected` such as
`fib:=n->...` may call itself.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping

from sci_gym.envs.kalgebra.analitza import parse
from sci_gym.envs.kalgebra.evaluate import CONSTANTS, Evaluator
from sci_gym.envs.kalgebra.lexer import AnalitzaError
from sci_gym.envs.kalgebra.nodes import Declare, Lambda, Node, free_names
from sci_gym.envs.kalgebra.values import Closure, Items, Value

TOLERANCE = 1e-6
ABSOLUTE = 1e-9
MIN_DEFINED = 8
MAX_HOLES = 3
WHOLE = 16
SCALES: tuple[tuple[int, float, float], ...] = ((20, -3, 3), (14, -0.9, 0.9), (12, -12, 12), (16, 0.1, 6))
"""How many sample points, drawn from which interval; `WHOLE` small whole numbers come first."""

Function = Callable[[tuple[float, ...]], Value | None]
"""Gives None where it is undefined."""


def same_value(
    actual: str,
    expected: str,
    environment: Mapping[str, str] | None = None,
    tolerance: float = TOLERANCE,
) -> bool:
    """Whether two expressions have the same value; unknown names of `expected` may stand for any number.

    Args:
        actual: what the program showed.
        expected: what it should be.
        environment: the program's variables, name to text.
        tolerance: relative.

    Raises:
        AnalitzaError: `expected` is no expression.
    """
    want, ours = opened(expected)
    try:
        have = _undeclared(parse(actual))
    except AnalitzaError:
        return False
    free = tuple(sorted(_unknown(want, ours.names)))
    theirs = Evaluator({name: text for name, text in (environment or {}).items() if name not in free})
    left, right = function_of(theirs, Lambda(free, have)), function_of(ours, Lambda(free, want))
    if free:
        return _agree(left, right, list(_samples(len(free))), tolerance, theirs, ours)
    return _equal(left(()), right(()), tolerance, theirs, ours)


def same_function(
    actual: str,
    expected: str,
    environment: Mapping[str, str] | None = None,
    dimension: int | None = None,
    tolerance: float = TOLERANCE,
    whole: bool = False,
) -> bool:
    """Whether two functions have the same values, whatever their parameters are called.

    An expression that is no lambda is a function of its unknown names, in alphabetical order. Both are
    sampled at the same points; points where neither is defined agree, and enough must be defined.

    Args:
        actual: what the program showed.
        expected: what it should be.
        environment: the program's variables, name to text.
        dimension: how many parameters both must have; None for any number.
        tolerance: relative.
        whole: compare at whole numbers from 0 only.

    Raises:
        AnalitzaError: `expected` is no function of so many parameters.
    """
    node, ours = opened(expected)
    want = as_function(node, ours.names)
    if dimension is not None and len(want.parameters) != dimension:
        raise AnalitzaError(f"{expected!r} has {len(want.parameters)} parameters, not {dimension}.")
    try:
        have = as_function(parse(actual), (environment or {}).keys())
    except AnalitzaError:
        return False
    return agree(Evaluator(environment), have, ours, want, tolerance, whole)


def opened(text: str) -> tuple[Node, Evaluator]:
    """An expected expression, and an evaluator that knows its own name where it is an assignment.

    Raises:
        AnalitzaError: it is no expression.
    """
    node = parse(text)
    if isinstance(node, Declare):
        return node.value, Evaluator({node.name: node.value})
    return node, Evaluator()


def as_function(node: Node, known: Collection[str]) -> Lambda:
    """A lambda as it is; another expression as a function of the names that are not `known`."""
    node = _undeclared(node)
    return node if isinstance(node, Lambda) else Lambda(tuple(sorted(_unknown(node, known))), node)


def function_of(evaluator: Evaluator, function: Lambda) -> Function:
    """A Python function for an Analitza function."""

    def call(point: tuple[float, ...]) -> Value | None:
        try:
            return evaluator.value(function.body, dict(zip(function.parameters, point, strict=True)))
        except AnalitzaError:
            return None

    return call


def agree(
    theirs: Evaluator,
    a: Lambda,
    ours: Evaluator,
    b: Lambda,
    tolerance: float = TOLERANCE,
    whole: bool = False,
) -> bool:
    """Whether two functions have equally many parameters, and the same values at sample points."""
    if len(a.parameters) != len(b.parameters):
        return False
    points = list(_samples(len(b.parameters)))[: WHOLE if whole else None]
    return _agree(function_of(theirs, a), function_of(ours, b), points, tolerance, theirs, ours)


def seeded(*texts: object) -> random.Random:
    """Random numbers that depend on nothing but the texts compared."""
    return random.Random(zlib.crc32(repr(texts).encode()))


def _undeclared(node: Node) -> Node:
    return node.value if isinstance(node, Declare) else node


def _unknown(node: Node, known: Collection[str]) -> frozenset[str]:
    return free_names(node) - CONSTANTS.keys() - frozenset(known)


def _samples(size: int) -> Iterator[tuple[float, ...]]:
    draw = seeded(size)
    for _ in range(WHOLE):
        yield tuple(float(draw.randint(0, 8)) for _ in range(size))
    for count, low, high in SCALES:
        for _ in range(count):
            yield tuple(draw.uniform(low, high) for _ in range(size))


def _agree(
    left: Function,
    right: Function,
    points: list[tuple[float, ...]],
    tolerance: float,
    theirs: Evaluator,
    ours: Evaluator,
) -> bool:
    defined = holes = 0
    for place, point in enumerate(points):
        a, b = left(point), right(point)
        if _nowhere(a, b) or _nowhere(b, a):
            continue
        if a is None or b is None:
            # A hole such as that of x^2/x at 0 is met at whole numbers only.
            holes += 1
            if holes > MAX_HOLES or place >= WHOLE:
                return False
        elif not _equal(*_shown(a, b), tolerance, theirs, ours):
            return False
        else:
            defined += 1
    return defined >= MIN_DEFINED


def _nowhere(a: Value | None, b: Value | None) -> bool:
    """Whether neither is a real point: `root(x, 2)` is undefined where `x^0.5` is complex."""
    return a is None and (b is None or isinstance(b, complex))


def _shown(a: Value, b: Value) -> tuple[Value, Value]:
    """Two values as the program would show them: a complex one by its real part, if the other is real."""
    if isinstance(a, complex) and isinstance(b, float):
        return a.real, b
    if isinstance(a, float) and isinstance(b, complex):
        return a, b.real
    return a, b


def _equal(a: Value | None, b: Value | None, tolerance: float, theirs: Evaluator, ours: Evaluator) -> bool:
    if isinstance(a, Items) and isinstance(b, Items):
        if a.kind != b.kind or len(a.items) != len(b.items):
            return False
        return all(_equal(x, y, tolerance, theirs, ours) for x, y in zip(a.items, b.items, strict=True))
    if isinstance(a, Closure) and isinstance(b, Closure):
        if len(a.parameters) != len(b.parameters):
            return False
        left, right = _called(theirs, a), _called(ours, b)
        return _agree(left, right, list(_samples(len(b.parameters))), tolerance, theirs, ours)
    if isinstance(a, float | complex) and isinstance(b, float | complex):
        return bool(abs(a - b) <= max(tolerance * max(abs(a), abs(b)), ABSOLUTE))
    return isinstance(a, str) and a == b


def _called(evaluator: Evaluator, closure: Closure) -> Function:
    def call(point: tuple[float, ...]) -> Value | None:
        try:
            return evaluator.call(closure, point)
        except AnalitzaError:
            return None

    return call
