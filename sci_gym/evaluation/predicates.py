"""The generic predicates: over the answer, files, and the way that the episode ended."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Literal

from pydantic import Field

from sci_gym.specs import Evidence

Predicate = Callable[..., bool]
Number = Annotated[float, Field(allow_inf_nan=False)]
Tolerance = Annotated[float, Field(ge=0, allow_inf_nan=False)]

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_FRACTION = re.compile(r"([+-]?[0-9]+)/([0-9]+)")
_REL, _ABS = 1e-6, 1e-9


def parse_number(text: str) -> float | None:
    """Read "12", "-0.5", "6.02e23" or "3/4", with space around it; None for anything else."""
    text = text.strip()
    if fraction := _FRACTION.fullmatch(text):
        above, below = (float(part) for part in fraction.groups())
        value = above / below if below else math.nan
    else:
        value = float(text) if _DECIMAL.fullmatch(text) else math.nan
    return value if math.isfinite(value) else None


def _plain(text: str, ignore_case: bool = True) -> str:
    joined = " ".join(text.split())
    return joined.casefold() if ignore_case else joined


def _same_item(given: str, wanted: str) -> bool:
    numbers = parse_number(given), parse_number(wanted)
    if numbers[0] is None or numbers[1] is None:
        return numbers[0] is numbers[1] and _plain(given) == _plain(wanted)
    return math.isclose(numbers[0], numbers[1], rel_tol=_REL, abs_tol=_ABS)


def answer_number(
    evidence: Evidence, *, value: Number, tolerance_rel: Tolerance = _REL, tolerance_abs: Tolerance = _ABS
) -> bool:
    """Whether the answer is one number (see `parse_number`) within either tolerance of `value`."""
    given = None if evidence.answer is None else parse_number(evidence.answer)
    return given is not None and abs(given - value) <= max(tolerance_rel * abs(value), tolerance_abs)


def answer_text(evidence: Evidence, *, equals: str, ignore_case: bool = True) -> bool:
    """Whether the answer is this text, whatever its white space."""
    return evidence.answer is not None and _plain(evidence.answer, ignore_case) == _plain(equals, ignore_case)


def answer_set(evidence: Evidence, *, equals: list[str]) -> bool:
    """Whether the answer lists these items and no others, split by commas or semicolons, in any order.

    Numbers are compared as numbers, text without regard to case and white space.
    """
    if evidence.answer is None:
        return False
    given = re.split("[,;]", evidence.answer)
    return all(any(_same_item(item, wanted) for wanted in equals) for item in given) and all(
        any(_same_item(item, wanted) for item in given) for wanted in equals
    )


def file_exists(evidence: Evidence, *, path: str) -> bool:
    """Whether a probed file is there."""
    return evidence.files.get(path) is not None


def file_contains(evidence: Evidence, *, path: str, text: str) -> bool:
    """Whether a probed file holds a text (UTF-8)."""
    data = evidence.files.get(path)
    return data is not None and text.encode() in data


def stopped(evidence: Evidence, *, kind: Literal["ANS", "DONE", "FAIL"]) -> bool:
    """Whether the policy ended the episode in this way; the check of an infeasible task."""
    return evidence.stop == kind


GENERIC_PREDICATES: Mapping[str, Predicate] = {
    function.__name__: function
    for function in (answer_number, answer_text, answer_set, file_exists, file_contains, stopped)
}
