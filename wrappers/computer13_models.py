"""The models of computer_13's actions, one per shape of parameters."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from sci_gym.specs import Action, Kind
from sci_gym.wrappers.inputs import chord, clicks, key_name, presses, typing, wheel
from sci_gym.wrappers.screen import Screen

_ButtonName = Literal["left", "middle", "right"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Moving(_Model):
    action_type: Literal["MOVE_TO", "DRAG_TO"]
    x: float
    y: float

    def actions(self, screen: Screen) -> list[Action]:
        point = screen.point(self.x, self.y)
        return [Action.move_to(*point) if self.action_type == "MOVE_TO" else Action.drag_to(*point)]


class _Clicking(_Model):
    action_type: Literal["CLICK"]
    x: float | None = None
    y: float | None = None
    button: _ButtonName = "left"
    num_clicks: int = Field(default=1, ge=1, le=3)

    def actions(self, screen: Screen) -> list[Action]:
        return clicks(screen.point(self.x, self.y), self.button, self.num_clicks)


class _SpecialClicking(_Model):
    action_type: Literal["RIGHT_CLICK", "DOUBLE_CLICK"]
    x: float | None = None
    y: float | None = None

    def actions(self, screen: Screen) -> list[Action]:
        button, count = ("right", 1) if self.action_type == "RIGHT_CLICK" else ("left", 2)
        return clicks(screen.point(self.x, self.y), button, count)


class _Holding(_Model):
    action_type: Literal["MOUSE_DOWN", "MOUSE_UP"]
    button: _ButtonName = "left"

    def actions(self, screen: Screen) -> list[Action]:
        kind = Kind.MOUSE_DOWN if self.action_type == "MOUSE_DOWN" else Kind.MOUSE_UP
        return [Action(kind, button=self.button)]


class _Scrolling(_Model):
    action_type: Literal["SCROLL"]
    dx: int = 0
    dy: int = 0

    def actions(self, screen: Screen) -> list[Action]:
        return wheel(screen.point(), self.dy, self.dx)


class _Typing(_Model):
    action_type: Literal["TYPING"]
    text: str

    def actions(self, screen: Screen) -> list[Action]:
        return typing(self.text)


class _Keying(_Model):
    action_type: Literal["PRESS", "KEY_DOWN", "KEY_UP"]
    key: str

    def actions(self, screen: Screen) -> list[Action]:
        if self.action_type == "PRESS":
            return presses(self.key)
        kind = Kind.KEY_DOWN if self.action_type == "KEY_DOWN" else Kind.KEY_UP
        return [Action(kind, key=key_name(self.key))]


class _Hotkey(_Model):
    action_type: Literal["HOTKEY"]
    keys: list[str] = Field(min_length=1, max_length=8)

    def actions(self, screen: Screen) -> list[Action]:
        return chord(self.keys)


class _Word(_Model):
    action_type: Literal["WAIT", "DONE", "FAIL"]

    def actions(self, screen: Screen) -> list[Action]:
        return [Action(Kind(self.action_type))]


_Any = _Moving | _Clicking | _SpecialClicking | _Holding | _Scrolling | _Typing | _Keying | _Hotkey | _Word

ACTIONS: TypeAdapter[_Any] = TypeAdapter(Annotated[_Any, Field(discriminator="action_type")])
"""Validates an action whose parameters stand beside `action_type`; every model has `actions(screen)`."""
