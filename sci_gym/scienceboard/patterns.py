r"""Regular expressions of task files: searched for in time that grows with the text alone.

Python's own `re` can take forever on a text that was made for it, and what is searched comes from a guest. So
these are parsed into a program of a few instructions, which is run on all ways through the text at once
(Thompson 1968). Known are single characters, `.`, classes, escapes such as `\d`, groups, `|`, repeats, `^`
and `$`; what needs memory or a look around is refused. Repeats that are lazy match the same texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sci_gym.errors import ConfigurationError

MAX_INSTRUCTIONS = 2000
MAX_DEPTH = 20
_ATOM = re.compile(
    r"\\[dDsSwWnrtfv]|\\[^A-Za-z0-9]|"
    r"\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[(){*+?|^$]|\{(?!\d*,\d*\}|\d+\})",
    re.DOTALL,
)
_REPEAT = re.compile(r"(?:([*+?])|\{(?!\})(\d{0,4})(?:(,)(\d{0,4}))?\})\??")
_GROUP = re.compile(r"\((?:\?:|(?!\?))")


class PatternRefusedError(ConfigurationError):
    """A text is no regular expression of the known forms; the message says from where on."""


@dataclass(frozen=True, slots=True)
class _Do:
    """An instruction: takes a character, or holds at an anchor, or goes on elsewhere without either.

    Attributes:
        takes: matches the one character.
        anchor: "^" or "$".
        then: how many instructions further; back where negative.
    """

    takes: re.Pattern[str] | None = None
    anchor: str = ""
    then: tuple[int, ...] = (1,)


class Pattern:
    """A regular expression."""

    def __init__(self, text: str) -> None:
        """Parse it.

        Raises:
            PatternRefusedError: it is none, or has a form that is not known.
        """
        self.text = text
        self._program = _Parser(text).program()

    def found_in(self, text: str) -> bool:
        """Whether some part of a text matches."""
        states: set[int] = set()
        for place in range(len(text) + 1):
            states = self._closed({0, *states}, text, place)
            if len(self._program) in states:
                return True
            states = {state + 1 for state in states if self._takes(state, text[place : place + 1])}
        return False

    def _takes(self, state: int, char: str) -> bool:
        takes = self._program[state].takes
        return takes is not None and takes.fullmatch(char) is not None

    def _closed(self, states: Iterable[int], text: str, place: int) -> set[int]:
        """States, and those that they lead to without taking a character."""
        found: set[int] = set()
        left = list(states)
        while left:
            state = left.pop()
            if state in found:
                continue
            found.add(state)
            do = self._program[state] if state < len(self._program) else None
            if do is not None and do.takes is None and _holds(do.anchor, text, place):
                left += [state + step for step in do.then]
        return found


def _holds(anchor: str, text: str, place: int) -> bool:
    if anchor == "$":
        return place == len(text) or (place == len(text) - 1 and text.endswith("\n"))
    return anchor == "" or place == 0


class _Parser:
    """Reads a pattern; each part becomes instructions that lead to the one behind them."""

    def __init__(self, text: str) -> None:
        self._text, self._place, self._depth = text, 0, 0

    def program(self) -> list[_Do]:
        found = self._choice()
        if self._place < len(self._text):
            raise self._refused()
        return found

    def _choice(self) -> list[_Do]:
        found = self._series()
        while self._text.startswith("|", self._place):
            self._place += 1
            other = self._series()
            found = [
                _Do(then=(1, len(found) + 2)), *found, _Do(then=(len(other) + 1,)), *other,
            ]  # fmt: skip
        return found

    def _series(self) -> list[_Do]:
        found: list[_Do] = []
        while self._place < len(self._text) and self._text[self._place] not in "|)":
            found += self._repeated(self._part())
            if len(found) > MAX_INSTRUCTIONS:
                raise PatternRefusedError(f"pattern: more than {MAX_INSTRUCTIONS} steps with its repeats.")
        return found

    def _part(self) -> list[_Do]:
        char = self._text[self._place]
        if char in "^$":
            self._place += 1
            return [_Do(anchor=char)]
        if opening := _GROUP.match(self._text, self._place):
            return self._group(opening.end())
        atom = _ATOM.match(self._text, self._place)
        if atom is None:
            raise self._refused()
        try:
            takes = re.compile(atom[0])
        except re.error as exc:
            raise self._refused() from exc
        self._place = atom.end()
        return [_Do(takes=takes)]

    def _group(self, start: int) -> list[_Do]:
        self._place, self._depth = start, self._depth + 1
        if self._depth > MAX_DEPTH:
            raise self._refused()
        found = self._choice()
        if not self._text.startswith(")", self._place):
            raise self._refused()
        self._place, self._depth = self._place + 1, self._depth - 1
        return found

    def _repeated(self, part: list[_Do]) -> list[_Do]:
        found = _REPEAT.match(self._text, self._place)
        if found is None:
            return part
        self._place = found.end()
        least, most = _times(found)
        if (most or least or 1) * len(part) > MAX_INSTRUCTIONS:
            raise PatternRefusedError(f"pattern: more than {MAX_INSTRUCTIONS} steps with its repeats.")
        maybe = [_Do(then=(1, len(part) + 1)), *part]
        endless = [_Do(then=(1, len(part) + 2)), *part, _Do(then=(-len(part) - 1,))]
        return part * least + (endless if most is None else maybe * (most - least))

    def _refused(self) -> PatternRefusedError:
        return PatternRefusedError(f"pattern: {self._text[self._place :]!r} is of no form that is supported.")


def _times(found: re.Match[str]) -> tuple[int, int | None]:
    """How often at least, and at most; None for without end."""
    sign, least, comma, most = found.groups()
    if sign:
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
    if not comma:
        return int(least), int(least)
    return int(least or 0), int(most) if most else None
