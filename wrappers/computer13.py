"""OSWorld's computer_13 actions: JSON objects with an `action_type` and its `parameters`."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from sci_gym.errors import ActionError
from sci_gym.specs import Action
from sci_gym.wrappers.computer13_models import ACTIONS
from sci_gym.wrappers.screen import Screen
from sci_gym.wrappers.text_actions import TextActions, unfence

_WORDS = ("WAIT", "DONE", "FAIL")


class Computer13Json(TextActions):
    """Actions are computer_13 JSON, as a text or as the object itself; see `parse`."""

    def action(self, action: str | dict[str, Any] | list[Any]) -> list[Action]:
        """Read computer_13 JSON as actions; raises `ActionError`."""
        screen = self.screen
        return parse(action, screen.width, screen.height, screen.coordinates, screen.pointer)


def parse(
    source: str | dict[str, Any] | list[Any],
    width: int,
    height: int,
    coordinates: str = "pixel",
    pointer: tuple[int, int] | None = None,
) -> list[Action]:
    """Read computer_13 JSON as actions.

    Args:
        source: an object `{"action_type": "CLICK", "parameters": {"x": 5, "y": 7}}`, whose parameters may
            also stand beside `action_type`; or a list of such; or the text of either, perhaps in ``` fences.
        width: of the screen in pixels.
        height: of the screen in pixels.
        coordinates: "pixel", "relative" (0 to 1 of the width and height) or "thousand" (0 to 1000).
        pointer: where actions without a point act, as (x, y) in pixels; None for the middle of the screen.

    Raises:
        ActionError: it is no such JSON; the message names the field.
    """
    screen = Screen(width, height, coordinates=coordinates, pointer=pointer)
    entries = _entries(source)
    if not entries:
        raise ActionError(f"there is no action in {_quote(source)}")
    actions: list[Action] = []
    for entry in entries:
        try:
            found = ACTIONS.validate_python(_flat(entry)).actions(screen)
        except ValidationError as exc:
            raise ActionError(f"{_quote(entry)}: {_explain(exc)}") from exc
        except ActionError as exc:
            raise ActionError(f"{_quote(entry)}: {exc}") from exc
        for action in found:
            screen.follow(action)
        actions.extend(found)
    return actions


def _entries(source: object) -> list[object]:
    if isinstance(source, str):
        return _decode(unfence(source).strip())
    return source if isinstance(source, list) else [source]


def _decode(text: str) -> list[object]:
    """Read the JSON values that stand one after the other in a text."""
    entries: list[object] = []
    place = 0
    while place < len(text):
        try:
            value, place = _next_value(text, place)
        except (ValueError, RecursionError) as exc:
            raise ActionError(f"{_quote(text[place:])}: not JSON: {exc}") from exc
        entries.extend(value if isinstance(value, list) else [value])
        place += len(text[place:]) - len(text[place:].lstrip())
    return entries


def _next_value(text: str, place: int) -> tuple[object, int]:
    for word in _WORDS:
        if text.startswith(word, place):
            return {"action_type": word}, place + len(word)
    return json.JSONDecoder().raw_decode(text, place)


def _flat(entry: object) -> object:
    """Move the parameters beside `action_type`."""
    if not isinstance(entry, dict):
        return entry
    parameters = entry.get("parameters") or {}
    if not isinstance(parameters, dict):
        raise ActionError("parameters: must be an object")
    return {**{name: value for name, value in entry.items() if name != "parameters"}, **parameters}


def _quote(entry: object) -> str:
    return f"`{str(entry)[:200]}`"


def _explain(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    return f"{field}: {first['msg']}" if field else first["msg"]
