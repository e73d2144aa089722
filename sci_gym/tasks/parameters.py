"""The parameters of a template, and how each is drawn: range, choice, compute or text."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any

from pydantic import Discriminator, Field, PlainValidator, Tag, model_validator

from sci_gym.tasks.arithmetic import compute
from sci_gym.tasks.filling import Filler
from sci_gym.tasks.grid import Grid
from sci_gym.tasks.locator import FieldError, KeyPath
from sci_gym.tasks.tables import Table, known

Pick = Callable[[int], int]
"""Chooses one of n: the seed's generator, or a probe at load time."""

_MAX_COMPUTE_CHARS = 200


def draw(parameter: Parameter, pick: Pick, values: Mapping[str, Any], path: KeyPath) -> Any:
    """One of a parameter's values, given those of earlier ones; a `FieldError` if it can have none."""
    options = parameter.options(values, path)
    return copy.deepcopy(options[pick(len(options))])


def _plain_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"a number is wanted, not {value!r}.")
    return value


_Number = Annotated[int | float, PlainValidator(_plain_number)]


class Range(Table):
    """Numbers from low to high, both included, `step` apart."""

    low: _Number
    high: _Number
    step: _Number | None = None
    distinct_from: str | None = None

    @model_validator(mode="after")
    def _has_values(self) -> Range:
        if self.step is None and not (isinstance(self.low, int) and isinstance(self.high, int)):
            raise ValueError("a range of floats needs a step.")
        if self.step is not None and self.step <= 0:
            raise ValueError("step must be above 0.")
        if self.low > self.high:
            raise ValueError("low is above high.")
        return self

    def options(self, values: Mapping[str, Any], path: KeyPath) -> Sequence[Any]:
        """The numbers, without the value of `distinct_from`."""
        numbers = self.grid()
        if self.distinct_from is None:
            return numbers
        rest = numbers.without(self._other(values, (*path, "distinct_from")))
        if not rest:
            raise FieldError(path, f"no value is left that is distinct from {self.distinct_from!r}.")
        return rest

    def grid(self) -> Grid:
        """All of the numbers."""
        # Decimals, so that 0.1 + 2 * 0.1 is 0.3
        low, step = Decimal(repr(self.low)), Decimal(repr(1 if self.step is None else self.step))
        whole = isinstance(self.low, int) and isinstance(self.step, int | None)
        return Grid(low, step, int((Decimal(repr(self.high)) - low) / step) + 1, int if whole else float)

    def _other(self, values: Mapping[str, Any], path: KeyPath) -> int | float:
        other = values[known(str(self.distinct_from), values, "earlier parameter", path)]
        if isinstance(other, bool) or not isinstance(other, int | float):
            raise FieldError(path, f"{self.distinct_from!r} is not a number.")
        return other


class Choice(Table):
    """A list of values."""

    choice: list[Any] = Field(min_length=1)

    def options(self, values: Mapping[str, Any], path: KeyPath) -> Sequence[Any]:
        """All of them."""
        return self.choice


class Compute(Table):
    """Arithmetic on the values that come before it."""

    compute: str = Field(max_length=_MAX_COMPUTE_CHARS)

    def options(self, values: Mapping[str, Any], path: KeyPath) -> Sequence[Any]:
        """Its one value."""
        try:
            return (compute(self.compute, values),)
        except ValueError as exc:
            raise FieldError((*path, "compute"), str(exc)) from exc


class FilledText(Table):
    """A text into which the values that come before it are filled."""

    text: str

    def options(self, values: Mapping[str, Any], path: KeyPath) -> Sequence[Any]:
        """Its one value."""
        return (Filler(values).text(self.text, (*path, "text")),)


def _form(data: Any) -> str:
    keys = data if isinstance(data, dict) else ()
    return next((form for form in ("choice", "compute", "text") if form in keys), "range")


Parameter = Annotated[
    Annotated[Range, Tag("range")]
    | Annotated[Choice, Tag("choice")]
    | Annotated[Compute, Tag("compute")]
    | Annotated[FilledText, Tag("text")],
    Discriminator(_form),
]
