"""Where in a task file something is wrong: a path of keys, and the line that it is on."""

from __future__ import annotations

import re
from pathlib import Path

from sci_gym.errors import TaskFileError

KeyPath = tuple[str | int, ...]
"""Keys and indices that lead to a value of the document, such as `("node", 0, "goal")`."""


_OPAQUE = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|' r"'''.*?'''|" r'"(?:[^"\\\n]|\\.)*"|' r"'[^'\n]*'|#[^\n]*", re.DOTALL
)
_HEADER = re.compile(r"^[ \t]*\[\[?[ \t]*([\w.-]+)[ \t]*\]\]?[ \t]*$", re.MULTILINE)
_KEY = re.compile(r"^[ \t]*[\w.-]+[ \t]*=", re.MULTILINE)


class FieldError(Exception):
    """What is wrong at a path of the document, before its line is known."""

    def __init__(self, path: KeyPath, message: str) -> None:
        """Take the path of what is wrong."""
        super().__init__(message)
        self.path = path

    def located(self, file: Path, source: str) -> TaskFileError:
        """The error with its place in the file, whose text is `source`."""
        return TaskFileError(file, Locator(source).line(self.path), _dotted(self.path), str(self))


def _dotted(path: KeyPath) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).lstrip(".") or "file"


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " " if found[0].startswith("#") else "~", found[0])


class Locator:
    """Finds the line of a path in TOML source: narrows a region of the text, part by part."""

    def __init__(self, source: str) -> None:
        """Start with the whole source."""
        self._text = _OPAQUE.sub(_blank, source)
        self._start, self._end = 0, len(self._text)
        self._table: str | None = ""  # dotted name of the region's table, None inside a value

    def line(self, path: KeyPath) -> int:
        """The line, from 1, of a path, or of as much of it as is in the source."""
        for part in path:
            narrowed = self._element(part) if isinstance(part, int) else self._header(part) or self._key(part)
            if not narrowed:
                break
        return self._text.count("\n", 0, self._start) + 1

    def _header(self, part: str) -> bool:
        if self._table is None:
            return False
        name = f"{self._table}.{part}".lstrip(".")
        headers = [found for found in self._headers() if f"{found[1]}.".startswith(f"{name}.")]
        if headers:
            self._start, self._table = headers[0].start(), name
        return bool(headers)

    def _headers(self) -> list[re.Match[str]]:
        return list(_HEADER.finditer(self._text, self._start, self._end))

    def _element(self, index: int) -> bool:
        if self._table is None:
            return self._item(index)
        headers = self._headers()
        own = [place for place, found in enumerate(headers) if found[1] == self._table]
        if index >= len(own):
            return False
        self._start = headers[own[index]].start()
        later = headers[own[index] + 1 :]
        others = (found for found in later if not found[1].startswith(f"{self._table}."))
        self._end = next((found.start() for found in others), self._end)
        return True

    def _key(self, part: str) -> bool:
        inline = self._table is None
        first = (_KEY if inline else _HEADER).match(self._text, self._start) if self._table != "" else None
        start = first.end() if first else self._start
        header = _HEADER.search(self._text, start, self._end)
        end = header.start() if header else self._end
        prefix, flags = (r"(?<![\w.-])", 0) if inline else (r"^[ \t]*", re.MULTILINE)
        found = re.compile(rf"{prefix}{re.escape(part)}[ \t]*[=.]", flags).search(self._text, start, end)
        if found is None:
            return False
        following = None if inline else _KEY.search(self._text, found.end(), end)
        self._start, self._end, self._table = found.start(), following.start() if following else end, None
        return True

    def _item(self, index: int) -> bool:
        opening = re.compile(r"[^=\[{]*=\s*\[").match(self._text, self._start, self._end)
        if opening is None:
            return index == 0  # one table where a list may stand
        depth, place = 0, opening.end()
        while index and place < self._end and depth >= 0:
            character = self._text[place]
            depth += (character in "[{") - (character in "]}")
            index -= character == "," and depth == 0
            place += 1
        content = re.compile(r"\S").search(self._text, place, self._end)
        if content is not None:
            self._start = content.start()
        return content is not None
