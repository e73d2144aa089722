"""What the judge in the guest says (`guest/project.py`), as the environment's state."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sci_gym.specs import Observation

JUDGE = "lean.judge"
_NOTHING: Mapping[str, Any] = {"text": "", "fault": "the task's file was not judged", "theorems": {}}


def observed(observation: Observation) -> dict[str, Any]:
    """What `Lean.read_state` documents."""
    found = observation.inspections.get(JUDGE)
    if found is None or not found.whole:
        return {**_NOTHING, "fault": _why(found)}
    try:
        told = json.loads(found.stdout)
        return {key: told[key] for key in _NOTHING}
    except (ValueError, KeyError, TypeError):
        return dict(_NOTHING)


def words(state: Mapping[str, Any]) -> str:
    """The state as a policy reads it: the file, then what Lean says of each theorem."""
    parts = [state["text"].rstrip("\n")]
    if state["fault"]:
        parts.append(f"not judged: {state['fault']}")
    parts += ["\n".join(_theorem(name, theorem)) for name, theorem in state["theorems"].items()]
    return "\n\n".join(part for part in parts if part)


def _theorem(name: str, theorem: Mapping[str, Any]) -> Iterator[str]:
    yield f"{name}: {theorem['state']}"
    for one in theorem["messages"]:
        yield f"line {one['line']}, {one['severity']}: {one['text']}"


def _why(found: Any) -> str:
    if found is None:
        return str(_NOTHING["fault"])
    if found.timed_out:
        return "Lean did not finish in time"
    return f"the judge failed: {found.problem or found.stderr[-500:].decode('utf-8', 'replace')}"
