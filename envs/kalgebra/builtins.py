"""Functions that Analitza defines beside its operators (`analitza/commands`)."""

from __future__ import annotations

import math
from collections.abc import Callable

from sci_gym.envs.kalgebra.lexer import AnalitzaError
from sci_gym.envs.kalgebra.scalars import wrapped_factorial
from sci_gym.envs.kalgebra.values import MAX_ITEMS, Items, Value, identity

Method = Callable[[tuple[Value, ...]], Value]


def _numbers(name: str, arguments: tuple[Value, ...], least: int, most: int) -> list[float]:
    numbers = [argument for argument in arguments if isinstance(argument, float)]
    if not least <= len(arguments) <= most or len(numbers) != len(arguments):
        raise AnalitzaError(f"{name} takes {least} to {most} numbers.")
    return numbers


def _range(arguments: tuple[Value, ...]) -> Value:
    numbers = _numbers("range", arguments, 1, 3)
    low, high = (1.0, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])
    step = numbers[2] if len(numbers) == 3 else 1.0
    if step <= 0 or (high - low) / step > MAX_ITEMS:
        raise AnalitzaError("a range has too many items.")
    count = math.floor((high - low) / step + 1e-9) + 1
    return Items("list", tuple(low + place * step for place in range(max(count, 0))))


def _combinations(arguments: tuple[Value, ...]) -> Value:
    n, r = _numbers("comb", arguments, 2, 2)
    divisor = wrapped_factorial(r) * wrapped_factorial(n - r) % 2**32
    return float(wrapped_factorial(n) // divisor) if divisor else 0.0


def _permutations(arguments: tuple[Value, ...]) -> Value:
    n, r = _numbers("perm", arguments, 2, 2)
    divisor = wrapped_factorial(n - int(r))
    return float(wrapped_factorial(n) // divisor) if r <= n and divisor else 0.0


def _real_power(arguments: tuple[Value, ...]) -> Value:
    base, exponent = _numbers("realpower", arguments, 2, 2)
    try:
        return math.copysign(math.pow(abs(base), exponent), base)
    except (ArithmeticError, ValueError) as exc:
        raise AnalitzaError("realpower is not defined there.") from exc


def _identity(arguments: tuple[Value, ...]) -> Value:
    return identity(int(_numbers("identitymatrix", arguments, 1, 1)[0]))


def _vector(arguments: tuple[Value, ...]) -> Value:
    if len(arguments) == 1 and isinstance(arguments[0], Items):
        return Items("vector", arguments[0].items)
    if len(arguments) == 2 and isinstance(arguments[0], float) and 0 < arguments[0] <= MAX_ITEMS:
        return Items("vector", (arguments[1],) * int(arguments[0]))
    raise AnalitzaError("vector takes a list, or a size and a value.")


def _diagonal(arguments: tuple[Value, ...]) -> Value:
    first = arguments[0] if len(arguments) == 1 else None
    items = first.items if isinstance(first, Items) and first.kind == "vector" else arguments
    size = len(items)
    rows = (tuple(items[row] if row == column else 0.0 for column in range(size)) for row in range(size))
    return Items("matrix", tuple(Items("matrixrow", row) for row in rows))


METHODS: dict[str, Method] = {
    "comb": _combinations,
    "diag": _diagonal,
    "identitymatrix": _identity,
    "perm": _permutations,
    "range": _range,
    "realpower": _real_power,
    "vector": _vector,
}
