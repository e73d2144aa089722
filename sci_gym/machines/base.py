"""What every machine can do."""

from __future__ import annotations

import abc
import mmap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sci_gym.app import Requirement
from sci_gym.errors import ConfigurationError, InfrastructureError


@dataclass(frozen=True, slots=True)
class MachineSpec:
    """How large a machine is.

    Attributes:
        width: of its screen, in pixels.
        height: of its screen, in pixels.
        memory_bytes: private memory of all programs together.
        disk_bytes: of the home and of the temporary folder, each.
        processes: of each program, threads included.
        start_s: deadline for the daemon to come up.
    """

    width: int = 1920
    height: int = 1080
    memory_bytes: int = 4 * 2**30
    disk_bytes: int = 2**30
    processes: int = 768
    start_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a machine's daemon listens, and the token that it wants.

    Attributes:
        address: gRPC target, such as "unix:/run/.../agent.sock" or "127.0.0.1:50051".
        token: the secret of every call.
        frame_memory: what this process and the daemon both map, `frames.memory_bytes` large; None where they
            run on different machines.
        session: what the daemon answers to, once its desktop is claimed; "" where nobody claims it.
        ca: certificates in PEM, one of which must have signed the daemon's; None: no TLS.
    """

    address: str
    token: str
    frame_memory: mmap.mmap | None = None
    session: str = ""
    ca: bytes | None = None

    def __repr__(self) -> str:
        """Leave the token out, so that no log holds it."""
        return f"Endpoint({self.address!r})"


class Snapshot(abc.ABC):
    """RAM, disk and clock of a machine at one moment, from which any number of machines can go on.

    It outlives its machine. After any exit path, `kill -9` of this process included, nothing of it is left.
    """

    @abc.abstractmethod
    def fork(self) -> Machine:
        """Plan a machine that goes on from this moment when it is started.

        Its `start` and `restore` both give the state of this moment, behind an endpoint of its own. Forks of
        one snapshot may be started at once, each by a thread of its own.
        """

    @abc.abstractmethod
    def drop(self) -> None:
        """Free what it holds; started forks run on, no more can be started. More than once is fine."""


class Machine(abc.ABC):
    """A place where a desktop runs.

    One thread at a time, but for `stop` and `held_bytes`, which any thread may call at any time.
    After any exit path, `kill -9` of this process included, nothing of a machine is left running.

    Attributes:
        title: what messages call this kind of machine.
        single: the options name one desktop, of which no second can be had.
        visible: the parts whose processes this host can tell, see `parts`.
    """

    title: ClassVar[str] = "this machine"
    single: ClassVar[bool] = False
    visible: ClassVar[frozenset[str]] = frozenset()

    @property
    def slowness(self) -> float:
        """How many times as long as on this host itself things may take there."""
        return 1.0

    def __init__(self, spec: MachineSpec) -> None:
        """Plan a machine; nothing runs before `start`."""
        self.spec = spec

    @abc.abstractmethod
    def start(self) -> Endpoint:
        """Start it, and return when its daemon listens.

        Raises:
            MissingDependencyError: something is not installed; the message says how to get it.
            LaunchError: it did not come up.
        """

    @abc.abstractmethod
    def restore(self) -> Endpoint:
        """Bring it back to the state in which it was after `start`; raises what `start` raises."""

    @abc.abstractmethod
    def stop(self) -> bool:
        """End it with all its processes and files within seconds; more than once is fine, and never raises.

        A `start` or `restore` that goes on in another thread then fails with LaunchError, or had not begun.

        Returns:
            Whether all of it has ended; False when the kernel does not let a process go.
        """

    def snapshot(self) -> Snapshot:
        """Keep this moment of a running machine, which runs on; no call to its daemon may be under way.

        Raises:
            ConfigurationError: this kind of machine cannot.
            InfrastructureError: it failed.
        """
        raise ConfigurationError(f"machine: {self.title} cannot fork; use machine='libvirt'")

    def keep(self, key: str) -> Endpoint | None:
        """Keep this moment for `recall`s to come, of other processes too, and go on from it.

        Returns:
            Where the daemon listens from now on; None where this kind of machine keeps nothing, and runs on.

        Raises:
            InfrastructureError: it failed.
        """
        return None

    def recall(self, key: str) -> Endpoint | None:
        """Start where a machine like this one was kept under `key`; None where none was.

        Raises what `start` raises.
        """
        return None

    def prepared(self) -> bool:
        """Whether a start is quick; False where the first of all takes minutes, and none was made yet."""
        return True

    def held_bytes(self) -> int:
        """What it holds of this host's memory; at worst what it may hold, where that cannot be told."""
        return self.spec.memory_bytes

    @abc.abstractmethod
    def require(self, requirements: Sequence[Requirement]) -> None:
        """Check that what an app needs is installed where its programs will run.

        Raises:
            MissingDependencyError: it is not; the message says how to get it.
        """

    def parts(self) -> Mapping[str, Sequence[int]]:
        """The processes that it consists of, by their ids on this host, to be watched or broken.

        Keys: those of `visible`: "sandbox" or "virtual machine" (what ends everything with it), "daemon",
        "display", "session bus", "accessibility bus", "accessibility registry", "window manager"; instead of
        "program", the main processes of programs by their executable's name.

        Raises:
            ConfigurationError: its processes cannot be seen from this host.
        """
        raise ConfigurationError(
            f"machine: {type(self).__name__} cannot tell its processes; use the sandbox for this"
        )

    def fault(self) -> InfrastructureError | None:
        """What this host sees of a machine whose daemon does not answer: the part that is dead or stopped."""
        return None

    def facts(self) -> Mapping[str, str]:
        """What else is worth telling of it, such as how it was started."""
        return {}

    @property
    @abc.abstractmethod
    def running(self) -> bool:
        """Whether it runs."""

    @classmethod
    @abc.abstractmethod
    def missing(cls) -> dict[str, str]:
        """What this machine needs and this host lacks: command to the Debian package that brings it."""
