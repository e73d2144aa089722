"""Regular expressions of task files: as Python's own where they are known, and never slow."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sci_gym.scienceboard import Pattern, PatternRefusedError

KNOWN = (
    r"@article\{avagyan2018new", r"title=\{A New\}", r"a(b|cd)*e$", r"^x?y{2,3}z+?", r"[^a-c\]]d",
    r"\d+\.\d{2}$", r"(?:a|b|)c", r"a{,3}b", r"year=\s*\{2018\}", r"a.c", r"(a*)*b", r"c{}d", r"a{,}b",
    r"x|^y|z$", r"",
)  # fmt: skip

REFUSED = (
    r"(?=a)", r"(a)\1", r"a**", r"(a", r"[a", r"\bx", r"(?i)x", "(a{40}){60}", ")", "(" * 40 + ")" * 40,
)  # fmt: skip


@pytest.mark.parametrize("pattern", KNOWN)
@settings(max_examples=150, deadline=None)
@given(text=st.text(alphabet="abcdexyz{}2018. \n]=,3", max_size=14))
def test_it_finds_what_python_finds(pattern: str, text: str) -> None:
    assert Pattern(pattern).found_in(text) is bool(re.search(pattern, text))


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_is_not_known_is_refused(pattern: str) -> None:
    with pytest.raises(PatternRefusedError, match="pattern: "):
        Pattern(pattern)


def test_a_text_that_is_made_for_it_takes_no_longer() -> None:
    assert not Pattern(r"(a*)*b").found_in("a" * 5000)
