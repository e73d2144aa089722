"""Fills parameters into strings: `{name}` and `{name.field}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sci_gym.errors import UnknownNameError
from sci_gym.tasks.locator import FieldError, KeyPath

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


def as_text(value: Any) -> Any:
    """A number as text, a whole one without ".0"; a list as its items between commas; the rest as it is."""
    if isinstance(value, list):
        return ", ".join(str(as_text(item)) for item in value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    return str(value) if isinstance(value, int | float) else value


def named_in(value: Any) -> set[str]:
    """The parameters that placeholders inside a value name, without their fields."""
    if isinstance(value, str):
        names = (found[1] for found in _PLACEHOLDER.finditer(value) if found[1] is not None)
        return {name.split(".")[0] for name in names}
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set().union(*map(named_in, inside))


@dataclass(frozen=True, slots=True)
class Filler:
    """Fills the parameters' values into strings."""

    values: Mapping[str, Any]

    def typed(self, value: Any, path: KeyPath) -> Any:
        """Fill every string inside a value; one that is nothing but a placeholder becomes the parameter."""
        if isinstance(value, str):
            whole = _PLACEHOLDER.fullmatch(value)
            alone = whole[1] if whole else None
            return self._text(value, path) if alone is None else self._look_up(alone, path)
        return self._inside(value, path, self.typed)

    def typed_text(self, value: Any, path: KeyPath) -> Any:
        """Fill as `text`, but a string that is nothing but a list's placeholder becomes a list of texts."""
        if isinstance(value, str):
            found = self.typed(value, path)
            return [as_text(item) for item in found] if isinstance(found, list) else self._text(value, path)
        return self._inside(value, path, self.typed_text)

    def text(self, value: Any, path: KeyPath) -> Any:
        """Fill every string inside a value, as text."""
        return self._text(value, path) if isinstance(value, str) else self._inside(value, path, self.text)

    def _inside(self, value: Any, path: KeyPath, fill: Callable[[Any, KeyPath], Any]) -> Any:
        if isinstance(value, list):
            return [fill(item, (*path, index)) for index, item in enumerate(value)]
        if isinstance(value, dict):
            return {key: fill(item, (*path, key)) for key, item in value.items()}
        return value

    def _text(self, text: str, path: KeyPath) -> str:
        return _PLACEHOLDER.sub(lambda found: self._replacement(found, path), text)

    def _replacement(self, found: re.Match[str], path: KeyPath) -> str:
        if found[0] in ("{{", "}}"):
            return found[0][0]
        if found[1] is None:
            raise FieldError(path, f"a single {found[0]!r}; write {found[0] * 2!r} for a brace that stays.")
        value = self._look_up(found[1], path)
        if any(isinstance(item, dict) for item in (value if isinstance(value, list) else [value])):
            raise FieldError(path, f"parameter {found[1]!r} is or holds a table; name one of its fields.")
        return str(as_text(value))

    def _look_up(self, name: str, path: KeyPath) -> Any:
        value: Any = self.values
        for part in name.split("."):
            if not isinstance(value, Mapping) or part not in value:
                unknown = UnknownNameError("parameter", name, self._names())
                raise FieldError(path, f"{unknown} Write {{{{ and }}}} for braces that stay.")
            value = value[part]
        return value

    def _names(self) -> Iterator[str]:
        for name, value in self.values.items():
            yield name
            yield from (f"{name}.{field}" for field in value) if isinstance(value, Mapping) else ()
