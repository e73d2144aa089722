"""What a program's folder under `envs/` provides: an `App`.

An app is data and pure functions, run on the host. Whatever has to run beside the program is a start-up
module (`ProgramSpec.preload`), which the guest loads into the stock program, or an inspection: a command that
reads what the program has stored.
"""

from __future__ import annotations

import abc
import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from sci_gym.specs import Action, Inspection, Observation, TaskSpec


@dataclass(frozen=True, slots=True)
class Requirement:
    """Something that must be installed where the program runs.

    Attributes:
        command: an executable that must be on PATH, or the absolute path of a file that must exist.
        package: the Debian package that brings it, "" for what a user brings.
        why: what it is needed for.
        shown: the folder that programs must be shown for it, read only; "" for what a package brings.
        advice: how to get it where no package brings it.
    """

    command: str
    package: str
    why: str
    shown: str = ""
    advice: str = ""

    @property
    def found(self) -> str | None:
        """Where it is on this host, None when it is missing."""
        return shutil.which(self.command) or (self.command if Path(self.command).is_file() else None)


@dataclass(frozen=True, slots=True)
class ProgramSpec:
    """How to start a program.

    Attributes:
        name: the app's name for it.
        argv: the command.
        env: variables set for it beside the desktop's own.
        preload: its start-up module, or None: C source (`.c`), or a Python module (`.py`) that every Python
            of the program imports before anything else. What it reports on the descriptor that
            SCI_GYM_STATE_FD names comes back in `Program.state`.
        register_s: how long it may take to register with the accessibility bus before it is launched again.
        reports: its start-up module reports once the program is able to answer, within `register_s`.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    preload: Path | None = None
    register_s: float = 10.0
    reports: bool = False

    @property
    def module(self) -> dict[str, Any]:
        """The start-up module, as the client's `launch` takes it."""
        if self.preload is None:
            return {}
        source = self.preload.read_text()
        return {f"preload_{self.preload.suffix.removeprefix('.')}": source, "await_report": self.reports}


def json_object(text: str | bytes) -> dict[str, Any]:
    """An object that the guest wrote as JSON; empty when it is none, since `App.read_state` is total."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def reported(lines: Iterable[str]) -> dict[str, Any]:
    """What a start-up module in Python told: the last `{"what": subject, "is": value}` of each subject."""
    told: dict[str, Any] = {}
    for report in map(json_object, lines):
        if isinstance(report.get("what"), str):
            told[report["what"]] = report.get("is")
    return told


@dataclass(frozen=True, slots=True)
class Command:
    """What is run in the guest for a policy, where its other code runs.

    Attributes:
        argv: the command.
        stdin: its input.
    """

    argv: tuple[str, ...]
    stdin: bytes


class Desktop(Protocol):
    """What a set-up verb can do with the running desktop."""

    def act(self, action: Action) -> Observation:
        """Act, wait for the screen to settle, and observe."""

    def observe(self) -> Observation:
        """Observe without acting."""

    def wait_for(self, what: str, holds: Callable[[Observation], bool]) -> Observation:
        """Observe until a condition holds; `DeadlineError` names `what` when it does not in time."""

    def put_file(self, path: str, data: bytes) -> None:
        """Write a file below the guest's home."""


class App(abc.ABC):
    """A program (or several on one desktop) as an environment.

    Attributes:
        name: lower case, the prefix of its predicates and verbs.
        env_id: the Gymnasium id, such as "SciBoard-KAlgebra-v0".
        title: for people.
        folder: the app's folder; its task templates are `folder / "tasks" / "*.toml"`.
        requirements: what must be installed in the guest.
        programs: what is started for each episode.
        verbs: set-up verbs by name without prefix: functions of a `Desktop` and typed keyword arguments.
        predicates: predicates by name without prefix: functions of an `Evidence` and typed keyword arguments.
        inspections: inspections by name without prefix: functions of typed keyword arguments.
        screen: whether there is something to see; else a policy reads what `describe` says, unless it asks
            for pixels.
        quiet_s: how long nothing may change for a step to end, where that is more than `Timing.quiet_s`: for
            programs that draw and report from time to time.
    """

    name: ClassVar[str]
    env_id: ClassVar[str]
    title: ClassVar[str]
    folder: ClassVar[Path]
    requirements: ClassVar[tuple[Requirement, ...]]
    programs: ClassVar[tuple[ProgramSpec, ...]]
    verbs: ClassVar[Mapping[str, Callable[..., None]]]
    predicates: ClassVar[Mapping[str, Callable[..., bool]]]
    inspections: ClassVar[Mapping[str, Callable[..., Inspection]]] = {}
    screen: ClassVar[bool] = True
    quiet_s: ClassVar[float] = 0.0

    def offering(self, interface: str) -> App:
        """The app as it is started for an interface, "gui", "cli" or "hybrid": the same, unless it says else.

        With "gui", a program that has a command line of its own is started without it.
        """
        return self

    @property
    def parts(self) -> tuple[App, ...]:
        """The apps whose programs share the desktop: this one alone, unless it is a `Composition`."""
        return (self,)

    def late_parts(self, task: TaskSpec) -> tuple[App, ...]:
        """Those of them whose programs are started for some tasks only, this one among them: none."""
        return ()

    def lacking(self, task: TaskSpec) -> str:
        """How to get what this task needs beside the others and nobody brought; "" where that is nothing."""
        return " ".join(part.to_bring for part in self.late_parts(task) if part.to_bring)

    @property
    def to_bring(self) -> str:
        """How to get what a user brings, where that is not on this host; "" where nothing is missing."""
        return " ".join(one.advice for one in self.requirements if one.advice and one.found is None)

    def command(self, code: str) -> Command | None:
        """How to run code in the program's own command language; None where it has none."""
        return None

    def describe(self, observation: Observation) -> str:
        """How the program stands in words, for the observation "text"; pure and total as `read_state` is."""
        return ""

    @abc.abstractmethod
    def ready(self, observation: Observation) -> bool:
        """Whether the program can take input."""

    @abc.abstractmethod
    def read_state(self, observation: Observation) -> Mapping[str, Any]:
        """The program's state as plain data; each app documents its keys.

        Pure, and total: a program that is gone or half drawn gives an empty or partial state, never an error.
        It reads tree, programs, windows, files and inspections; while these stay the same it is not called
        again.
        """
