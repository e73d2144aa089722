"""Values in code that is read but never run: constants, marks, names, and arithmetic on numbers."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

from sci_gym.errors import ActionError
from sci_gym.wrappers.screen import Screen, as_number

Value = int | float | str | None | tuple["Value", ...]

MAX_NUMBER = 1e9
"""Numbers stay below it, so that arithmetic stays cheap whatever the code says."""

MAX_PARTS = 256
"""The longest list; one star may repeat another's parts, so length is not bounded by that of the code."""

_TAG = re.compile(r"tag_(\d{1,6})\Z", re.ASCII)
_CONSTANT = re.compile(r"(LEFT|MIDDLE|RIGHT|PRIMARY|SECONDARY|linear|ease\w*)\Z")
_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_UNARY: dict[type[ast.unaryop], Callable[[float], float]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}


class Literals:
    """Works out expressions, with the names that the code has assigned so far."""

    def __init__(self, screen: Screen) -> None:
        """Take the screen, for the marks."""
        self._screen = screen
        self._names: dict[str, Value] = {}

    def assign(self, target: ast.expr, value: Value) -> None:
        """Give a value to a name, or to several names side by side."""
        if isinstance(target, ast.Name):
            self._names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, tuple):
            if len(target.elts) != len(value):
                raise ActionError(f"there are {len(value)} values for {len(target.elts)} names")
            for one, part in zip(target.elts, value, strict=True):
                self.assign(one, part)
        else:
            raise ActionError("only names take values, as in `x, y = tag_3`")

    def value(self, node: ast.expr) -> Value:
        """Work out an expression; raises `ActionError` for anything that is not plain data."""
        match node:
            case ast.Constant(value=int() | float() as number):
                return _bounded(number)
            case ast.Constant(value=str() | None as constant):
                return constant
            case ast.Name(id=name):
                return self._named(name)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return self.values(parts)
            case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _UNARY:
                return _bounded(_UNARY[type(sign)](as_number("operand", self.value(operand))))
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
                return self._arithmetic(_BINARY[type(sign)], left, right)
            case ast.Subscript(value=whole, slice=index):
                return self._part(whole, index)
            case ast.Attribute(value=ast.Name(id="pyautogui"), attr=name) if _CONSTANT.match(name):
                return name
        raise ActionError("values may be numbers, texts, lists, assigned names, marks (tag_3) and arithmetic")

    def values(self, nodes: list[ast.expr]) -> tuple[Value, ...]:
        """Work out expressions side by side; `*tag_3` gives both of its numbers."""
        found: list[Value] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                parts = self.value(node.value)
                if not isinstance(parts, tuple):
                    raise ActionError("a star stands before a mark or a list")
                found.extend(parts)
            else:
                found.append(self.value(node))
            if len(found) > MAX_PARTS:
                raise ActionError(f"a list has at most {MAX_PARTS} parts")
        return tuple(found)

    def _named(self, name: str) -> Value:
        if name in self._names:
            return self._names[name]
        if tag := _TAG.match(name):
            return self._screen.mark(int(tag[1]))
        raise ActionError(f"{name!r} has no value; assign one before, or name a mark such as tag_3")

    def _arithmetic(self, work: Callable[[float, float], float], left: ast.expr, right: ast.expr) -> Value:
        a, b = as_number("left side", self.value(left)), as_number("right side", self.value(right))
        try:
            return _bounded(work(a, b))
        except ZeroDivisionError as exc:
            raise ActionError("division by zero") from exc

    def _part(self, whole: ast.expr, index: ast.expr) -> Value:
        parts, place = self.value(whole), self.value(index)
        if (
            not isinstance(parts, tuple)
            or not isinstance(place, int)
            or not -len(parts) <= place < len(parts)
        ):
            raise ActionError("an index counts from 0 into a mark or a list, as in `tag_3[0]`")
        return parts[place]


def _bounded(number: float) -> float:
    if not abs(number) <= MAX_NUMBER:
        raise ActionError(f"numbers may be from {-MAX_NUMBER:g} to {MAX_NUMBER:g}")
    return number
