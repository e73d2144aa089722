"""What the commands of the command line have in common."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sci_gym.app import App
from sci_gym.loader import app_names, load_app

Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
AppName = Annotated[str | None, typer.Option("--app", help="Name of an app; all by default.")]
out = Console()
err = Console(stderr=True)


def chosen_apps(name: str | None) -> list[App]:
    """The app of a name, or all.

    Raises:
        UnknownNameError: there is none of that name.
    """
    return [load_app(one) for one in ([name] if name else app_names())]


def make_progress() -> Progress:
    """A progress bar on standard error."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=err)


def print_json(data: Any) -> None:
    """Print one object on standard output."""
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False, default=str) + "\n")
