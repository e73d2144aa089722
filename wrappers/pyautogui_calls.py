"""The calls of pyautogui code, each with its parameters and what it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sci_gym.errors import ActionError
from sci_gym.specs import Action, Kind
from sci_gym.wrappers.inputs import button_name, chord, clicks, key_name, presses, typing, wheel
from sci_gym.wrappers.screen import Screen, as_number

MAX_REPEATS = 100
"""The most `clicks` or `presses` of one call."""

MAX_WAIT_S = 60.0
"""The longest `time.sleep`; a longer one is cut to it."""

Arguments = dict[str, Any]
Handler = Callable[[Screen, Arguments], list[Action]]


def _count(given: Arguments, name: str) -> int:
    number = as_number(name, given.get(name, 1))
    if number != int(number) or not 1 <= number <= MAX_REPEATS:
        raise ActionError(f"{name} must be a whole number from 1 to {MAX_REPEATS}, not {number:g}")
    return int(number)


def _clicker(button: str = "left", count: int | None = None) -> Handler:
    def click(screen: Screen, given: Arguments) -> list[Action]:
        point = screen.point(given.get("x"), given.get("y"))
        return clicks(point, button_name(given.get("button", button)), count or _count(given, "clicks"))

    return click


def _button(kind: Kind) -> Handler:
    def act(screen: Screen, given: Arguments) -> list[Action]:
        action = Action(kind, button=button_name(given.get("button", "left")))
        if given.get("x") is None and given.get("y") is None:
            return [action]
        return [Action.move_to(*screen.point(given.get("x"), given.get("y"))), action]

    return act


def _move(screen: Screen, given: Arguments) -> list[Action]:
    return [Action.move_to(*screen.point(given.get("x"), given.get("y")))]


def _drag(screen: Screen, given: Arguments) -> list[Action]:
    point = screen.point(given.get("x"), given.get("y"))
    return [Action.drag_to(*point, button=button_name(given.get("button", "left")))]


def _relative(kind: Kind) -> Handler:
    def act(screen: Screen, given: Arguments) -> list[Action]:
        dx, dy = screen.offset(given.get("dx") or 0, given.get("dy") or 0)
        return [Action(kind, dx=dx, dy=dy, button=button_name(given.get("button", "left")))]

    return act


def _wheel(sideways: bool) -> Handler:
    def act(screen: Screen, given: Arguments) -> list[Action]:
        point = screen.point(given.get("x"), given.get("y"))
        amount = as_number("clicks", given.get("clicks"))
        return wheel(point, 0, amount) if sideways else wheel(point, amount)

    return act


def _write(screen: Screen, given: Arguments) -> list[Action]:
    message = given.get("message")
    if isinstance(message, tuple):
        return [action for key in message for action in presses(key)]
    return typing(message)


def _press(screen: Screen, given: Arguments) -> list[Action]:
    keys = given.get("keys")
    parts = keys if isinstance(keys, tuple) else (keys,)
    return [action for key in parts for action in presses(key)] * _count(given, "presses")


def _key(kind: Kind) -> Handler:
    return lambda screen, given: [Action(kind, key=key_name(given.get("key")))]


def _hotkey(screen: Screen, given: Arguments) -> list[Action]:
    keys = given.get("*", ())
    return chord(keys[0] if keys and isinstance(keys[0], tuple) else keys)


def _sleep(screen: Screen, given: Arguments) -> list[Action]:
    seconds = as_number("seconds", given.get("seconds"))
    return [Action.wait(max(0.0, min(seconds, MAX_WAIT_S)))]


def _word(action: Action) -> Handler:
    return lambda screen, given: [action]


def _answer(screen: Screen, given: Arguments) -> list[Action]:
    return [Action.answer(str(given.get("text", "")))]


_XY = ("x", "y")
_OFFSET = ("dx", "dy", "duration", "tween", "button")
_MOVE_REL = (_OFFSET[:4], _relative(Kind.MOVE_REL))
_DRAG_REL = (_OFFSET, _relative(Kind.DRAG_REL))
_BUTTON = (*_XY, "button", "duration", "tween")
_MANY = (*_XY, "interval", "button", "duration", "tween")
_ONE = (*_XY, "interval", "duration", "tween")
_WHEEL = ("clicks", *_XY)
_TEXT = ("message", "interval")

WORDS = {"WAIT": Action.wait(), "DONE": Action.done(), "FAIL": Action.fail()}
"""Actions that stand as a word of their own."""

TIMING = frozenset({"interval", "duration", "tween", "logScreenshot", "mouseDownUp", "pause", "_pause"})
"""Keyword arguments that are read over: the guest paces its input itself."""

ALIASES = {"xOffset": "dx", "yOffset": "dy", "secs": "seconds"}
"""Other names of parameters."""

CALLS: dict[str, tuple[tuple[str, ...], Handler]] = {
    "pyautogui.click": ((*_XY, "clicks", "interval", "button", "duration", "tween"), _clicker()),
    "pyautogui.leftClick": (_ONE, _clicker("left", 1)),
    "pyautogui.rightClick": (_ONE, _clicker("right", 1)),
    "pyautogui.middleClick": (_ONE, _clicker("middle", 1)),
    "pyautogui.doubleClick": (_MANY, _clicker("left", 2)),
    "pyautogui.tripleClick": (_MANY, _clicker("left", 3)),
    "pyautogui.moveTo": ((*_XY, "duration", "tween"), _move),
    "pyautogui.moveRel": _MOVE_REL,
    "pyautogui.move": _MOVE_REL,
    "pyautogui.dragTo": ((*_XY, "duration", "tween", "button"), _drag),
    "pyautogui.dragRel": _DRAG_REL,
    "pyautogui.drag": _DRAG_REL,
    "pyautogui.mouseDown": (_BUTTON, _button(Kind.MOUSE_DOWN)),
    "pyautogui.mouseUp": (_BUTTON, _button(Kind.MOUSE_UP)),
    "pyautogui.scroll": (_WHEEL, _wheel(sideways=False)),
    "pyautogui.vscroll": (_WHEEL, _wheel(sideways=False)),
    "pyautogui.hscroll": (_WHEEL, _wheel(sideways=True)),
    "pyautogui.write": (_TEXT, _write),
    "pyautogui.typewrite": (_TEXT, _write),
    "pyautogui.press": (("keys", "presses", "interval"), _press),
    "pyautogui.keyDown": (("key",), _key(Kind.KEY_DOWN)),
    "pyautogui.keyUp": (("key",), _key(Kind.KEY_UP)),
    "pyautogui.hotkey": (("*",), _hotkey),
    "pyautogui.sleep": (("seconds",), _sleep),
    "time.sleep": (("seconds",), _sleep),
    "ANS": (("text",), _answer),
    **{word: ((), _word(action)) for word, action in WORDS.items()},
}
"""Function name to its parameters in order ("*": any number) and its handler."""
