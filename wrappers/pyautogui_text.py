"""pyautogui code as actions: read with `ast`, never run."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence

from sci_gym.errors import ActionError
from sci_gym.specs import A11yNode, Action
from sci_gym.wrappers.literals import Literals
from sci_gym.wrappers.pyautogui_calls import ALIASES, CALLS, TIMING, WORDS, Arguments
from sci_gym.wrappers.screen import Screen
from sci_gym.wrappers.text_actions import MAX_ACTIONS, TextActions, unfence

_ALLOWED = "calls such as pyautogui.click(x, y), time.sleep(s), ANS('text'), WAIT, DONE and FAIL"
_MODULES = {"pyautogui", "time"}
_SETTINGS = {"FAILSAFE", "PAUSE"}


class PyAutoGuiText(TextActions):
    """Actions are pyautogui code, as language models write it; see `parse`."""

    def action(self, action: str) -> list[Action]:
        """Read pyautogui code as actions; raises `ActionError`."""
        screen = self.screen
        return parse(action, screen.width, screen.height, screen.marks, screen.coordinates, screen.pointer)


def parse(
    code: str,
    width: int,
    height: int,
    marks: Sequence[A11yNode] = (),
    coordinates: str = "pixel",
    pointer: tuple[int, int] | None = None,
) -> list[Action]:
    """Read pyautogui code as actions; nothing in it is executed.

    Args:
        code: calls in the order to perform them, perhaps in ``` fences; `tag_3` is the middle of mark 3.
        width: of the screen in pixels.
        height: of the screen in pixels.
        marks: the nodes with mark ids 1, 2, ...
        coordinates: "pixel", "relative" (0 to 1 of the width and height) or "thousand" (0 to 1000).
        pointer: where calls without a point act, as (x, y) in pixels; None for the middle of the screen.

    Raises:
        ActionError: the code is not such code; the message quotes the line.
    """
    source = textwrap.dedent(unfence(code)).strip()
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    reader = _Reader(Screen(width, height, marks, coordinates, pointer))
    for statement in _syntax(source, lines):
        try:
            reader.read(statement)
        except (ActionError, RecursionError) as exc:
            raise _error(lines, statement.lineno, str(exc)) from exc
    if not reader.actions:
        raise ActionError(f"there is no action in {code[:200]!r}; allowed are {_ALLOWED}")
    return reader.actions


def _syntax(source: str, lines: list[str]) -> list[ast.stmt]:
    try:
        return ast.parse(source).body
    except SyntaxError as exc:
        raise _error(lines, exc.lineno or 1, f"not Python: {exc.msg}") from exc
    except (ValueError, MemoryError, RecursionError) as exc:
        raise _error(lines, 1, f"not Python: {exc or 'nested too deep'}") from exc


def _error(lines: list[str], number: int, message: str) -> ActionError:
    line = lines[min(number, len(lines)) - 1].strip()
    return ActionError(f"line {number}: `{line[:200]}`: {message}. Allowed are {_ALLOWED}")


class _Reader:
    """Collects the actions of one statement after the other."""

    def __init__(self, screen: Screen) -> None:
        self.actions: list[Action] = []
        self._screen = screen
        self._literals = Literals(screen)

    def read(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Import(names=names) if all(name.name in _MODULES and not name.asname for name in names):
                pass
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="pyautogui"), attr=name)]) if (
                name in _SETTINGS
            ):
                pass
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._literals.assign(target, self._literals.value(value))
            case ast.Expr(value=ast.Name(id=word)) if word in WORDS:
                self._add([WORDS[word]])
            case ast.Expr(value=ast.Call() as call):
                self._add(self._call(call))
            case _:
                raise ActionError("this is neither a call nor the assignment of a plain value")

    def _add(self, actions: list[Action]) -> None:
        if len(self.actions) + len(actions) > MAX_ACTIONS:
            raise ActionError(f"that is more than {MAX_ACTIONS} actions")
        for action in actions:
            self._screen.follow(action)
        self.actions.extend(actions)

    def _call(self, call: ast.Call) -> list[Action]:
        name = ast.unparse(call.func)
        if name not in CALLS:
            raise ActionError(f"unknown function {name[:80]!r}; there are {', '.join(CALLS)}")
        parameters, handler = CALLS[name]
        return handler(self._screen, self._bind(parameters, call))

    def _bind(self, parameters: tuple[str, ...], call: ast.Call) -> Arguments:
        positional = self._literals.values(call.args)
        if parameters == ("*",):
            positional = (positional,)
        for place, (name, value) in enumerate(zip(parameters, positional, strict=False)):
            if name in ("x", "dx") and isinstance(value, tuple):
                positional = (*positional[:place], *value, *positional[place + 1 :])
        if len(positional) > len(parameters):
            raise ActionError(f"too many arguments; it takes ({', '.join(parameters)})")
        bound: Arguments = dict(zip(parameters, positional, strict=False))
        for keyword in call.keywords:
            name = keyword.arg or "**"
            name = ALIASES.get(name, name)
            if name in TIMING:
                continue
            if name not in parameters or name in bound:
                raise ActionError(f"{name} is unknown or given twice; it takes ({', '.join(parameters)})")
            bound[name] = self._literals.value(keyword.value)
        return bound
