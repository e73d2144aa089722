"""TeX's own notes of what it typeset: the file `.aux` of a run."""

from __future__ import annotations

import re
from functools import cached_property

from sci_gym.envs.texstudio.latex import group

_ENTRY = re.compile(r"\\@writefile\{(toc|lof|lot)\}\{\\contentsline\s*\{(\w+)\}(?=\{)")
_LABEL = re.compile(r"\\newlabel\{([^}]*)\}\{(?=\{)")
_BIBCITE = re.compile(r"\\bibcite\{([^}]*)\}(?=\{)")
_NUMBERED = re.compile(r"\\numberline\s*\{([^}]*)\}")
_NOISE = re.compile(r"\\(?:ignorespaces|protect|relax)\s*|[{}]")
_LISTS = {"lof": "figure", "lot": "table"}


class Notes:
    """Headings, captions, labels and citations."""

    def __init__(self, aux: str) -> None:
        """Read the text of the file."""
        self._aux = aux

    @cached_property
    def headings(self) -> list[str]:
        """The headings with their numbers, in order: "1 Introduction", "1.1 Notation"."""
        return [f"{number} {title}".strip() for name, _, number, title in self._entries if name == "toc"]

    def captions(self, kind: str) -> list[tuple[str, str]]:
        """Number and text of the captions of a kind, "figure" or "table"."""
        return [(number, title) for name, _, number, title in self._entries if _LISTS.get(name) == kind]

    @cached_property
    def labels(self) -> dict[str, str]:
        """The number that each label stands for."""
        return {found[1]: group(self._aux, found.end())[0] for found in _LABEL.finditer(self._aux)}

    @cached_property
    def citations(self) -> dict[str, str]:
        """The number of each work among the references."""
        return {found[1]: group(self._aux, found.end())[0] for found in _BIBCITE.finditer(self._aux)}

    @cached_property
    def _entries(self) -> list[tuple[str, str, str, str]]:
        """List, kind, number and text of all entries for lists of contents, figures and tables."""
        entries = []
        for found in _ENTRY.finditer(self._aux):
            title = group(self._aux, found.end())[0]
            number = _NUMBERED.search(title)
            text = _NUMBERED.sub("", title)
            entries.append(
                (found[1], found[2], number[1] if number else "", " ".join(_NOISE.sub("", text).split()))
            )
        return entries
