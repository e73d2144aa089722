"""The calls of `initialize` that all programs share, and the verbs that they become."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Mapping, Sequence

from sci_gym.app import Desktop
from sci_gym.errors import DeadlineError
from sci_gym.scienceboard.adapter import PROGRAMS, Adapter, CannotError
from sci_gym.scienceboard.document import TaskFile
from sci_gym.specs import Action, Verb

HOME = "/home/user"
PORT = "«PORTLIKE»"
"""What task files write for the port of the patched program's server; stock programs have none."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SHELLS = ("gnome-terminal", "bash", "sh")
_TIMED_OUT = "[timed out]"


def setup_functions(adapter: Adapter) -> Mapping[str, Callable[..., Sequence[Verb]]]:
    """What gives the verbs of a call of `initialize`, by its `func`; an adapter's own come first."""

    def start(task: TaskFile, *, command: str | list[str], shell: bool = False) -> list[Verb]:
        return _launch(task, command, adapter)

    shared: dict[str, Callable[..., Sequence[Verb]]] = {
        "launch": start, "execute": execute, "opt": opt, "touch": touch, "append": append,
        "download": download,
    }  # fmt: skip
    return {**shared, **adapter.setup}


def command_words(command: str | list[str]) -> list[str]:
    """A command's words, without a shell around it and variables that it sets.

    The port of a patched program is left out.

    Raises:
        CannotError: it is no command.
    """
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as exc:
        raise CannotError(f"{command!r} is no command: {exc}.") from exc
    while words and _ASSIGNMENT.match(words[0]):
        words.pop(0)
    if not words:
        raise CannotError(f"{command!r} starts nothing.")
    if len(words) > 1 and posixpath.basename(words[0]) in _SHELLS:
        return command_words(words[-1])
    return [word for word in words if word != PORT]


def program_of(command: object) -> str:
    """The name of the program that a command starts; raises like `command_words`."""
    words = [command] if isinstance(command, str) else command
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise CannotError(f"{command!r} is no command.")
    return posixpath.basename(command_words(command if isinstance(command, str) else words)[0])


def home_path(path: str) -> str:
    """A path relative to the home.

    Raises:
        CannotError: it is elsewhere.
    """
    full = path.replace("~", HOME, 1) if path.startswith("~/") else path
    plain = posixpath.normpath(full)
    if not plain.startswith(f"{HOME}/") or "\0" in plain:
        raise CannotError(f"writes {path!r}, which is outside {HOME}; sci_gym's set-up writes there only.")
    return plain.removeprefix(f"{HOME}/")


def _launch(task: TaskFile, command: str | list[str], adapter: Adapter) -> list[Verb]:
    """Nothing: the environment starts the program itself, and waits until it is ready."""
    program, *arguments = command_words(command)
    name = posixpath.basename(program)
    if name not in adapter.executables:
        raise CannotError(f"launches {name!r}, which {PROGRAMS[adapter.program]} does not start.")
    if arguments:
        raise CannotError(f"launches {name} with {shlex.join(arguments)!r}; it is started without arguments.")
    return []


def execute(task: TaskFile, *, command: str | list[str], shell: bool = False) -> list[Verb]:
    """A command in the guest; its exit status counts for nothing, as in ScienceBoard."""
    text = command if isinstance(command, str) else shlex.join(command)
    return [Verb("scienceboard_execute", {"command": text})]


def opt(task: TaskFile, *, depth: int) -> list[Verb]:
    """How deep ScienceBoard's accessibility tree is; ours is whole."""
    return []


def touch(task: TaskFile, *, text: str, path: str) -> list[Verb]:
    """A file with a text."""
    return [Verb("scienceboard_touch", {"path": home_path(path), "text": text})]


def append(task: TaskFile, *, path: str, content: str) -> list[Verb]:
    """A text at the end of a file."""
    return [Verb("scienceboard_append", {"path": home_path(path), "text": content})]


def download(task: TaskFile, *, url: str, path: str) -> list[Verb]:
    """Refused: what a task gives must not depend on a network."""
    raise CannotError(
        f"downloads {url}: set-up fetches nothing from the network; get it from there yourself."
    )


def run_command(desktop: Desktop, *, command: str) -> None:
    """Run a command of the guest's shell in its home.

    Raises:
        DeadlineError: it takes too long.
    """
    _run(desktop, command, "shell")


def put_text(desktop: Desktop, *, path: str, text: str) -> None:
    """Write a text file below the guest's home."""
    desktop.put_file(path, text.encode())


def append_text(desktop: Desktop, *, path: str, text: str) -> None:
    """Add a text to the end of a file below the guest's home, which is made where it is missing.

    Raises:
        DeadlineError: it takes too long.
    """
    code = f"import pathlib\nwith (pathlib.Path.home() / {path!r}).open('a') as file: file.write({text!r})\n"
    _run(desktop, code, "python")


def launched(desktop: Desktop) -> None:
    """Nothing: a program whose verb is called runs, and stands in front."""


VERBS: Mapping[str, Callable[..., None]] = {
    "scienceboard_launched": launched,
    "scienceboard_execute": run_command,
    "scienceboard_touch": put_text,
    "scienceboard_append": append_text,
}


def _run(desktop: Desktop, code: str, language: str) -> None:
    seen = desktop.act(Action.code(code, language))
    if seen.output.endswith(_TIMED_OUT):
        raise DeadlineError("set-up", f"a {language} command takes too long: {code[:200]!r}")
