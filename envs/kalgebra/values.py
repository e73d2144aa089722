"""What an Analitza expression evaluates to, and Analitza's operations on containers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sci_gym.envs.kalgebra import scalars
from sci_gym.envs.kalgebra.lexer import AnalitzaError
from sci_gym.envs.kalgebra.nodes import Node

MAX_ITEMS = 10_000
MAX_MATRIX_POWER = 64
PAIRS = {("vector", "vector"), ("matrix", "matrix"), ("matrixrow", "matrixrow")}
ELEMENTWISE: dict[str, set[tuple[str, str]]] = {
    "plus": PAIRS,
    "minus": PAIRS,
    "times": {
        ("vector", "vector"), ("vector", "value"),
        ("value", "vector"), ("value", "matrix"), ("value", "matrixrow"),
    },
    "divide": {("vector", "vector"), ("vector", "value")},
    "scalarproduct": {("vector", "vector")},
}  # fmt: skip
"""Kinds of the two operands that an operator works on item by item."""


@dataclass(frozen=True, slots=True)
class Items:
    """A vector, list, matrix or matrixrow; the items of a matrix are matrixrows."""

    kind: str
    items: tuple[Value, ...]

    def __post_init__(self) -> None:
        """Refuse what would fill the memory."""
        if len(self.items) > MAX_ITEMS:
            raise AnalitzaError(f"a {self.kind} of more than {MAX_ITEMS} items.")


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function with the values of the names around it."""

    parameters: tuple[str, ...]
    body: Node
    scope: Mapping[str, Value]


Value = float | complex | str | Items | Closure


def unary(operator: str, a: Value) -> Value:
    """Apply an operator of one operand.

    Raises:
        AnalitzaError: there is no such operation, or it has no finite result.
    """
    if isinstance(a, Items):
        return _unary_items(operator, a)
    if isinstance(a, float | complex):
        return scalars.unary(operator, a)
    raise AnalitzaError(f"{operator} is not defined for {type(a).__name__}.")


def binary(operator: str, a: Value, b: Value) -> Value:
    """Apply an operator of two operands.

    Raises:
        AnalitzaError: there is no such operation, or it has no finite result.
    """
    if isinstance(a, Items) or isinstance(b, Items):
        return _binary_items(operator, a, b)
    if isinstance(a, str) and isinstance(b, str) and operator in ("eq", "neq"):
        return float((a == b) == (operator == "eq"))
    if isinstance(a, float | complex) and isinstance(b, float | complex):
        return scalars.binary(operator, a, b)
    raise AnalitzaError(f"{operator} is not defined for {type(a).__name__} and {type(b).__name__}.")


def _unary_items(operator: str, a: Items) -> Value:
    if operator == "card":
        return float(len(a.items))
    if operator == "transpose" and a.kind in ("vector", "matrix"):
        rows = [_row(row) for row in a.items] if a.kind == "matrix" else [(item,) for item in a.items]
        return _matrix(list(zip(*rows, strict=True)))
    raise AnalitzaError(f"{operator} is not defined for a {a.kind}.")


def _binary_items(operator: str, a: Value, b: Value) -> Value:
    if operator == "selector" and isinstance(a, float) and isinstance(b, Items):
        return _select(a, b)
    if operator == "union" and isinstance(a, Items) and isinstance(b, Items):
        return Items("list", a.items + b.items)
    if operator == "eq" or operator == "neq":
        return float((a == b) == (operator == "eq"))
    kinds = (a.kind if isinstance(a, Items) else "value", b.kind if isinstance(b, Items) else "value")
    if operator == "times" and "matrix" in kinds and kinds[0] != "value":
        return _product(a, b)
    if operator == "power" and kinds == ("matrix", "value"):
        return _matrix_power(a, b)
    if kinds not in ELEMENTWISE.get(operator, ()):
        raise AnalitzaError(f"{operator} is not defined for a {kinds[0]} and a {kinds[1]}.")
    return _elementwise("times" if operator == "scalarproduct" else operator, a, b)


def _elementwise(operator: str, a: Value, b: Value) -> Items:
    left = a.items if isinstance(a, Items) else None
    right = b.items if isinstance(b, Items) else None
    size = len(left if left is not None else right or ())
    if left is not None and right is not None and len(left) != len(right):
        raise AnalitzaError(f"{operator} of different sizes: {len(left)} and {len(right)}.")
    pairs = zip(left or [a] * size, right or [b] * size, strict=True)
    kind = a.kind if isinstance(a, Items) else b.kind if isinstance(b, Items) else "vector"
    return Items(kind, tuple(binary(operator, x, y) for x, y in pairs))


def _select(index: float, a: Items) -> Value:
    if not 1 <= int(index) <= len(a.items):
        raise AnalitzaError(f"no item {index:g} in a {a.kind} of {len(a.items)}.")
    item = a.items[int(index) - 1]
    return Items("vector", item.items) if isinstance(item, Items) and item.kind == "matrixrow" else item


def _row(value: Value) -> tuple[Value, ...]:
    if not isinstance(value, Items):
        raise AnalitzaError("a matrix must have rows.")
    return value.items


def _matrix(rows: list[tuple[Value, ...]]) -> Items:
    return Items("matrix", tuple(Items("matrixrow", row) for row in rows))


def _rows(value: Value) -> list[tuple[Value, ...]]:
    if not isinstance(value, Items):
        raise AnalitzaError("a matrix is needed.")
    return [_row(row) for row in value.items] if value.kind == "matrix" else [(item,) for item in value.items]


def _product(a: Value, b: Value) -> Items:
    left, right = _rows(a), _rows(b)
    if not left or not right or any(len(row) != len(right) for row in left):
        raise AnalitzaError("the sizes of the matrices do not match.")
    if len(left) * len(right) * len(right[0]) > MAX_ITEMS:
        raise AnalitzaError("the matrices are too big.")
    columns = list(zip(*right, strict=True))
    rows = [tuple(_dot(row, column) for column in columns) for row in left]
    if isinstance(b, Items) and b.kind != "matrix":
        return Items("vector", tuple(row[0] for row in rows))
    return _matrix(rows)


def _dot(a: tuple[Value, ...], b: tuple[Value, ...]) -> Value:
    total: Value = 0.0
    for x, y in zip(a, b, strict=True):
        total = binary("plus", total, binary("times", x, y))
    return total


def _matrix_power(a: Value, exponent: Value) -> Items:
    size = len(_rows(a))
    if not isinstance(exponent, float) or exponent != int(exponent) or abs(exponent) > MAX_MATRIX_POWER:
        raise AnalitzaError(f"a matrix is raised only to whole powers of at most {MAX_MATRIX_POWER}.")
    result = identity(size)
    for _ in range(abs(int(exponent))):
        result = _product(result, a)
    return result


def identity(size: int) -> Items:
    """The identity matrix."""
    if size * size > MAX_ITEMS:
        raise AnalitzaError(f"an identity matrix of {size} rows is too big.")
    return _matrix([tuple(float(row == column) for column in range(size)) for row in range(size)])
