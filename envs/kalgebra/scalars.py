"""Analitza's arithmetic on numbers (`analitza/operations.cpp`), with the quirks of the program.

A value is compared with what KAlgebra computed, so `arccsc(a)` is `1/arcsin(a)` here too, `arccot(a)` is
`arcsinh(a)`, `factorial` wraps at 2^32, `rem` is C's `remainder`, and `arg` of a real number is that number.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable

from sci_gym.envs.kalgebra.lexer import AnalitzaError

Scalar = float | complex

UNARY_COMPLEX: dict[str, Callable[[complex], Scalar]] = {
    "minus": lambda a: -a, "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan, "sinh": cmath.sinh,
    "cosh": cmath.cosh, "tanh": cmath.tanh, "coth": lambda a: cmath.cosh(a) / cmath.sinh(a), "exp": cmath.exp,
    "ln": cmath.log, "log": cmath.log10, "abs": abs, "conjugate": lambda a: a.conjugate(), "arg": cmath.phase,
    "real": lambda a: a.real, "imaginary": lambda a: a.imag,
}  # fmt: skip

UNARY_REAL: dict[str, Callable[[float], Scalar]] = {
    "minus": lambda a: -a, "factorial": lambda a: float(wrapped_factorial(a)),
    "sin": math.sin, "cos": math.cos, "tan": math.tan,
    "sec": lambda a: 1 / math.cos(a), "csc": lambda a: 1 / math.sin(a), "cot": lambda a: 1 / math.tan(a),
    "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh,
    "sech": lambda a: 1 / math.cosh(a), "csch": lambda a: 1 / math.sinh(a),
    "coth": lambda a: 1 / math.tanh(a),
    "arcsin": math.asin, "arccos": math.acos, "arctan": math.atan,
    "arccot": math.asinh, "arccsc": lambda a: 1 / math.asin(a), "arcsec": lambda a: 1 / math.acos(a),
    "arcsinh": math.asinh, "arccosh": math.acosh, "arctanh": math.atanh,
    "arccsch": lambda a: math.log(1 / a + math.sqrt(1 / (a * a) + 1)),
    "arcsech": lambda a: math.log(1 / a + math.sqrt(1 / a + 1) * math.sqrt(1 / a - 1)),
    "exp": math.exp, "ln": math.log, "log": math.log10, "abs": abs,
    "floor": lambda a: float(math.floor(a)), "ceiling": lambda a: float(math.ceil(a)),
    "not": lambda a: float(not a),
    "real": lambda a: a, "imaginary": lambda a: a, "conjugate": lambda a: a, "arg": lambda a: a,
}  # fmt: skip

COMPLEX: dict[str, Callable[[complex, complex], Scalar]] = {
    "plus": lambda a, b: a + b, "minus": lambda a, b: a - b, "times": lambda a, b: a * b,
    "divide": lambda a, b: a / b, "power": lambda a, b: a**b, "root": lambda a, b: complex_root(a, b),
    "eq": lambda a, b: float(a == b), "neq": lambda a, b: float(a != b),
    "approx": lambda a, b: float(abs(a.real - b.real) + abs(a.imag - b.imag) < 0.001),
}  # fmt: skip

REAL: dict[str, Callable[[float, float], Scalar]] = {
    "plus": lambda a, b: a + b, "minus": lambda a, b: a - b, "times": lambda a, b: a * b,
    "divide": lambda a, b: a / b, "power": lambda a, b: power(a, b), "root": lambda a, b: root(a, b),
    "rem": lambda a, b: float(int(math.remainder(a, b))), "quotient": lambda a, b: float(math.floor(a / b)),
    "factorof": lambda a, b: float(math.floor(a) % math.floor(b) == 0),
    "gcd": lambda a, b: gcd(a, b), "lcm": lambda a, b: float(int(math.floor(a) * math.floor(b) / gcd(a, b))),
    "min": min, "max": max,
    "lt": lambda a, b: float(a < b), "gt": lambda a, b: float(a > b),
    "leq": lambda a, b: float(a <= b), "geq": lambda a, b: float(a >= b),
    "eq": lambda a, b: float(a == b), "neq": lambda a, b: float(a != b),
    "approx": lambda a, b: float(abs(a - b) < 0.001),
    "and": lambda a, b: float(bool(a) and bool(b)), "or": lambda a, b: float(bool(a) or bool(b)),
    "xor": lambda a, b: float(bool(a) != bool(b)), "implies": lambda a, b: float(bool(a) or not b),
}  # fmt: skip


def wrapped_factorial(a: float) -> int:
    """The factorial of the whole part, modulo 2^32 as in the program (34! is 0 there)."""
    return math.factorial(max(0, min(int(a), 34))) % 2**32


def gcd(a: float, b: float) -> float:
    """Euclid's algorithm as the program has it, which stops at a negative second number."""
    one, other = math.floor(a), math.floor(b)
    while other > 0:
        one, other = other, int(math.fmod(one, other))
    return float(one)


def power(a: float, b: float) -> Scalar:
    """`a^b`: complex for a negative base and an exponent between -1 and 1."""
    if a < 0 and -1 < b < 1:
        return complex(a) ** complex(b)
    return math.pow(a, b)


def root(a: float, b: float) -> Scalar:
    """The `b`-th root of `a`; of a negative `a` the real part of the principal root."""
    if b == 2:
        return math.sqrt(a)
    if a < 0 and (b > 1 or b < -1):
        return (complex(a) ** complex(1 / b)).real
    return math.pow(a, 1 / b)


def complex_root(a: complex, b: complex) -> complex:
    """The square root; the program has no other of complex numbers."""
    if b != 2:
        raise AnalitzaError("of complex numbers, Analitza has square roots only.")
    return cmath.sqrt(a)


def unary(operator: str, a: Scalar) -> Scalar:
    """Apply an operator of one number.

    Raises:
        AnalitzaError: there is no such operation, or it has no finite result.
    """
    if isinstance(a, complex):
        return _finite(operator, lambda: UNARY_COMPLEX[operator](a))
    return _finite(operator, lambda: UNARY_REAL[operator](a))


def binary(operator: str, a: Scalar, b: Scalar) -> Scalar:
    """Apply an operator of two numbers.

    Raises:
        AnalitzaError: there is no such operation, or it has no finite result.
    """
    if isinstance(a, complex) or isinstance(b, complex):
        return _finite(operator, lambda: COMPLEX[operator](complex(a), complex(b)))
    return _finite(operator, lambda: REAL[operator](a, b))


def _finite(operator: str, compute: Callable[[], Scalar]) -> Scalar:
    try:
        result = compute()
    except (ArithmeticError, ValueError, TypeError, KeyError) as exc:
        raise AnalitzaError(f"{operator} is not defined there.") from exc
    if isinstance(result, complex):
        if not cmath.isfinite(result):
            raise AnalitzaError(f"{operator} has no finite value there.")
        return result if result.imag else result.real
    if not math.isfinite(result):
        raise AnalitzaError(f"{operator} has no finite value there.")
    return float(result)
