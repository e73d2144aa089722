"""The action space and the observation space, of standard Gymnasium spaces."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from sci_gym.errors import ActionError, UnknownNameError
from sci_gym.observation import MAX_TEXT_CHARS as MAX_TREE_CHARS
from sci_gym.specs import (
    BUTTONS,
    CLI_KINDS,
    KEYS,
    LANGUAGES,
    MAX_TEXT_CHARS,
    MODIFIERS,
    POINT_KINDS,
    STOP_KINDS,
    Action,
    Kind,
)

OBSERVATIONS = {
    "screenshot": ("screenshot",),
    "a11y": ("a11y",),
    "screenshot+a11y": ("screenshot", "a11y"),
    "som": ("som", "marks"),
    "text": ("text",),
}
MAX_WAIT_S = 60
MAX_WHEEL_CLICKS = 20
_MAX_INSTRUCTION_CHARS = 4096
_NUMBERS = ("x", "y", "dx", "dy", "amount", "amount_x")
_ALLOWED_CONTROLS = "\n\t"


class _AllCharacters(Sequence[str]):
    """Every character by its code point, as Gymnasium indexes the characters of a text."""

    def __len__(self) -> int:
        return sys.maxunicode + 1

    def __getitem__(self, index: Any) -> Any:
        return chr(index)


class UnicodeText(spaces.Text):
    """Text of any characters but NUL, other control characters and lone surrogates.

    It samples printable ASCII. Flattened, and in the shared memory of stock vectors, a character is its code
    point.
    """

    def __init__(self, max_length: int) -> None:
        """Allow up to `max_length` characters."""
        super().__init__(max_length, min_length=0, charset="".join(map(chr, range(0x20, 0x7F))))

    def contains(self, x: Any) -> bool:
        """Whether `x` is such a text."""
        return isinstance(x, str) and len(x) <= self.max_length and bad_character(x) is None

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Printable ASCII of random length."""
        drawn = spaces.Text(self.max_length, min_length=0, charset=self.characters)
        drawn._np_random = self.np_random
        return drawn.sample(mask, probability)

    @property
    def character_set(self) -> Any:
        """All characters; only their number and membership count."""
        return _AllCharacters()

    @property
    def character_list(self) -> Any:
        """All characters, by code point."""
        return _AllCharacters()

    def character_index(self, char: str) -> np.int32:
        """The code point."""
        return np.int32(ord(char))

    def __eq__(self, other: object) -> bool:
        """Equal to another one of the same length."""
        return isinstance(other, UnicodeText) and self.max_length == other.max_length

    def __repr__(self) -> str:
        """Its name and length."""
        return f"UnicodeText({self.max_length})"


def bad_character(text: str) -> str | None:
    """The first character that no desktop can be given, or None."""
    for character in text:
        control = ord(character) < 0x20 or ord(character) == 0x7F
        if (control and character not in _ALLOWED_CONTROLS) or 0xD800 <= ord(character) <= 0xDFFF:
            return character
    return None


def kinds_for(interface: str) -> tuple[Kind, ...]:
    """The action kinds of an interface: "gui", "cli" or "hybrid"."""
    cli = {*CLI_KINDS, *STOP_KINDS, Kind.WAIT}
    choices: dict[str, Collection[Kind]] = {
        "gui": [kind for kind in Kind if kind not in CLI_KINDS],
        "cli": [kind for kind in Kind if kind in cli],
        "hybrid": list(Kind),
    }
    if interface not in choices:
        raise UnknownNameError("interface", interface, choices)
    return tuple(choices[interface])


def make_action_space(kinds: Sequence[Kind], width: int, height: int) -> spaces.Dict:
    """The space of one action; every sample of it can be stepped.

    Keys, all integers but the text: `kind` (index into `kinds`), `x`, `y` (pixels), `dx`, `dy` (pixels),
    `button` (index into BUTTONS), `amount`, `amount_x` (wheel clicks), `key` (index into KEYS), `modifiers`
    (a bit each of MODIFIERS), `text`, `language` (index into LANGUAGES), `seconds`.
    """

    def whole(low: int, high: int) -> spaces.Discrete:
        return spaces.Discrete(high - low + 1, start=low)

    return spaces.Dict(
        {
            "kind": spaces.Discrete(len(kinds)),
            "x": whole(0, width - 1),
            "y": whole(0, height - 1),
            "dx": whole(-(width - 1), width - 1),
            "dy": whole(-(height - 1), height - 1),
            "button": spaces.Discrete(len(BUTTONS)),
            "amount": whole(-MAX_WHEEL_CLICKS, MAX_WHEEL_CLICKS),
            "amount_x": whole(-MAX_WHEEL_CLICKS, MAX_WHEEL_CLICKS),
            "key": spaces.Discrete(len(KEYS)),
            "modifiers": spaces.MultiBinary(len(MODIFIERS)),
            "text": UnicodeText(MAX_TEXT_CHARS),
            "language": spaces.Discrete(len(LANGUAGES)),
            "seconds": whole(0, MAX_WAIT_S),
        }
    )


def make_observation_space(observation: str, width: int, height: int) -> spaces.Dict:
    """The space of observations of a kind in `OBSERVATIONS`, the instruction always with them."""
    if observation not in OBSERVATIONS:
        raise UnknownNameError("observation", observation, OBSERVATIONS)
    pixels = spaces.Box(0, 255, (height, width, 3), np.uint8)
    each: dict[str, spaces.Space[Any]] = {
        "screenshot": pixels,
        "som": pixels,
        "a11y": UnicodeText(MAX_TREE_CHARS),
        "marks": UnicodeText(MAX_TREE_CHARS),
        "text": UnicodeText(MAX_TREE_CHARS),
    }
    chosen = {key: each[key] for key in OBSERVATIONS[observation]}
    return spaces.Dict({**chosen, "instruction": UnicodeText(_MAX_INSTRUCTION_CHARS)})


def to_action(element: Action | Mapping[str, Any], kinds: Sequence[Kind], space: spaces.Dict) -> Action:
    """An element of the action space, or an Action, as a valid Action.

    Raises:
        ActionError: it is outside the space; the message names the field and the value.
    """
    if isinstance(element, Action):
        _check(element, kinds, space)
        return element
    if not isinstance(element, Mapping) or set(element) != set(space):
        keys = sorted(element) if isinstance(element, Mapping) else type(element).__name__
        raise ActionError(f"action: must be an Action or a dict with the keys {sorted(space)}, not {keys}")
    for key, value in element.items():
        if not space[key].contains(value):
            raise ActionError(f"action.{key}: {value!r} is not in {space[key]}")
    numbers = {name: int(element[name]) for name in _NUMBERS}
    return Action(
        kinds[int(element["kind"])],
        **numbers,
        button=BUTTONS[int(element["button"])],
        key=KEYS[int(element["key"])],
        modifiers=tuple(name for name, bit in zip(MODIFIERS, element["modifiers"], strict=True) if bit),
        text=element["text"],
        language=LANGUAGES[int(element["language"])],
        seconds=float(element["seconds"]),
    )


def from_action(action: Action, kinds: Sequence[Kind]) -> dict[str, Any]:
    """An Action as an element of the action space, for buffers and data sets of stock Gymnasium."""
    return {
        "kind": np.int64(kinds.index(action.kind)),
        **{name: np.int64(getattr(action, name)) for name in _NUMBERS},
        "button": np.int64(BUTTONS.index(action.button)),
        "key": np.int64(KEYS.index(action.key)),
        "modifiers": np.array([name in action.modifiers for name in MODIFIERS], np.int8),
        "text": action.text,
        "language": np.int64(LANGUAGES.index(action.language)),
        "seconds": np.int64(round(action.seconds)),
    }


def _check(action: Action, kinds: Sequence[Kind], space: spaces.Dict) -> None:
    """Refuse an Action whose fields that count are outside the space."""
    if action.kind not in kinds:
        raise ActionError(f"action.kind: {action.kind} is not allowed here; allowed are {', '.join(kinds)}")
    width, height = (int(space[key].n) for key in ("x", "y"))  # type: ignore[attr-defined]
    if action.kind in POINT_KINDS and not (0 <= action.x < width and 0 <= action.y < height):
        raise ActionError(
            f"action.x, action.y: ({action.x}, {action.y}) is outside the screen of {width}x{height} pixels"
        )
    bad = bad_character(action.text)
    if bad is not None:
        raise ActionError(
            f"action.text: U+{ord(bad):04X} at {action.text.index(bad)} cannot be sent; leave it out"
        )
    choices = (("button", BUTTONS), ("key", KEYS), ("language", LANGUAGES))
    for name, allowed in choices:
        if getattr(action, name) not in allowed:
            raise ActionError(f"action.{name}: {getattr(action, name)!r} is not one of {', '.join(allowed)}")
    for modifier in action.modifiers:
        if modifier not in MODIFIERS:
            raise ActionError(f"action.modifiers: {modifier!r} is not one of {', '.join(MODIFIERS)}")
    bounds = (("amount", MAX_WHEEL_CLICKS), ("amount_x", MAX_WHEEL_CLICKS), ("dx", width), ("dy", height))
    for name, most in bounds:
        if abs(getattr(action, name)) > most:
            raise ActionError(f"action.{name}: {getattr(action, name)} is beyond {most}")
    if not 0 <= action.seconds <= MAX_WAIT_S:
        raise ActionError(f"action.seconds: {action.seconds} is not in 0 to {MAX_WAIT_S}")
    if len(action.text) > MAX_TEXT_CHARS:
        raise ActionError(
            f"action.text: {len(action.text)} characters, at most {MAX_TEXT_CHARS}; send it in parts"
        )
