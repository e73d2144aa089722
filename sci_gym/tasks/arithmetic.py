"""The arithmetic of `compute`: a syntax tree of which only what is named here has a value."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from sci_gym.errors import UnknownNameError

_MAX_BITS = 1024


def compute(expression: str, values: Mapping[str, Any]) -> int | float:
    """The value of an expression over named values, which are numbers or tables of them.

    Raises:
        ValueError: it is not arithmetic, names something unknown, or has no value that is a number.
    """
    try:
        return _number(ast.parse(expression.strip(), mode="eval").body, values)
    except (SyntaxError, ValueError, TypeError, ArithmeticError) as exc:
        reason = exc.msg if isinstance(exc, SyntaxError) else str(exc)
        raise ValueError(f"{expression!r}: {reason}") from exc


def _bounded(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is not a number")
    if not math.isfinite(value):
        raise ValueError("the result is too large")
    return value


def _power(base: float, exponent: float) -> Any:
    if isinstance(base, int) and base.bit_length() * abs(exponent) > _MAX_BITS:
        raise ValueError("the result is too large")
    return base**exponent


def _factorial(n: int) -> int:
    if n > 170:
        raise ValueError("factorial of more than 170")
    return math.factorial(n)


def _comb(n: int, k: int) -> int:
    if n > 1000:
        raise ValueError("comb of more than 1000")
    return math.comb(n, k)


def _round(value: float, digits: int = 0) -> float:
    if not 0 <= digits <= 15:
        raise ValueError("round takes 0 to 15 digits")
    return round(value, digits) if digits else round(value)


_CONSTANTS = {"pi": math.pi, "e": math.e}
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": abs, "min": min, "max": max, "round": _round, "floor": math.floor, "ceil": math.ceil,
    "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "tan": math.tan, "exp": math.exp, "log": math.log,
    "factorial": _factorial, "gcd": math.gcd, "comb": _comb,
}  # fmt: skip


def _term(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """The value of an expression's node: a number, or a table whose field is taken above it."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name):
            return _member({**_CONSTANTS, **values}, name, "earlier parameter")
        case ast.Attribute(table, name) | ast.Subscript(table, ast.Constant(name)):
            return _member(_term(table, values), name, "field")
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _bounded(_OPERATORS[type(op)](_number(left, values), _number(right, values)))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand, values)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            function = _member(_FUNCTIONS, name, "function")
            return _bounded(function(*(_number(each, values) for each in arguments)))
    raise ValueError(f"{ast.unparse(node)!r} is not arithmetic")


def _number(node: ast.expr, values: Mapping[str, Any]) -> int | float:
    return _bounded(_term(node, values))


def _member(table: Any, name: Any, what: str) -> Any:
    if not isinstance(table, Mapping):
        raise ValueError(f"{table!r} has no field {name!r}")
    if name not in table:
        raise UnknownNameError(what, str(name), table)
    return table[name]
