"""What a program has stored, as its own command line tells: what to run in the guest, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Inspection:
    """A command that reads what a program has stored; see the message of that name in the .proto.

    It runs in the guest, out of reach of the policy's code: the home is read only at its place, /tmp is its
    own, HOME is /tmp, and there are no desktop, no network and no variables but a few and `env`.

    Attributes:
        name: in `Observation.inspections`; starts with the app's name where several apps share a desktop.
        argv: the command, by absolute paths.
        stdin: its input, such as a script.
        env: variables for it.
        watches: files or folders below the home; it runs again only when one of them has changed, and at the
            end of an episode. Without any it runs at every step.
        max_output_bytes: of stdout and stderr together.
    """

    name: str
    argv: tuple[str, ...]
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)
    watches: tuple[str, ...] = ()
    max_output_bytes: int = 2**20


@dataclass(frozen=True, slots=True)
class Inspected:
    """What an inspection gave; nothing in it is to be trusted further than the policy's own files.

    Attributes:
        stdout: its output.
        stderr: its errors.
        exit_code: negative is the signal that ended it.
        timed_out: it was killed at the time limit of all inspections together.
        truncated: output beyond its limit was dropped.
        problem: why it did not run at all, else "".
    """

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int = 0
    timed_out: bool = False
    truncated: bool = False
    problem: str = ""

    @property
    def whole(self) -> bool:
        """Whether it ran to a good end, and all of its output is here."""
        return not (self.exit_code or self.timed_out or self.truncated or self.problem)
