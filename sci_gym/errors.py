"""The exception tree: every error that sci_gym raises on purpose is a `SciGymError`.

    SciGymError
    |-- ConfigurationError          also a ValueError: what a caller asked for cannot be
    |   |-- UnknownNameError        also a KeyError: no such task, app, machine, option
    |   |-- TaskFileError           a task file is wrong: FILE:LINE: field: what, and what to do
    |   `-- ActionError             an action is outside the action space or cannot be parsed
    |-- MissingDependencyError      a program or package is not installed: which, and how to get it
    `-- InfrastructureError         the machine failed, not the policy; a step ends truncated with it
        |-- LaunchError             a machine or program did not come up within its attempts
        |-- DeadlineError           a part did not answer within its deadline
        |-- DisconnectedError       the daemon or its machine is gone
        |-- CrashError              a program was ended by a signal, which no policy can send
        `-- ProtocolError           the daemon speaks another version, refuses the token, or answers nonsense

Messages name what failed, where, and what to do about it.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self


class SciGymError(Exception):
    """Base of every error that sci_gym raises on purpose; it can be pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Restore what was said, since subclasses are made from other arguments."""
        return _restore, (type(self), self.args, self.__dict__)


class ConfigurationError(SciGymError, ValueError):
    """What the caller asked for cannot be."""


class UnknownNameError(ConfigurationError, KeyError):
    """No such task, app, machine or option."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        """Say which name of which kind is unknown, and what it could have meant."""
        choices = sorted(known)
        close = difflib.get_close_matches(name, choices, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        super().__init__(f"unknown {what} {name!r}.{hint} Known: {', '.join(choices) or 'none'}.")

    def __str__(self) -> str:
        """Return the message as it was written (KeyError would quote it)."""
        return str(self.args[0])


class TaskFileError(ConfigurationError):
    """A task file is wrong; the message starts with `FILE:LINE: field:`.

    Attributes:
        file: its path.
        line: from 1.
        field: keys that lead to what is wrong, such as "node[0].check[1].name".
        message: what is wrong, and what to do.
    """

    def __init__(self, file: Path, line: int, field: str, message: str) -> None:
        """Take the place, and what is wrong there."""
        super().__init__(file, line, field, message)
        self.file, self.line, self.field, self.message = file, line, field, message

    def __str__(self) -> str:
        """Return it as compilers do, so that editors can jump there."""
        return f"{self.file}:{self.line}: {self.field}: {self.message}"


class ActionError(ConfigurationError):
    """An action is outside the action space, or its text cannot be parsed."""


class MissingDependencyError(SciGymError):
    """A program or package is not installed; the message holds the command that installs it."""

    @classmethod
    def of(cls, who: str, lacking: Mapping[str, str], where: str = "", advice: Iterable[str] = ()) -> Self:
        """Say what `who` needs and lacks, each with the Debian package that brings it or "", and where.

        Args:
            who: needs it.
            lacking: command to package.
            where: to install it, such as " there".
            advice: how to get what no package brings.
        """
        packages = [package for package in lacking.values() if package]
        command = [f"install{where} with: {install_command(packages)}"] if packages else []
        return cls("; ".join([f"{who} needs {', '.join(lacking)}", *command, *advice]))


class InfrastructureError(SciGymError):
    """The machine failed, not the policy.

    Attributes:
        part: what failed, such as "daemon", "display", "accessibility bus" or a program's name.
    """

    def __init__(self, part: str, message: str) -> None:
        """Name the part that failed."""
        super().__init__(f"{part}: {message}")
        self.part = part


class LaunchError(InfrastructureError):
    """A machine or program did not come up within its attempts."""


class DeadlineError(InfrastructureError):
    """A part did not answer within its deadline."""


class DisconnectedError(InfrastructureError):
    """The daemon or its machine is gone."""


class CrashError(InfrastructureError):
    """A program was ended by a signal: by a mistake of its own or from outside; policies can send none."""


class ProtocolError(InfrastructureError):
    """The daemon speaks another version, refuses the token, or answers nonsense."""


def _restore(kind: type[SciGymError], args: tuple[Any, ...], attributes: dict[str, Any]) -> SciGymError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


def install_command(packages: Iterable[str]) -> str:
    """The one command that installs Debian packages."""
    sudo = "" if os.geteuid() == 0 else "sudo "
    return f"{sudo}apt-get install -y --no-install-recommends {' '.join(sorted(set(packages)))}"
