"""What the commands of the command line have in common."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sci_gym.app import App
from sci_gym.errors import ConfigurationError
from sci_gym.loader import app_names, load_app

Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
AppName = Annotated[str | None, typer.Option("--app", help="Name of an app; all by default.")]
MachineName = Annotated[str, typer.Option("--machine", help="auto, sandbox, libvirt or remote.")]
MachineOptions = Annotated[
    list[str] | None, typer.Option("--machine-option", help="NAME=VALUE of the machine's, as network=true.")
]
out = Console()
err = Console(stderr=True)


def chosen_apps(name: str | None) -> list[App]:
    """The app of a name, or all.

    Raises:
        UnknownNameError: there is none of that name.
    """
    return [load_app(one) for one in ([name] if name else app_names())]


def app_of(path: Path, app_name: str | None) -> App:
    """The app that is named, or else the one in whose folder a task file is.

    Raises:
        ConfigurationError: it is in none, and none is named.
    """
    if app_name:
        return load_app(app_name)
    owners = [one for one in chosen_apps(None) if path.resolve().is_relative_to(one.folder.resolve())]
    if not owners:
        raise ConfigurationError(f"{path}: is in no app's folder; say whose task it is with --app NAME.")
    return owners[0]


def read_options(texts: Iterable[str] | None) -> dict[str, Any]:
    """NAME=VALUE each; a value is JSON, or else as it stands.

    Raises:
        ConfigurationError: one has no "=".
    """
    options: dict[str, Any] = {}
    for name, equals, value in (text.partition("=") for text in texts or ()):
        if not equals:
            raise ConfigurationError(f"machine-option: must be NAME=VALUE, not {name!r}")
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options


def make_progress() -> Progress:
    """A progress bar on standard error."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=err)


def print_json(data: Any) -> None:
    """Print one object on standard output."""
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False, default=str) + "\n")


def result_of(report: Any) -> str:
    """A report's `misses`, and what was `flaky`, as one cell of a table."""
    flakes = getattr(report, "flaky", ())
    flaky = f" [yellow](flaky: {escape('; '.join(flakes))})" if flakes else ""
    return ("[red]" + escape("; ".join(report.misses)) if report.misses else "[green]holds") + flaky
