r"""LaTeX source as TeX would read it, without comments, `\iffalse`, and what follows the document."""

from __future__ import annotations

import re
from collections.abc import Iterator

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*\n?[ \t]*")
_SKIPPED = re.compile(r"\\iffalse\b.*?(?:\\else\b|\\fi\b)", re.DOTALL)
_COMMENT_BLOCK = re.compile(r"\\begin\s*\{comment\}.*?\\end\s*\{comment\}", re.DOTALL)
_VERBATIM = re.compile(r"\\begin\s*\{(verbatim\*?)\}.*?\\end\s*\{\1\}|\\verb\*?(\W).*?\2", re.DOTALL)
_END = re.compile(r"\\end\s*\{document\}")
_DEFINES = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand)\*?\s*\{?\s*\\(\w+)\s*\}?|\\def\s*\\(\w+)"
)
_SPACING = re.compile(
    r"\\(?:[,;:! ]|quad\b|qquad\b|left\b|right\b|[bB]igg?[lrm]?\b|displaystyle\b|limits\b)|~"
)
_SYNONYMS = {
    r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\le": r"\leq", r"\ge": r"\geq", r"\ne": r"\neq",
    r"\to": r"\rightarrow", r"\cdot": "", r"\varepsilon": r"\epsilon", r"\lvert": "|", r"\rvert": "|",
}  # fmt: skip
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\S")


def live(source: str) -> str:
    """The part of a source that TeX typesets."""
    text = _COMMENT.sub(r"\1", source)
    for pattern in (_VERBATIM, _COMMENT_BLOCK, _SKIPPED):
        text = pattern.sub("", text)
    return _END.split(text)[0]


def environments(text: str, name: str) -> list[str]:
    """The contents of the environments of a name, such as "abstract" or "tabular"."""
    pattern = rf"\\begin\s*\{{{re.escape(name)}\}}(.*?)\\end\s*\{{{re.escape(name)}\}}"
    return re.findall(pattern, text, re.DOTALL)


def sections(text: str, title: str) -> list[str]:
    """What stands below the headings with a title, down to the next heading."""
    parts = re.split(r"\\(?:sub)*section\*?\s*(?=\{)", text)[1:]
    found = [(group(part, 0)) for part in parts]
    return [part[end:] for part, (words, end) in zip(parts, found, strict=True) if words.strip() == title]


def calls(text: str, name: str) -> list[str]:
    """The first mandatory arguments of a command's calls, such as "ref"."""
    found = []
    for match in re.finditer(rf"\\{name}\*?\s*(?:\[[^\]]*\]\s*)*(?=\{{)", text):
        found.append(group(text, match.end())[0])
    return found


def definitions(text: str) -> dict[str, str]:
    """What each macro without parameters is defined as."""
    found = {}
    for match in _DEFINES.finditer(text):
        start = text.find("{", match.end())
        if start >= 0 and not text[match.end() : start].strip():
            found[match[1] or match[2]] = group(text, start)[0]
    return found


def without_definitions(text: str) -> str:
    """The source without what macros are defined as."""
    kept, start = [], 0
    for match in _DEFINES.finditer(text):
        opening = text.find("{", match.end())
        kept.append(text[start : match.start()])
        start = group(text, opening)[1] if opening >= 0 else match.end()
    return "".join(kept) + text[start:]


def uses(text: str, macro: str) -> int:
    """How often a macro is used, its definition apart."""
    own = [found for found in _DEFINES.finditer(text) if macro in found.groups()]
    return len(re.findall(rf"\\{re.escape(macro)}(?![A-Za-z])", text)) - len(own)


def group(text: str, start: int) -> tuple[str, int]:
    """The content of the braces that open at `start`, and where they end."""
    depth = 0
    for place in range(start, len(text)):
        if text[place] in "{}" and (place == 0 or text[place - 1] != "\\"):
            depth += 1 if text[place] == "{" else -1
            if depth == 0:
                return text[start + 1 : place], place + 1
    return text[start + 1 :], len(text)


def formulas(text: str) -> Iterator[str]:
    """All formulas, inline and displayed, without their delimiters."""
    yield from re.findall(r"\\\[(.*?)\\\]", text, re.DOTALL)
    yield from re.findall(r"\\\((.*?)\\\)", text, re.DOTALL)
    rest = re.sub(r"\\\$", "", text)
    yield from (first or second for first, second in re.findall(r"\$\$(.*?)\$\$|\$(.*?)\$", rest, re.DOTALL))
    for name in ("equation", "equation*", "align", "align*", "displaymath", "math", "gather", "gather*"):
        yield from environments(text, name)


def same_formula(one: str, other: str) -> bool:
    """Whether two formulas are the same but for spacing, braces, size and synonyms."""
    return _normal(one) == _normal(other)


def _normal(formula: str) -> list[str]:
    text = re.sub(r"\\(?:label|tag)\s*\{[^}]*\}|\\(?:nonumber|notag)\b|&|\\\\", "", formula)
    tokens = [_SYNONYMS.get(token, token) for token in _TOKEN.findall(_SPACING.sub(" ", text))]
    kept = [token for token in tokens if token]
    while kept and kept[-1] in ".,":
        kept.pop()
    return _without_braces(kept)


def _without_braces(tokens: list[str]) -> list[str]:
    """Braces around a single token say nothing."""
    out: list[str] = []
    for token in tokens:
        out.append(token)
        if len(out) >= 3 and out[-1] == "}" and out[-3] == "{":
            out[-3:] = [out[-2]]
    return out
