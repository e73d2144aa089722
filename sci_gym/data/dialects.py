"""Actions in the words of models: what a policy of each dialect would have said.

pyautogui and computer_13 are those of OSWorld, and read back by `sci_gym.wrappers`; Aguvis is pyautogui with
coordinates from 0 to 1; UI-TARS and OS-Atlas count from 0 to 1000. What a dialect has no words for is None.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sci_gym.specs import POINT_KINDS, Action, Kind

Size = tuple[int, int]
_FULL = 1000
_KEY_NAMES = {"super": "win", "esc": "escape"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a model says actions.

    Attributes:
        name: of the model or benchmark.
        write: an action on a screen of a size in pixels, as text; None where there are no words for it.
        system: what a chat begins with.
    """

    name: str
    write: Callable[[Action, Size], str | None]
    system: str


def _pixels(action: Action, size: Size) -> str:
    return f"x={action.x}, y={action.y}"


def _relative(action: Action, size: Size) -> str:
    return f"x={action.x / size[0]:.4f}, y={action.y / size[1]:.4f}"


def _thousands(action: Action, size: Size) -> tuple[int, int]:
    return round(action.x * _FULL / size[0]), round(action.y * _FULL / size[1])


def _write_pyautogui(action: Action, size: Size) -> str | None:
    return _python(action, _pixels(action, size))


def _write_aguvis(action: Action, size: Size) -> str | None:
    stops = {
        Kind.DONE: "terminate(status='success')",
        Kind.FAIL: "terminate(status='failure')",
        Kind.ANS: f"answer({action.text!r})",
        Kind.WAIT: f"wait(seconds={action.seconds:g})",
        Kind.MOVE_REL: None,
        Kind.DRAG_REL: None,
    }
    return stops[action.kind] if action.kind in stops else _python(action, _relative(action, size))


def _python(action: Action, place: str) -> str | None:
    kind = action.kind
    button = f", button={action.button!r}"
    keys: Sequence[str] = (*action.modifiers, action.key) if kind is Kind.HOTKEY else (action.key,)
    quoted = ", ".join(repr(_KEY_NAMES.get(key, key)) for key in keys)
    calls = {
        **{one: f"{one}({place})" for one in POINT_KINDS},
        Kind.DRAG_TO: f"dragTo({place}{button})",
        Kind.MOVE_REL: f"moveRel({action.dx}, {action.dy})",
        Kind.DRAG_REL: f"dragRel({action.dx}, {action.dy}{button})",
        Kind.MOUSE_DOWN: f"mouseDown({button[2:]})",
        Kind.MOUSE_UP: f"mouseUp({button[2:]})",
        Kind.TYPE: f"write({action.text!r})",
        Kind.PRESS: f"press({quoted})",
        Kind.KEY_DOWN: f"keyDown({quoted})",
        Kind.KEY_UP: f"keyUp({quoted})",
        Kind.HOTKEY: f"hotkey({quoted})",
    }
    if kind is Kind.SCROLL:
        turns = (("scroll", action.amount), ("hscroll", action.amount_x))
        lines = [f"pyautogui.{name}({amount}, {place})" for name, amount in turns if amount]
        return "\n".join(lines) or None
    if kind in calls:
        return f"pyautogui.{calls[kind]}"
    words = {Kind.ANS: f"ANS({action.text!r})", Kind.WAIT: f"time.sleep({action.seconds:g})"}
    return words.get(kind, str(kind)) if kind in (*words, Kind.DONE, Kind.FAIL) else None


def _write_computer13(action: Action, size: Size) -> str | None:
    point = {"x": action.x, "y": action.y}
    key, button = {"key": action.key}, {"button": action.button}
    plain: Mapping[Kind, tuple[str, Mapping[str, object]]] = {
        Kind.MOVE_TO: ("MOVE_TO", point),
        Kind.CLICK: ("CLICK", point),
        Kind.RIGHT_CLICK: ("RIGHT_CLICK", point),
        Kind.MIDDLE_CLICK: ("CLICK", {**point, "button": "middle"}),
        Kind.DOUBLE_CLICK: ("DOUBLE_CLICK", point),
        Kind.TRIPLE_CLICK: ("CLICK", {**point, "num_clicks": 3}),
        Kind.MOUSE_DOWN: ("MOUSE_DOWN", button),
        Kind.MOUSE_UP: ("MOUSE_UP", button),
        Kind.TYPE: ("TYPING", {"text": action.text}),
        Kind.PRESS: ("PRESS", key),
        Kind.KEY_DOWN: ("KEY_DOWN", key),
        Kind.KEY_UP: ("KEY_UP", key),
        Kind.HOTKEY: ("HOTKEY", {"keys": [*action.modifiers, action.key]}),
    }
    if action.kind in (Kind.WAIT, Kind.DONE, Kind.FAIL):
        return str(action.kind)
    if action.kind is Kind.DRAG_TO and action.button == "left":
        return json.dumps({"action_type": "DRAG_TO", "parameters": point})
    if action.kind is Kind.SCROLL:  # it has no point: the wheel turns where the pointer is
        turns = {"dx": action.amount_x, "dy": action.amount}
        move = {"action_type": "MOVE_TO", "parameters": point}
        return json.dumps([move, {"action_type": "SCROLL", "parameters": turns}])
    if action.kind not in plain:
        return None
    name, parameters = plain[action.kind]
    return json.dumps({"action_type": name, "parameters": parameters}, ensure_ascii=False)


def _write_ui_tars(action: Action, size: Size) -> str | None:
    x, y = _thousands(action, size)
    box = f"'<|box_start|>({x},{y})<|box_end|>'"
    keys = " ".join((*action.modifiers, action.key) if action.kind is Kind.HOTKEY else (action.key,))
    text = action.text.replace("\\", "\\\\").replace("'", "\\'").replace('"', '\\"').replace("\n", "\\n")
    calls = {
        Kind.CLICK: f"click(start_box={box})",
        Kind.DOUBLE_CLICK: f"left_double(start_box={box})",
        Kind.RIGHT_CLICK: f"right_single(start_box={box})",
        Kind.TYPE: f"type(content='{text}')",
        Kind.PRESS: f"hotkey(key='{keys}')",
        Kind.HOTKEY: f"hotkey(key='{keys}')",
        Kind.SCROLL: f"scroll(start_box={box}, direction='{_direction(action)}')",
        Kind.WAIT: "wait()",
        Kind.DONE: "finished()",
        Kind.ANS: f"finished(content='{text}')",
        Kind.FAIL: "call_user()",
    }
    return f"Action: {calls[action.kind]}" if action.kind in calls else None


def _write_os_atlas(action: Action, size: Size) -> str | None:
    x, y = _thousands(action, size)
    point = f"<point>[[{x}, {y}]]</point>"
    keys = "+".join((*action.modifiers, action.key) if action.kind is Kind.HOTKEY else (action.key,))
    calls = {
        Kind.CLICK: f"CLICK {point}",
        Kind.DOUBLE_CLICK: f"DOUBLE_CLICK {point}",
        Kind.RIGHT_CLICK: f"RIGHT_CLICK {point}",
        Kind.MOVE_TO: f"MOVE_TO {point}",
        Kind.TYPE: f"TYPE [{action.text}]",
        Kind.PRESS: "ENTER" if action.key == "enter" else f"HOTKEY [{keys}]",
        Kind.HOTKEY: f"HOTKEY [{keys}]",
        Kind.SCROLL: f"SCROLL [{_direction(action).upper()}]",
        Kind.WAIT: "WAIT",
        Kind.DONE: "COMPLETE",
        Kind.ANS: f"ANSWER [{action.text}]",
        Kind.FAIL: "IMPOSSIBLE",
    }
    return f"actions:\n{calls[action.kind]}" if action.kind in calls else None


def _direction(action: Action) -> str:
    """Where the page goes on: a wheel that turns up shows what is above."""
    if abs(action.amount_x) > abs(action.amount):
        return "right" if action.amount_x > 0 else "left"
    return "up" if action.amount > 0 else "down"


_OSWORLD = (
    "You operate a computer. Each message shows its screen. Reply with the next action as {}. Reply WAIT "
    "to wait, DONE when the task is done, FAIL when it cannot be done."
)
_UI_TARS = """You are a GUI agent. Each message shows the screen; reply with the next action.

Action: one of
click(start_box='<|box_start|>(x,y)<|box_end|>')
left_double(start_box='<|box_start|>(x,y)<|box_end|>')
right_single(start_box='<|box_start|>(x,y)<|box_end|>')
hotkey(key='ctrl c')
type(content='...') # a newline at the end of the content submits it
scroll(start_box='<|box_start|>(x,y)<|box_end|>', direction='down or up or right or left')
wait()
finished(content='...') # the content is the answer to a question
call_user() # the task cannot be done

Coordinates go from 0 to 1000."""
_OS_ATLAS = """You are in Executable Language Grounding mode: reply with the action that helps with the task.

Basic actions: CLICK <point>[[x, y]]</point>; TYPE [text]; SCROLL [UP, DOWN, LEFT or RIGHT].
Custom actions: DOUBLE_CLICK, RIGHT_CLICK and MOVE_TO with a point like CLICK's; ENTER; HOTKEY [ctrl+s]; WAIT;
ANSWER [text]; COMPLETE (the task is done); IMPOSSIBLE (it cannot be done).

Coordinates go from 0 to 1000."""
_AGUVIS = (
    "You are a GUI agent. You see the screen and perform pyautogui actions to complete the task. Coordinates "
    "go from 0 to 1. Also: wait(seconds), answer(text), terminate(status='success' or 'failure')."
)

DIALECTS: Mapping[str, Dialect] = {
    one.name: one
    for one in (
        Dialect(
            "pyautogui", _write_pyautogui, _OSWORLD.format("pyautogui code; ANS('text') answers a question")
        ),
        Dialect("computer13", _write_computer13, _OSWORLD.format("computer_13 JSON")),
        Dialect("ui-tars", _write_ui_tars, _UI_TARS),
        Dialect("os-atlas", _write_os_atlas, _OS_ATLAS),
        Dialect("aguvis", _write_aguvis, _AGUVIS),
    )
}
"""By name."""
