"""What a call of a lambda may use up, and the values that it may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sci_gym.errors import ConfigurationError

MAX_STEPS = 1_000_000
MAX_CHARS = 1_000_000
MAX_ITEMS = 100_000
MAX_BITS = 256
_CHARS_A_STEP = 64


class LambdaRefusedError(ConfigurationError):
    """A text is no lambda of the known forms; the message names what it has that is not known."""


class LambdaFailedError(ConfigurationError):
    """A call has no result: a key is missing, a type is wrong, or it takes too long."""


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A lambda as a value, with the names around it."""

    node: Any
    scope: Any


@dataclass(frozen=True, slots=True)
class Function:
    """One of the known functions, as a value."""

    name: str


class Budget:
    """Counts what a call uses up."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        """Start with so many steps."""
        self._steps = steps

    def charge(self, steps: int = 1) -> None:
        """Use up steps.

        Raises:
            LambdaFailedError: there are none left.
        """
        self._steps -= steps
        if self._steps < 0:
            raise LambdaFailedError(f"it takes more than {MAX_STEPS} steps.")

    def weigh(self, value: Any) -> Any:
        """The value, its whole size charged; what is met twice in it counts twice.

        Raises:
            LambdaFailedError: it is too big.
        """
        self.charge()
        if isinstance(value, str):
            self.charge(len(value) // _CHARS_A_STEP)
            limit(len(value), MAX_CHARS, "characters")
        elif isinstance(value, int):
            limit(value.bit_length(), MAX_BITS, "bits")
        elif isinstance(value, list | tuple):
            limit(len(value), MAX_ITEMS, "items")
            for item in value:
                self.weigh(item)
        elif isinstance(value, dict):
            limit(len(value), MAX_ITEMS, "items")
            for key, item in value.items():
                self.weigh(key)
                self.weigh(item)
        return value

    def close(self, value: Any) -> Any:
        """A value as plain data: mappings as dicts, lists and tuples as they are.

        Raises:
            LambdaFailedError: it holds something else, or is too big.
        """
        if isinstance(value, Mapping):
            return {self.close(key): self.close(item) for key, item in value.items()}
        if type(value) in (list, tuple):
            return type(value)(self.close(item) for item in value)
        if value is None or type(value) in (bool, int, float, str):
            return self.weigh(value)
        raise LambdaFailedError(f"a {type(value).__name__} is no plain data.")


def limit(size: int, most: int, what: str) -> None:
    """Hold a size to its limit.

    Raises:
        LambdaFailedError: it is above.
    """
    if size > most:
        raise LambdaFailedError(f"a value of more than {most} {what}.")
