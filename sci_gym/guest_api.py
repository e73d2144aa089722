"""The API action: calls that an agent makes to its desktop by name, as JSON.

What is no call, or a wrong one, is an element of the action space all the same: it does nothing, and its
result says why.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from sci_gym.client import VMAgentClient
from sci_gym.errors import ActionError


def call_api(client: VMAgentClient, text: str) -> str:
    """Make a call such as `{"name": "clipboard.set", "args": {"text": "x"}}`, and return its result as JSON.

    What cannot be called gives `{"error": WHY}`.
    """
    try:
        return json.dumps(_call(client, text), ensure_ascii=False)
    except ActionError as error:
        return json.dumps({"error": str(error)}, ensure_ascii=False)


def _call(client: VMAgentClient, text: str) -> Any:
    name, arguments = _parse(text)
    functions: Mapping[str, Callable[..., Any]] = {
        "clipboard.get": client.get_clipboard,
        "clipboard.set": client.set_clipboard,
        "windows.list": lambda: [{"title": one.title, "active": one.active} for one in client.windows()],
        "windows.activate": lambda title: client.activate_window(_window_id(client, title)),
        "windows.close": lambda title: client.close_window(_window_id(client, title)),
    }
    if name not in functions:
        raise ActionError(f"action.text: unknown API {name!r}; known are {', '.join(functions)}")
    try:
        return functions[name](**arguments)
    except TypeError as error:
        raise ActionError(f"action.text: {name}: {error}") from error


def _window_id(client: VMAgentClient, title: str) -> int:
    windows = client.windows()
    for one in windows:
        if title in one.title:
            return int(one.id)
    raise ActionError(f"action.text: no window {title!r}; there are {[one.title for one in windows]}")


def _parse(text: str) -> tuple[str, dict[str, Any]]:
    try:
        call = json.loads(text)
        return str(call["name"]), dict(call.get("args", {}))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ActionError(
            f'action.text: an API call is {{"name": "clipboard.get", "args": {{}}}}, not {text!r}'
        ) from error
