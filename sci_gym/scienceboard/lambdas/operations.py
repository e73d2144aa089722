"""The operators of lambdas: which there are, and on what they work."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from sci_gym.scienceboard.lambdas.budget import Budget, LambdaFailedError

_MAX_EXPONENT = 64
_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.Not: operator.not_, ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip
COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda item, values: item in values, ast.NotIn: lambda item, values: item not in values,
}  # fmt: skip


def arithmetic(budget: Budget, op: ast.operator, left: Any, right: Any) -> Any:
    """Work out two operands: numbers, or texts, lists or tuples that are added.

    Raises:
        LambdaFailedError: they are others, or give something too big.
    """
    numbers = isinstance(left, int | float) and isinstance(right, int | float)
    joined = isinstance(op, ast.Add) and type(left) is type(right) and type(left) in (str, list, tuple)
    if not numbers and not joined:
        raise LambdaFailedError(f"{type(op).__name__} is of numbers; texts and lists are only added.")
    if isinstance(op, ast.Pow) and abs(right) > _MAX_EXPONENT:
        raise LambdaFailedError(f"an exponent above {_MAX_EXPONENT}.")
    value = budget.weigh(_ARITHMETIC[type(op)](left, right))
    if isinstance(value, complex):
        raise LambdaFailedError("a complex number.")
    return value


def bind(target: ast.expr, value: Any) -> dict[str, Any]:
    """The names of a comprehension's target for one value.

    Raises:
        LambdaFailedError: the value has no parts.
    """
    names = target.elts if isinstance(target, ast.Tuple) else None
    if names is None:
        return {target.id: value} if isinstance(target, ast.Name) else {}
    if type(value) not in (str, list, tuple):
        raise LambdaFailedError(f"a {type(value).__name__} is not taken apart.")
    pairs = zip(names, value, strict=True)
    return {name.id: item for name, item in pairs if isinstance(name, ast.Name)}
