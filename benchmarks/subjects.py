"""The programs that are measured on, and what is done to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sci_gym.app import App
from sci_gym.benchmarks import texstudio
from sci_gym.errors import ConfigurationError
from sci_gym.loader import load_app
from sci_gym.specs import A11yTree, Action

_FOCUS, _PAGE = "move the focus", "turn a page"


@dataclass(frozen=True, slots=True)
class Click:
    """A click at the middle of the first object of a role and a name."""

    role: str
    name: str

    def action(self, tree: A11yTree) -> Action:
        """The click, on a desktop that shows `tree`.

        Raises:
            ConfigurationError: no such object is on screen.
        """
        for node in tree.showing:
            if (node.role, node.name) == (self.role, self.name) and node.box is not None:
                return Action.click(*node.box.center)
        raise ConfigurationError(f"benchmark: no {self.role} {self.name!r} is on screen")


@dataclass(frozen=True, slots=True)
class Change:
    """Something that changes what is on screen, and what undoes it."""

    kind: str
    do: Action | Click
    undo: Action | Click


@dataclass(frozen=True, slots=True)
class Subject:
    """A program to measure on.

    Attributes:
        app: how to start it, and when it is ready.
        changes: kinds of change of its window.
        clicks: by what they do, two places that are clicked in turn.
    """

    app: App
    changes: tuple[Change, ...]
    clicks: Mapping[str, tuple[Click, Click]]


def _tabs(first: str, second: str) -> tuple[Change, tuple[Click, Click]]:
    home, other = Click("page tab", first), Click("page tab", second)
    return Change("another tab", other, home), (other, home)


def _kalgebra() -> Subject:
    tab, clicks = _tabs("Calculator", "2D Graph")
    typed = Change("a typed character", Action.type("a"), Action.press("backspace"))
    focus = Click("text", ""), Click("page tab", "Calculator")
    return Subject(load_app("kalgebra"), (typed, _menu("Session"), tab), {_FOCUS: focus, _PAGE: clicks})


def _texstudio() -> Subject:
    tab, clicks = _tabs("Messages", "Log")
    panel = Change("another side panel", Click("check box", "TOC"), Click("check box", "Structure"))
    focus = Click("text", ""), Click("tree", "")
    return Subject(texstudio.APP, (_menu("Math"), tab, panel), {_FOCUS: focus, _PAGE: clicks})


def _menu(name: str) -> Change:
    return Change("an open menu", Click("menu item", name), Action.press("esc"))


SUBJECTS: Mapping[str, Subject] = {"kalgebra": _kalgebra(), "texstudio": _texstudio()}
