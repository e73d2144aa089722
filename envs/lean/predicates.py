"""What tasks ask of the theorems in the project's file, as the judge in the guest tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sci_gym.specs import Evidence


def proved(evidence: Evidence, *, theorem: str) -> bool:
    """The file is the task's but for the proofs, and Lean accepts this theorem of it."""
    state = _theorems(evidence).get(theorem)
    return state is not None and state["state"] == "proved"


def finished(evidence: Evidence) -> bool:
    """Lean accepts every theorem of the file, so that it builds without an error or a gap."""
    states = _theorems(evidence).values()
    return bool(states) and all(one["state"] == "proved" for one in states)


PREDICATES: Mapping[str, Callable[..., bool]] = {one.__name__: one for one in (proved, finished)}
"""By name, as task files call them."""


def _theorems(evidence: Evidence) -> Mapping[str, Any]:
    state = evidence.state.get("lean", {})
    return {} if state.get("fault", "") else state.get("theorems", {})
