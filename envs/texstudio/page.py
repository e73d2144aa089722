"""What stands on typeset pages, as a reader sees it: words, in points from the page's top left corner."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

_DASHES = str.maketrans(dict.fromkeys("−–—‐‑", "-"))
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})
_SAME_LINE = 0.5  # of a word's height: the middles of words on one line are nearer


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a page."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> float:
        """Its height on the page."""
        return (self.top + self.bottom) / 2


def plain(text: str) -> str:
    """Text without ligatures and typographic dashes and quotes, white space as single spaces."""
    folded = unicodedata.normalize("NFKC", text).translate(_DASHES).translate(_QUOTES)
    return " ".join(folded.split())


def words_of(pages: object) -> list[list[Word]]:
    """The words of each page; what is no page of `guest/typeset.py` gives none."""
    listed = pages if isinstance(pages, list) else []
    return [list(_words(page.get("words"))) for page in listed if isinstance(page, Mapping)]


def drawn_on(pages: object) -> int:
    """How many dark pixels belong to no word."""
    listed = pages if isinstance(pages, list) else []
    return sum(int(page.get("drawn", 0)) for page in listed if isinstance(page, Mapping))


def lines_of(pages: object) -> list[list[str]]:
    """The lines of all pages from top to bottom, each its words from left to right."""
    lines: list[list[str]] = []
    for words in words_of(pages):
        for line in _rows(words):
            lines.append([plain(word.text) for word in sorted(line, key=lambda word: word.left)])
    return lines


def text_of(pages: object) -> str:
    """The running text of all pages in reading order, hyphenated words still divided."""
    return plain(" ".join(word.text for words in words_of(pages) for word in words))


def count(text: str, wanted: str) -> int:
    """How often a phrase stands in a text, across hyphenation; a number never inside a longer one."""
    return sum(1 for _ in _phrase(wanted).finditer(text))


def place(text: str, wanted: str, start: int = 0) -> tuple[int, int] | None:
    """Where a phrase begins and ends first, from `start` on."""
    found = _phrase(wanted).search(text, start)
    return found.span() if found else None


def _phrase(wanted: str) -> re.Pattern[str]:
    parts = []
    for token in plain(wanted).split():
        letters = [re.escape(letter) for letter in token]
        parts.append(r"(?:-\s)?".join(letters) if token.isalpha() else r"\s?".join(letters))
    body = r"\s*".join(parts)
    return re.compile(rf"(?<![\w])(?<!\d[.,]){body}(?![\w])(?![.,]\d)", re.IGNORECASE)


def _words(listed: object) -> Iterator[Word]:
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, Sequence) and len(one) == 5 and isinstance(one[0], str):
            yield Word(one[0], *(float(number) for number in one[1:]))


def _rows(words: Iterable[Word]) -> list[list[Word]]:
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda word: word.middle):
        last = rows[-1][-1] if rows else None
        if last is not None and word.middle - last.middle < _SAME_LINE * (word.bottom - word.top):
            rows[-1].append(word)
        else:
            rows.append([word])
    return rows


def has_row(line: Sequence[str], cells: Sequence[str]) -> bool:
    """Whether a line is a row of a table with these cells in order, and nothing else."""
    return "".join(line).replace(" ", "").casefold() == _squeezed(cells)


def _squeezed(cells: Sequence[str]) -> str:
    return "".join(plain(cell).replace(" ", "") for cell in cells).casefold()
