"""The steps of a template's solution."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from sci_gym.specs import BUTTONS, KEYS, LANGUAGES, MAX_TEXT_CHARS, MODIFIERS, Action, Kind, OracleStep
from sci_gym.tasks.filling import as_text
from sci_gym.tasks.locator import FieldError, KeyPath
from sci_gym.tasks.tables import Table, known

_Text = Annotated[str, BeforeValidator(as_text), Field(max_length=MAX_TEXT_CHARS)]


class Target(Table):
    """The accessible element that a step acts at."""

    role: _Text
    name: _Text | None = None
    nth: int = 0
    label: _Text | None = None


class ReadTable(Table):
    """What a step reads its text from."""

    state: str
    after: str = Field(min_length=1)


_POINTED = {"click": Kind.CLICK, "double_click": Kind.DOUBLE_CLICK, "right_click": Kind.RIGHT_CLICK,
            "move": Kind.MOVE_TO, "drag": Kind.DRAG_TO, "scroll": Kind.SCROLL}  # fmt: skip
_POINTLESS = {"type": Kind.TYPE, "press": Kind.PRESS, "hotkey": Kind.HOTKEY, "wait": Kind.WAIT,
              "answer": Kind.ANS, "done": Kind.DONE, "fail": Kind.FAIL, "code": Kind.CODE,
              "api": Kind.API}  # fmt: skip
_KINDS = {**_POINTED, **_POINTLESS}
_NEEDS = {"type": "text", "press": "key", "hotkey": "keys", "answer": "text", "code": "text", "api": "text",
          "scroll": "amount"}  # fmt: skip
_MAY_HAVE = {"drag": {"button"}, "scroll": {"amount_x"}, "wait": {"seconds"}, "code": {"language"}}


class OracleTable(Table):
    """A step of a solution, filled in."""

    do: str
    target: Target | None = None
    x: int = 0
    y: int = 0
    text: _Text = ""
    key: _Text = "enter"
    keys: list[_Text] = Field(default_factory=list)
    seconds: float = Field(default=1.0, gt=0)
    amount: int = 0
    amount_x: int = 0
    button: str = "left"
    language: str = "shell"

    def step(self, path: KeyPath) -> OracleStep:
        """The step that the table stands for."""
        kind = _KINDS[known(self.do, _KINDS, "oracle step", (*path, "do"))]
        self._check_fields(path)
        key, modifiers = (self.keys[-1], self.keys[:-1]) if self.do == "hotkey" else (self.key, [])
        where = (*path, "keys" if self.do == "hotkey" else "key")
        action = Action(
            kind,
            x=self.x,
            y=self.y,
            button=known(self.button, BUTTONS, "button", (*path, "button")),
            amount=self.amount,
            amount_x=self.amount_x,
            key=known(key, KEYS, "key", where),
            modifiers=tuple(known(each, MODIFIERS, "modifier", where) for each in modifiers),
            text=self.text,
            language=known(self.language, LANGUAGES, "language", (*path, "language")),
            seconds=self.seconds,
        )
        target = self.target
        if target is None:
            return OracleStep(action)
        return OracleStep(action, target.role, target.name, target.nth, target.label)

    def _check_fields(self, path: KeyPath) -> None:
        given = self.model_fields_set - {"do"}
        points = ({"target"}, {"x", "y"}) if self.do in _POINTED else (set(),)
        needs = {_NEEDS[self.do]} if self.do in _NEEDS else set()
        allowed = set().union(needs, _MAY_HAVE.get(self.do, set()), *points)
        for field in sorted(given - allowed):
            takes = ", ".join(sorted(allowed)) or "nothing"
            raise FieldError((*path, field), f"{self.do} does not take {field!r}; it takes {takes}.")
        if given & {"target", "x", "y"} not in points:
            raise FieldError(path, f"{self.do} needs either a target, or x and y.")
        if needs - given or (self.do == "hotkey" and not self.keys):
            raise FieldError(path, f"{self.do} needs {_NEEDS[self.do]!r}.")
