"""What a policy does: action kinds, keys, and the action itself. Units: pixels, seconds."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Kind(enum.StrEnum):
    """What an action does (the union of pyautogui, computer_13 and ScienceBoard's universal actions)."""

    MOVE_TO = "moveTo"
    MOVE_REL = "moveRel"
    DRAG_TO = "dragTo"
    DRAG_REL = "dragRel"
    CLICK = "click"
    RIGHT_CLICK = "rightClick"
    MIDDLE_CLICK = "middleClick"
    DOUBLE_CLICK = "doubleClick"
    TRIPLE_CLICK = "tripleClick"
    MOUSE_DOWN = "mouseDown"
    MOUSE_UP = "mouseUp"
    SCROLL = "scroll"
    TYPE = "type"
    PRESS = "press"
    KEY_DOWN = "keyDown"
    KEY_UP = "keyUp"
    HOTKEY = "hotkey"
    WAIT = "WAIT"
    CODE = "CODE"
    API = "API"
    ANS = "ANS"
    DONE = "DONE"
    FAIL = "FAIL"


STOP_KINDS = frozenset({Kind.ANS, Kind.DONE, Kind.FAIL})
CLI_KINDS = frozenset({Kind.CODE, Kind.API})
POINT_KINDS = frozenset(
    {
        Kind.MOVE_TO,
        Kind.DRAG_TO,
        Kind.CLICK,
        Kind.RIGHT_CLICK,
        Kind.MIDDLE_CLICK,
        Kind.DOUBLE_CLICK,
        Kind.TRIPLE_CLICK,
        Kind.SCROLL,
    }
)
BUTTONS = ("left", "middle", "right")
LANGUAGES = ("shell", "python", "app")
MODIFIERS = ("ctrl", "alt", "shift", "super")
NAMED_KEYS = (
    "enter", "tab", "esc", "backspace", "delete", "insert", "home", "end", "pageup", "pagedown",
    "up", "down", "left", "right", "space", "menu", "printscreen", "pause", "capslock", "numlock",
    "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12",
)  # fmt: skip
KEYS = (*NAMED_KEYS, *MODIFIERS, *(chr(code) for code in range(0x21, 0x7F) if not chr(code).isupper()))
"""Every key that `press`, `keyDown`, `keyUp` and `hotkey` know: named keys, modifiers, printable ASCII."""

MAX_TEXT_CHARS = 8192


@dataclass(frozen=True, slots=True)
class Action:
    """One action, the readable twin of an element of the action space.

    Attributes:
        kind: what to do; it says which of the other fields count.
        x: column in pixels, of `moveTo`, `dragTo`, the clicks and `scroll`.
        y: row in pixels.
        dx: columns to move by in pixels, of `moveRel` and `dragRel`.
        dy: rows to move by in pixels.
        button: "left", "middle" or "right", of the drags, `mouseDown` and `mouseUp`.
        amount: wheel clicks of `scroll`, up positive.
        amount_x: sideways wheel clicks of `scroll`, right positive.
        key: one of `KEYS`, of `press`, `keyDown`, `keyUp` and `hotkey`.
        modifiers: held while `hotkey` presses `key`; some of `MODIFIERS`.
        text: what to `type`; the source of CODE; the call of API as JSON; the answer of ANS.
        language: of CODE: "shell", "python" or "app" (the program's own command language).
        seconds: the longest that WAIT waits for the screen to change.
    """

    kind: Kind
    x: int = 0
    y: int = 0
    dx: int = 0
    dy: int = 0
    button: str = "left"
    amount: int = 0
    amount_x: int = 0
    key: str = "enter"
    modifiers: tuple[str, ...] = ()
    text: str = ""
    language: str = "shell"
    seconds: float = 1.0

    @classmethod
    def move_to(cls, x: int, y: int) -> Action:
        """Move the pointer to (x, y)."""
        return cls(Kind.MOVE_TO, x=x, y=y)

    @classmethod
    def drag_to(cls, x: int, y: int, button: str = "left") -> Action:
        """Hold a button from where the pointer is to (x, y)."""
        return cls(Kind.DRAG_TO, x=x, y=y, button=button)

    @classmethod
    def click(cls, x: int, y: int) -> Action:
        """Click the left button at (x, y)."""
        return cls(Kind.CLICK, x=x, y=y)

    @classmethod
    def right_click(cls, x: int, y: int) -> Action:
        """Click the right button at (x, y)."""
        return cls(Kind.RIGHT_CLICK, x=x, y=y)

    @classmethod
    def double_click(cls, x: int, y: int) -> Action:
        """Click the left button twice at (x, y)."""
        return cls(Kind.DOUBLE_CLICK, x=x, y=y)

    @classmethod
    def scroll(cls, x: int, y: int, amount: int, amount_x: int = 0) -> Action:
        """Turn the wheel at (x, y): `amount` clicks up, `amount_x` clicks to the right."""
        return cls(Kind.SCROLL, x=x, y=y, amount=amount, amount_x=amount_x)

    @classmethod
    def type(cls, text: str) -> Action:
        """Type a text; a newline is the Return key."""
        return cls(Kind.TYPE, text=text)

    @classmethod
    def press(cls, key: str) -> Action:
        """Press and release one of `KEYS`."""
        return cls(Kind.PRESS, key=key)

    @classmethod
    def hotkey(cls, *keys: str) -> Action:
        """Press a key while modifiers are held: `hotkey("ctrl", "shift", "s")`."""
        return cls(Kind.HOTKEY, key=keys[-1], modifiers=tuple(keys[:-1]))

    @classmethod
    def wait(cls, seconds: float = 1.0) -> Action:
        """Wait until the screen changes and settles again, at most `seconds`."""
        return cls(Kind.WAIT, seconds=seconds)

    @classmethod
    def code(cls, text: str, language: str = "shell") -> Action:
        """Run code in the guest, never on the host."""
        return cls(Kind.CODE, text=text, language=language)

    @classmethod
    def api(cls, text: str) -> Action:
        """Call one of the machine's functions: `{"name": "clipboard.get", "args": {}}`."""
        return cls(Kind.API, text=text)

    @classmethod
    def answer(cls, text: str) -> Action:
        """Give the answer to a question, and end the episode."""
        return cls(Kind.ANS, text=text)

    @classmethod
    def done(cls) -> Action:
        """Say that the task is done, and end the episode."""
        return cls(Kind.DONE)

    @classmethod
    def fail(cls) -> Action:
        """Say that the task cannot be done, and end the episode."""
        return cls(Kind.FAIL)
