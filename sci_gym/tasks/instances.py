"""How many different tasks a template can become."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sci_gym.tasks.parameters import Choice, Compute, Parameter, Range

_MANY = 10_000
_ANY = object()


def count_instances(parameters: Mapping[str, Parameter]) -> int:
    """How many different draws of its parameters a template has.

    It is a lower bound where one must be distinct from a computed one, or from one of more than 10,000 values
    from which others are distinct too: then each is taken to lose a value.
    """
    values = {name: _values(parameter) for name, parameter in parameters.items()}
    rivals = {name: [rival for rival, its in parameters.items() if _other(its) == name] for name in values}

    @cache
    def draws(name: str, taken: Any) -> int:
        """The draws of a parameter other than `taken`, and of all that are distinct from it."""
        options = values[name]
        if not rivals[name]:
            return len(options) - (taken is _ANY or taken in options)
        if taken is _ANY or len(options) > _MANY or isinstance(parameters[name], Compute):
            return (len(options) - (taken is not None)) * math.prod(draws(one, _ANY) for one in rivals[name])
        return sum(math.prod(draws(one, own) for one in rivals[name]) for own in options if own != taken)

    return math.prod(draws(name, None) for name, its in parameters.items() if _other(its) is None)


def _values(parameter: Parameter) -> Sequence[Any]:
    if isinstance(parameter, Range):
        return parameter.grid()
    if isinstance(parameter, Choice):
        return list({repr(entry): entry for entry in parameter.choice}.values())
    return ("computed",)


def _other(parameter: Parameter) -> str | None:
    return parameter.distinct_from if isinstance(parameter, Range) else None
