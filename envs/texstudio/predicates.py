"""What a task can ask of TeXstudio: named conditions on the state that `TeXstudio.read_state` gives.

A document counts as it is typeset from what is saved, provided that TeXstudio's editor holds the same:
`path` names it, relative to the home. Text is compared as a reader sees it on the page, so that white
space, hyphenation and the LaTeX that makes it do not matter, and what is commented out, skipped, covered or
white does not count. No condition holds of a program that is gone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

from sci_gym.envs.texstudio import latex, page
from sci_gym.envs.texstudio.notes import Notes
from sci_gym.specs import Evidence

_REFERENCES = ("ref", "autoref", "cref", "Cref", "eqref", "vref", "nameref", "hyperref")
_CITATIONS = ("cite", "citep", "citet", "parencite", "textcite", "autocite")
_TABULARS = ("tabular", "tabular*", "tabularx", "longtable", "array")
MIN_DRAWN = 200
"""Dark pixels, at 72 an inch, that a figure draws at least."""


def saved(evidence: Evidence, *, path: str) -> bool:
    """The document is open, and what the editor holds is what is on disk."""
    return _document(evidence, path).get("saved") is True


def compiles(evidence: Evidence, *, path: str) -> bool:
    """TeX typesets the saved document without an error."""
    return _typeset(evidence, path) is not None


def shows(evidence: Evidence, *, path: str, text: str, times: int | None = None) -> bool:
    """The pages show a phrase; with `times`, exactly so often."""
    found = page.count(_text(evidence, path), text)
    return found == times if times is not None else found > 0


def lacks(evidence: Evidence, *, path: str, text: str) -> bool:
    """The pages are there and do not show a phrase."""
    return compiles(evidence, path=path) and shows(evidence, path=path, text=text, times=0)


def abstract_shows(evidence: Evidence, *, path: str, text: str) -> bool:
    """The typeset abstract, from its heading to the first section's, shows a phrase."""
    shown = _text(evidence, path)
    heading = page.place(shown, "Abstract")
    written = latex.environments(_live(evidence, path), "abstract")
    if heading is None or not any(part.strip() for part in written):
        return False
    following = [page.place(shown, title, heading[1]) for title in _notes(evidence, path).headings]
    end = min((found[0] for found in following if found), default=len(shown))
    return page.count(shown[heading[1] : end], text) > 0


def outline(evidence: Evidence, *, path: str, equals: list[str]) -> bool:
    """The numbered headings of the pages are these, in order, such as "1 Introduction" and "1.1 Notation"."""
    headings = _notes(evidence, path).headings
    shown, start = _text(evidence, path), 0
    for heading in headings:
        found = page.place(shown, heading, start)
        if found is None:
            return False
        start = found[1]
    return bool(headings) and [_plain(each) for each in headings] == [_plain(each) for each in equals]


def section_shows(evidence: Evidence, *, path: str, section: str, text: str) -> bool:
    """The pages show a phrase between the heading of a section, such as "Proof", and the next heading."""
    shown, headings = _text(evidence, path), _notes(evidence, path).headings
    places = [(heading, page.place(shown, heading)) for heading in headings]
    for number, (heading, found) in enumerate(places):
        if found and _plain(heading).endswith(f" {_plain(section)}"):
            later = [other[0] for _, other in places[number + 1 :] if other]
            if page.count(shown[found[1] : min(later, default=len(shown))], text):
                return True
    return False


def table(evidence: Evidence, *, path: str, rows: list[list[str]]) -> bool:
    """The pages show a tabular with these rows, one below the other, each nothing but its cells in order."""
    source = _live(evidence, path)
    bodies = [body for name in _TABULARS for body in latex.environments(source, name)]
    if not any(body.count("&") >= sum(len(row) - 1 for row in rows) for body in bodies):
        return False
    lines = iter(page.lines_of(_pages(evidence, path)))
    return all(any(page.has_row(line, row) for line in lines) for row in rows)


def caption(
    evidence: Evidence, *, path: str, kind: Literal["figure", "table"], text: str, label: str = ""
) -> bool:
    """A figure or table has this caption, shown with its number; with `label`, one that is so labelled."""
    notes = _notes(evidence, path)
    for number, words in notes.captions(kind):
        shown = page.count(_text(evidence, path), f"{kind} {number}: {text}") > 0
        if shown and _plain(words) == _plain(text) and (not label or notes.labels.get(label) == number):
            return True
    return False


def refers(evidence: Evidence, *, path: str, label: str, word: str = "") -> bool:
    """The text refers to a label, and the page shows its number, with `word` right after that word."""
    text, number = _live(evidence, path), _notes(evidence, path).labels.get(label)
    used = any(label in latex.calls(text, name) for name in _REFERENCES)
    return used and bool(number) and page.count(_text(evidence, path), f"{word} {number}") > 0


def refers_to_caption(evidence: Evidence, *, path: str, kind: Literal["figure", "table"], text: str) -> bool:
    """The text refers to the figure or table with this caption, by whatever label it has."""
    notes = _notes(evidence, path)
    numbers = [number for number, words in notes.captions(kind) if _plain(words) == _plain(text)]
    own = [label for label, number in notes.labels.items() if number in numbers]
    return any(refers(evidence, path=path, label=label) for label in own)


def draws(evidence: Evidence, *, path: str, graphic: str) -> bool:
    """A graphics file is drawn on the pages, large enough to be seen."""
    typeset = _typeset(evidence, path) or {}
    return graphic in typeset.get("graphics", ()) and page.drawn_on(typeset.get("pages")) >= MIN_DRAWN


def cites(evidence: Evidence, *, path: str, key: str, entry: str = "") -> bool:
    """The text cites a work, whose entry stands among the references, with `entry` in it."""
    notes, shown = _notes(evidence, path), _text(evidence, path)
    number = notes.citations.get(key)
    used = any(
        key in each.split(",") for name in _CITATIONS for each in latex.calls(_live(evidence, path), name)
    )
    where = page.place(shown, "References")
    if not used or number is None or where is None or f"[{number}]" not in shown[: where[0]]:
        return False
    return not entry or page.count(shown[where[1] :], entry) > 0


def macro(evidence: Evidence, *, path: str, name: str, equals: str, uses: int = 0) -> bool:
    """A macro without parameters is defined like this, and used at least so often."""
    text = _live(evidence, path)
    body = latex.definitions(text).get(name)
    right = body is not None and latex.same_formula(body, equals)
    return right and compiles(evidence, path=path) and latex.uses(text, name) >= uses


def not_written(evidence: Evidence, *, path: str, formula: str) -> bool:
    """The source, definitions of macros apart, does not contain a piece of LaTeX."""
    text = latex.without_definitions(_live(evidence, path))
    return compiles(evidence, path=path) and _squeezed(formula) not in _squeezed(text)


def formula(evidence: Evidence, *, path: str, equals: str, label: str = "") -> bool:
    """A formula is typeset, the same but for spacing and braces; with `label`, one that is so labelled."""
    found = [one for one in latex.formulas(_live(evidence, path)) if latex.same_formula(one, equals)]
    labelled = [one for one in found if not label or label in latex.calls(one, "label")]
    numbered = not label or f"({_notes(evidence, path).labels.get(label)})" in _text(evidence, path)
    return bool(labelled) and numbered and compiles(evidence, path=path)


def unwritten(evidence: Evidence, *, path: str, text: str) -> bool:
    """The saved document compiles, and its source does not contain a text outside comments."""
    return compiles(evidence, path=path) and text not in _live(evidence, path)


def edited(evidence: Evidence, *, path: str, text: str) -> bool:
    """The editor's text, saved or not, contains a piece of LaTeX outside comments, white space apart."""
    document = _document(evidence, path)
    return bool(document) and _squeezed(text) in _squeezed(latex.live(str(document.get("text", ""))))


def edited_section(evidence: Evidence, *, path: str, section: str, text: str) -> bool:
    """The same of one section in the editor, from its heading to the next."""
    source = latex.live(str(_document(evidence, path).get("text", "")))
    return any(_squeezed(text) in _squeezed(body) for body in latex.sections(source, section))


def document_open(evidence: Evidence, *, path: str) -> bool:
    """A document is open in the editor."""
    return bool(_document(evidence, path))


def bookmark(evidence: Evidence, *, path: str, text: str) -> bool:
    """Exactly the line of a document that contains a text has a bookmark."""
    document = _document(evidence, path)
    lines = str(document.get("text", "")).splitlines()
    wanted = [number for number, line in enumerate(lines) if text in line]
    return bool(wanted) and sorted(set(document.get("bookmarks", ()))) == wanted


def titled(evidence: Evidence, *, path: str, text: str) -> bool:
    r"""The pages begin with a title, as \maketitle typesets it."""
    source, shown = _live(evidence, path), _text(evidence, path)
    found = page.place(shown, text)
    return r"\maketitle" in source and found is not None and found[0] == 0


def view(
    evidence: Evidence, *, name: Literal["Side Panel", "Messages / Log File", "Statusbar"], shown: bool
) -> bool:
    """A part of the window is shown or not, as the entry of that name in the menu View, Show has it."""
    return _state(evidence).get("view", {}).get(name) is shown


def setting(evidence: Evidence, *, key: str, equals: str) -> bool:
    """A setting has a value in TeXstudio itself; `guest/documents.c` names the settings that are known."""
    return bool(_state(evidence).get("settings", {}).get(key) == equals)


def exported(evidence: Evidence, *, path: str, pdf: str) -> bool:
    """A PDF in the home shows the same words as the saved document, typeset."""
    exports = (_typeset(evidence, path) or {}).get("exports")
    pages = exports.get(pdf) if isinstance(exports, Mapping) else None
    return bool(pages) and bool(_text(evidence, path)) and page.text_of(pages) == _text(evidence, path)


PREDICATES: Mapping[str, Callable[..., bool]] = {
    predicate.__name__: predicate
    for predicate in (
        saved, compiles, shows, lacks, abstract_shows, outline, section_shows, table, caption, refers,
        refers_to_caption, draws, cites, macro, not_written, unwritten, formula, edited, edited_section,
        document_open, bookmark, titled, view, setting, exported,
    )
}  # fmt: skip
"""By name, as task files call them after `texstudio.`."""


def _state(evidence: Evidence) -> Mapping[str, Any]:
    return evidence.state.get("texstudio", {})


def _document(evidence: Evidence, path: str) -> Mapping[str, Any]:
    state = _state(evidence)
    found: Mapping[str, Any] = state.get("documents", {}).get(path, {}) if state.get("running") else {}
    return found


def _typeset(evidence: Evidence, path: str) -> Mapping[str, Any] | None:
    """What TeX made of the saved document; None when it is not the editor's, or does not compile."""
    document = _document(evidence, path)
    made = _state(evidence).get("typeset", {}).get(path)
    if document.get("saved") is not True or not isinstance(made, Mapping):
        return None
    same = made.get("source") == document.get("source")
    return made if same and made.get("error") == "" and made.get("pages") else None


def _pages(evidence: Evidence, path: str) -> object:
    return (_typeset(evidence, path) or {}).get("pages")


def _text(evidence: Evidence, path: str) -> str:
    return page.text_of(_pages(evidence, path))


def _notes(evidence: Evidence, path: str) -> Notes:
    return Notes(str((_typeset(evidence, path) or {}).get("aux", "")))


def _live(evidence: Evidence, path: str) -> str:
    return latex.live(str(_document(evidence, path).get("text", "")))


def _plain(text: str) -> str:
    return page.plain(text).casefold()


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)
