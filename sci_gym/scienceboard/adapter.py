"""What an app's folder provides to play ScienceBoard's tasks: `envs/<app>/scienceboard.py` with a `ADAPTER`.

An adapter turns the calls of a task file into the app's own set-up verbs and checks. Its functions are called
with the task file and the call's fields as keyword arguments, whose annotations say what a field may be:

    def tab(task: TaskFile, *, index: int) -> list[Verb]: ...       # for {"func": "tab", "index": 1}
    def val(task: TaskFile, *, key: str, value: float) -> Judged: ...   # for {"type": "val", ...}

What the stock program cannot give is refused with `CannotError`, so that the task is never played for less
than it says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sci_gym.app import App
from sci_gym.errors import ConfigurationError
from sci_gym.scienceboard.document import TaskFile
from sci_gym.scienceboard.lambdas import Lambda, LambdaRefusedError
from sci_gym.specs import Check, Inspection, Verb

PROGRAMS: Mapping[str, str] = {
    "Celestia": "SciBoard-Celestia-v0",
    "ChimeraX": "SciBoard-ChimeraX-v0",
    "GrassGIS": "SciBoard-GrassGIS-v0",
    "KAlgebra": "SciBoard-KAlgebra-v0",
    "Lean": "SciBoard-Lean-v0",
    "TeXstudio": "SciBoard-TeXstudio-v0",
}
"""ScienceBoard's programs, and the environments that play their tasks."""


class CannotError(ConfigurationError):
    """A task file asks for what an adapter, or sci_gym, cannot give; the message says what and why."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value comes from that ScienceBoard asks its patched program for.

    Attributes:
        key: what it asks for, such as "GET /vars".
        ours: what is read of the stock program instead.
        exact: whether the two are the same.
        why: how they differ, where they do.
    """

    key: str
    ours: str
    exact: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """What an item of `evaluate` becomes.

    Attributes:
        checks: all must hold.
        files: guest files that they read, relative to the home.
        inspections: commands in the guest whose output they rest on.
        asked: inspections of the app's own, by name and arguments.
    """

    checks: tuple[Check, ...]
    files: tuple[str, ...] = ()
    inspections: tuple[Inspection, ...] = ()
    asked: tuple[Verb, ...] = ()


def judged(predicate: str, **arguments: object) -> Judged:
    """One check by a predicate's name, which needs nothing beside the program's state."""
    return Judged((Check(predicate, arguments),))


def read_lambda(text: str, parameters: int) -> Lambda:
    """A lambda of a task file.

    Raises:
        CannotError: it is of a form that is not known, or takes another number of values.
    """
    try:
        parsed = Lambda(text)
    except LambdaRefusedError as exc:
        raise CannotError(str(exc)) from exc
    if parsed.parameters != parameters:
        raise CannotError(f"{text!r} takes {parsed.parameters} values, not {parameters}.")
    return parsed


def as_it_is(app: App) -> App:
    """The app itself."""
    return app


def no_task(task: TaskFile, app: App) -> None:
    """Refuse none."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """How an app plays ScienceBoard's tasks of one program.

    Attributes:
        program: ScienceBoard's name of it: the `type` of its task files.
        executables: base names of the commands that `launch` may start, which the app starts itself.
        setup: by `func`, what gives the verbs of a call of `initialize`.
        checks: by `type`, what an item of `evaluate` becomes.
        verbs: set-up verbs that only these tasks use, beside the app's own.
        predicates: predicates that only these tasks use, beside the app's own.
        sources: the table of what is read in place of the patched program's state.
        played_on: the app as these tasks need it started, such as on other data.
        hold: refuses, by `CannotError`, a task that the app as it is installed cannot play.
    """

    program: str
    executables: frozenset[str]
    setup: Mapping[str, Callable[..., Sequence[Verb]]]
    checks: Mapping[str, Callable[..., Judged]]
    verbs: Mapping[str, Callable[..., None]] = field(default_factory=dict)
    predicates: Mapping[str, Callable[..., bool]] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    played_on: Callable[[App], App] = as_it_is
    hold: Callable[[TaskFile, App], None] = no_task
