"""Keys, clicks, wheel and typing under the names that text dialects know, as actions."""

from __future__ import annotations

from collections.abc import Sequence

from sci_gym.errors import ActionError
from sci_gym.specs import BUTTONS, KEYS, MAX_TEXT_CHARS, MODIFIERS, Action, Kind

MAX_WHEEL_CLICKS = 20
"""The most wheel clicks of one action; a longer scroll is several."""

MAX_SCROLL_CLICKS = 100
"""The farthest scroll; a longer one is cut to it, since models ask for -1000 when they mean the end."""

_KEY_ALIASES = {
    "return": "enter", "\n": "enter", "\r": "enter", "\t": "tab", "\b": "backspace", " ": "space",
    "escape": "esc", "del": "delete", "pgup": "pageup", "pgdn": "pagedown", "apps": "menu",
    "prtsc": "printscreen", "prtscr": "printscreen", "prntscrn": "printscreen", "print": "printscreen",
    "control": "ctrl", "ctrlleft": "ctrl", "ctrlright": "ctrl", "altleft": "alt", "altright": "alt",
    "option": "alt", "shiftleft": "shift", "shiftright": "shift", "win": "super", "winleft": "super",
    "winright": "super", "meta": "super", "command": "super", "cmd": "super",
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "decimal": ".",
    **{f"num{digit}": str(digit) for digit in range(10)},
}  # fmt: skip
_BUTTON_ALIASES = {"primary": "left", "secondary": "right", "1": "left", "2": "middle", "3": "right"}
_LEFT_CLICKS = {1: Kind.CLICK, 2: Kind.DOUBLE_CLICK, 3: Kind.TRIPLE_CLICK}
_OTHER_CLICKS = {"left": Kind.CLICK, "middle": Kind.MIDDLE_CLICK, "right": Kind.RIGHT_CLICK}


def button_name(value: object) -> str:
    """Take a mouse button under any name that pyautogui knows."""
    button = str(value).lower()
    button = _BUTTON_ALIASES.get(button, button)
    if button not in BUTTONS:
        raise ActionError(f"button must be one of {', '.join(BUTTONS)}, not {value!r}")
    return button


def key_name(value: object) -> str:
    """Take a key under any name that pyautogui knows; a capital letter is its small one, without Shift."""
    if not isinstance(value, str):
        raise ActionError(f"a key must be a text, not {value!r}")
    key = _KEY_ALIASES.get(value.lower(), value.lower())
    if key not in KEYS:
        known = ", ".join(name for name in KEYS if len(name) > 1)
        raise ActionError(f"unknown key {value!r}; known are {known} and the characters of ASCII")
    return key


def clicks(point: tuple[int, int], button: str, count: int) -> list[Action]:
    """Click so many times; two or three left clicks are one action, so that they belong together."""
    x, y = point
    if button == "left" and count in _LEFT_CLICKS:
        return [Action(_LEFT_CLICKS[count], x=x, y=y)]
    return [Action(_OTHER_CLICKS[button], x=x, y=y)] * count


def wheel(point: tuple[int, int], up: float, right: float = 0) -> list[Action]:
    """Turn the wheel, in as many actions as it takes."""
    left = [round(max(-MAX_SCROLL_CLICKS, min(turn, MAX_SCROLL_CLICKS))) for turn in (up, right)]
    actions: list[Action] = []
    while any(left) or not actions:
        turns = [max(-MAX_WHEEL_CLICKS, min(turn, MAX_WHEEL_CLICKS)) for turn in left]
        actions.append(Action.scroll(*point, *turns))
        left = [turn - turned for turn, turned in zip(left, turns, strict=True)]
    return actions


def presses(key: object) -> list[Action]:
    """Press and release a key; a capital letter is pressed with Shift."""
    name = key_name(key)
    shifted = isinstance(key, str) and len(key) == 1 and key.isupper()
    return [Action.hotkey("shift", name) if shifted else Action.press(name)]


def chord(keys: Sequence[object]) -> list[Action]:
    """Press keys together: modifiers and one key are one action, others go down in turn and up in reverse."""
    names = list(dict.fromkeys(key_name(key) for key in keys))
    if not names:
        raise ActionError("a hotkey needs at least one key")
    if len(names) == 1:
        return [Action.press(names[0])]
    if set(names[:-1]) <= set(MODIFIERS):
        return [Action.hotkey(*names)]
    down = [Action(Kind.KEY_DOWN, key=name) for name in names]
    return down + [Action(Kind.KEY_UP, key=name) for name in reversed(names)]


def typing(text: object) -> list[Action]:
    """Type a text, in pieces that fit into one action."""
    if not isinstance(text, str):
        raise ActionError(f"the text to type must be a text, not {text!r}")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    starts = range(0, max(len(text), 1), MAX_TEXT_CHARS)
    return [Action.type(text[start : start + MAX_TEXT_CHARS]) for start in starts]
