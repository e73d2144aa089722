"""Writes a task file to start from, with comments that tell what there is to choose from."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sci_gym.app import App
from sci_gym.errors import ConfigurationError
from sci_gym.evaluation import GENERIC_PREDICATES
from sci_gym.tasks.checking import TASK_ID
from sci_gym.templates import render


def write_scaffold(app: App, name: str, folder: Path) -> Path:
    """Write `NAME.toml` for an app into a folder, which is made if need be, and tell its path.

    Raises:
        ConfigurationError: the name is none for a task, there is such a file, or it cannot be written.
    """
    if not TASK_ID.fullmatch(name):
        raise ConfigurationError(f"{name!r}: a task's id is lower case words with hyphens: plot-circle.")
    path = folder / f"{name}.toml"
    text = render(
        "task.toml",
        app=app,
        path=path,
        id=name,
        verbs=_signatures(_named(app, "verbs")),
        predicates=_signatures({**_named(app, "predicates"), **GENERIC_PREDICATES}),
        inspections=_signatures(_named(app, "inspections"), skip=0),
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise ConfigurationError(f"{path}: is there already; choose another name, or edit that.") from None
    except OSError as exc:
        raise ConfigurationError(f"{path}: cannot be written: {exc.strerror}.") from exc
    return path


def _named(app: App, kind: str) -> dict[str, Callable[..., Any]]:
    """The functions of a kind, as a task file of the app names them."""
    return {
        name if part is app else f"{part.name}.{name}": function
        for part in app.parts
        for name, function in getattr(part, kind).items()
    }


def _signatures(functions: Mapping[str, Callable[..., Any]], skip: int = 1) -> list[tuple[str, str]]:
    """Each function as its call, without its first `skip` parameters, and the first line of its docstring."""
    return [
        (f"{name}({', '.join(_arguments(one)[skip:])})", (inspect.getdoc(one) or "").partition("\n")[0])
        for name, one in sorted(functions.items())
    ]


def _arguments(function: Callable[..., Any]) -> list[str]:
    return [
        f"{one.name}: {one.annotation}" + ("" if one.default is one.empty else f" = {one.default!r}")
        for one in inspect.signature(function).parameters.values()
    ]
