"""Which keycode types which character, with spare keycodes bound to what the keymap lacks."""

from __future__ import annotations

import unicodedata
from collections import OrderedDict
from typing import Any, Iterable, NamedTuple

from Xlib import XK

from sci_gym_vm_agent.errors import InvalidArgument

UNICODE_KEYSYM = 0x01000000
VENDOR_KEYSYMS = 0x10000000  # media keys, whose keycodes are free for text
CONTROL_KEYSYMS = {"\n": "Return", "\r": "Return", "\t": "Tab", "\b": "BackSpace", "\x1b": "Escape"}


class Stroke(NamedTuple):
    """A keycode, and whether Shift is held for it."""

    keycode: int
    shift: bool


def keysym_of(character: str) -> int:
    """Return the X keysym of one character (X11 protocol, appendix A: Latin-1 as is, else Unicode)."""
    if character in CONTROL_KEYSYMS:
        return int(XK.string_to_keysym(CONTROL_KEYSYMS[character]))
    code = ord(character)
    if unicodedata.category(character) in ("Cc", "Cs"):
        raise InvalidArgument(
            f"input.text: U+{code:04X} cannot be typed; use \\n, \\t or printable characters"
        )
    if 0x20 <= code <= 0x7E or 0xA0 <= code <= 0xFF:
        return code
    return UNICODE_KEYSYM | code


def keysym_named(name: str) -> int:
    """Return the keysym of an X keysym name such as "Control_L", or of a single character."""
    if len(name) == 1:
        return keysym_of(name)
    keysym = int(XK.string_to_keysym(name))
    if keysym == 0:
        raise InvalidArgument(f"input.keys: {name[:40]!r} is no X keysym name")
    return keysym


class Keyboard:
    """The display's keymap.

    A character without a key is bound to a spare keycode. The binding stays until the spare is needed again,
    since a program reads the keymap only when it handles the key event.
    """

    def __init__(self, display: Any) -> None:
        """Read the keymap of a display."""
        self._display = display
        self._strokes: dict[int, Stroke] = {}
        self._spares: OrderedDict[int, int | None] = OrderedDict()
        first = display.display.info.min_keycode
        rows = display.get_keyboard_mapping(first, display.display.info.max_keycode - first + 1)
        self._columns = len(rows[0])
        for keycode, row in enumerate(rows, start=first):
            if all(keysym == 0 or keysym >= VENDOR_KEYSYMS for keysym in row):
                self._spares[keycode] = None
                continue
            for shift, keysym in enumerate(row[:2]):
                if keysym:
                    self._strokes.setdefault(keysym, Stroke(keycode, bool(shift)))
        self.shift = self._strokes[XK.XK_Shift_L].keycode

    @property
    def capacity(self) -> int:
        """How many different characters outside the keymap can have a key at the same time."""
        return len(self._spares)

    def bind(self, keysyms: Iterable[int]) -> list[Stroke]:
        """Return a stroke for each keysym, after binding spare keycodes to those that have none."""
        wanted = list(keysyms)
        for keysym in wanted:
            keycode = self._strokes[keysym].keycode if keysym in self._strokes else self._take_spare(keysym)
            if keycode in self._spares:
                self._spares.move_to_end(keycode)
        self._display.sync()
        return [self._strokes[keysym] for keysym in wanted]

    def _take_spare(self, keysym: int) -> int:
        keycode, previous = next(iter(self._spares.items()))
        if previous is not None:
            del self._strokes[previous]
        # Both levels alike, so that a held Shift or Caps Lock does not matter.
        self._display.change_keyboard_mapping(keycode, [(keysym,) * self._columns])
        self._spares[keycode] = keysym
        self._strokes[keysym] = Stroke(keycode, False)
        return keycode
