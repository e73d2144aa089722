"""The functions and methods that a lambda may call; each charges for what it reads and makes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sci_gym.scienceboard.lambdas.budget import MAX_CHARS, MAX_ITEMS, Budget, LambdaFailedError, limit

_TYPES: Mapping[str, type] = {
    "bool": bool, "dict": dict, "float": float, "int": int, "list": list, "str": str, "tuple": tuple,
}  # fmt: skip
MATH: Mapping[str, Callable[..., Any]] = {
    name: getattr(math, name)
    for name in (
        "sqrt", "hypot", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "degrees", "radians",
        "exp", "log", "log10", "floor", "ceil", "fabs",
    )
}  # fmt: skip
"""Called as `__import__('math').sqrt(x)`, which is a form of its own."""
_MAX_PLACES = 20


def _each(values: Iterable[Any], budget: Budget) -> list[Any]:
    """The items of an iterable, as plain data; generators of the walk are iterable too."""
    if isinstance(values, str | list | tuple | dict):
        return list(budget.weigh(values))
    found: list[Any] = []
    for value in values:
        budget.charge()
        limit(len(found) + 1, MAX_ITEMS, "items")
        found.append(value)
    return found


def _any(budget: Budget, values: Iterable[Any]) -> bool:
    return any(values)


def _all(budget: Budget, values: Iterable[Any]) -> bool:
    return all(values)


def _sum(budget: Budget, values: Iterable[Any]) -> Any:
    total: Any = 0
    for value in _each(values, budget):
        if not isinstance(value, int | float):
            raise LambdaFailedError("sum is of numbers only.")
        total += value
    return total


def _range(budget: Budget, *ends: Any) -> list[int]:
    span = range(*ends)
    limit(len(span), MAX_ITEMS, "items")
    budget.charge(len(span))
    return list(span)


def _round(budget: Budget, number: Any, places: Any = None) -> Any:
    if places is not None and abs(places) > _MAX_PLACES:
        raise LambdaFailedError(f"round is to at most {_MAX_PLACES} places.")
    return round(number, places)


def _dict(budget: Budget, values: Iterable[Any] = ()) -> dict[Any, Any]:
    if isinstance(values, dict):
        return dict(budget.weigh(values))
    return dict(_each(values, budget))


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": lambda budget, number: abs(number),
    "all": _all,
    "any": _any,
    "bool": lambda budget, value: bool(value),
    "dict": _dict,
    "float": lambda budget, value: float(budget.close(value)),
    "int": lambda budget, value: int(budget.close(value)),
    "len": lambda budget, values: len(values),
    "list": lambda budget, values: _each(values, budget),
    "max": lambda budget, *values: max(_each(values[0] if len(values) == 1 else values, budget)),
    "min": lambda budget, *values: min(_each(values[0] if len(values) == 1 else values, budget)),
    "range": _range,
    "round": _round,
    "sorted": lambda budget, values: sorted(_each(values, budget)),
    "str": lambda budget, value: str(budget.close(value)),
    "sum": _sum,
    "tuple": lambda budget, values: tuple(_each(values, budget)),
    "isinstance": lambda budget, value, kinds: isinstance(value, _kinds(kinds)),
}


def _kinds(kinds: Any) -> tuple[type, ...]:
    listed = kinds if isinstance(kinds, tuple) else (kinds,)
    try:
        return tuple(_TYPES[kind.name] for kind in listed)
    except (AttributeError, KeyError) as exc:
        raise LambdaFailedError("isinstance takes bool, dict, float, int, list, str, tuple.") from exc


def _join(text: str, values: Iterable[Any]) -> str:
    listed = list(values)
    if all(isinstance(value, str) for value in listed):
        limit(sum(map(len, listed)) + len(text) * len(listed), MAX_CHARS, "characters")
    return text.join(listed)


def _replace(text: str, old: str, new: str) -> str:
    limit((len(text) + 1) * max(len(new), 1), MAX_CHARS, "characters")
    return text.replace(old, new)


_OF_TEXT: Mapping[str, Callable[..., Any]] = {
    **{
        name: getattr(str, name)
        for name in (
            "startswith", "endswith", "strip", "lstrip", "rstrip", "lower", "upper", "casefold", "split",
            "rsplit", "splitlines", "find", "count", "isdigit",
        )
    },
    "join": _join,
    "replace": _replace,
}  # fmt: skip
_OF_DICT: Mapping[str, Callable[..., Any]] = {
    "get": dict.get,
    "keys": lambda mapping: list(mapping.keys()),
    "values": lambda mapping: list(mapping.values()),
    "items": lambda mapping: list(mapping.items()),
}
_OF_LIST: Mapping[str, Callable[..., Any]] = {"index": list.index, "count": list.count}
_BY_TYPE: Mapping[type, Mapping[str, Callable[..., Any]]] = {str: _OF_TEXT, dict: _OF_DICT, list: _OF_LIST}
METHODS = frozenset(name for methods in _BY_TYPE.values() for name in methods)


def call_method(budget: Budget, owner: Any, name: str, arguments: list[Any]) -> Any:
    """Call a method of a text, dict or list."""
    method = _BY_TYPE.get(type(owner), {}).get(name)
    if method is None:
        raise LambdaFailedError(f"a {type(owner).__name__} has no {name!r}.")
    for value in () if name == "get" else (owner, *arguments):
        budget.weigh(value)
    return method(owner, *arguments)
