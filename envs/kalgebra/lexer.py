"""Tokens of Analitza's expression language, as its `explexer.cpp` cuts them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from sci_gym.errors import ConfigurationError

MAX_CHARS = 4000
MAX_DEPTH = 40
MAX_OPERATORS = 150
OPERATORS = (
    "->", ":=", "..", "**", "<=", ">=", "!=",
    "+", "-", "*", "/", "^", "(", ")", ",", "{", "}", "[", "]", "?", ":", "=", "<", ">", "@", "|",
)  # fmt: skip
NUMBER = re.compile(r"(\.[0-9]+|[0-9]+(\.[0-9]+)?)(e[-+]?[0-9]+)?")
"""As Analitza's, but it also reads the `e+20` that Analitza prints and cannot read back."""
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
COMMENT = re.compile(r"//.*?(//|\n|$)", re.DOTALL)


class AnalitzaError(ConfigurationError):
    """A text is not an Analitza expression, or has no value."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token.

    Attributes:
        kind: "number", "name", "string", "superscript", "end", or the operator itself.
        text: its content.
        at: where it starts in the text, in characters.
    """

    kind: str
    text: str
    at: int


def tokenize(text: str) -> list[Token]:
    """Cut a text into tokens, the last of kind "end".

    Raises:
        AnalitzaError: a character starts no token, or the text is longer than `MAX_CHARS`.
    """
    if len(text) > MAX_CHARS:
        raise AnalitzaError(f"{text[:40]!r}...: longer than {MAX_CHARS} characters.")
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif comment := COMMENT.match(text, at):
            at = comment.end()
        else:
            token, at = _token(text, at)
            tokens.append(token)
    return [*tokens, Token("end", "", at)]


def _token(text: str, at: int) -> tuple[Token, int]:
    for operator in OPERATORS:
        if text.startswith(operator, at):
            return Token("^" if operator == "**" else operator, operator, at), at + len(operator)
    if string := STRING.match(text, at):
        return Token("string", string[1], at), string.end()
    if _superscript(text[at]):
        end = _while(text, at, _superscript)
        return Token("superscript", unicodedata.normalize("NFKC", text[at:end]), at), end
    if text[at].isalpha():
        end = _while(text, at, _word)
        return Token("name", text[at:end], at), end
    if (number := NUMBER.match(text, at)) and math.isfinite(float(number[0])):
        return Token("number", number[0], at), number.end()
    raise AnalitzaError(f"{text!r}: unknown token {text[at]!r} at character {at}.")


def _superscript(char: str) -> bool:
    raised = unicodedata.decomposition(char).startswith("<super>")
    return raised and unicodedata.normalize("NFKC", char).isdigit()


def _word(char: str) -> bool:
    return char == "_" or char.isalpha() or (char.isdigit() and not unicodedata.decomposition(char))


def _while(text: str, at: int, holds: Callable[[str], bool]) -> int:
    while at < len(text) and holds(text[at]):
        at += 1
    return at
