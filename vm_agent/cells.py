"""A cell: one command in a bubblewrap sandbox of its own, beside the daemon but out of its reach.

Each program and each piece of a policy's code runs in its own process and user namespace, with the guest's
home and temporary folder and nothing of the daemon: not its process, its memory, its packages or its socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Mapping, Optional, Sequence

from sci_gym_vm_agent.door import READABLE
from sci_gym_vm_agent.errors import InvalidArgument, PartUnavailable
from sci_gym_vm_agent.parts import RUNTIME
from sci_gym_vm_agent.syscalls import open_refusals

HOME = "/home/user"
UID = 1000
_START_S = 10.0
MAX_ARGUMENT_BYTES = 2**17 - 1  # Linux, MAX_ARG_STRLEN
MAX_COMMAND_BYTES = 2**20
_FOLDER_BYTES = 256 * 2**20
_PRIVATE_ENV = {
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "USER": "user",
    "LOGNAME": "user",
}
_MERGED_USR = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


@dataclass(frozen=True)
class CellPlan:
    """What all cells of a desktop share.

    Attributes:
        home: the daemon's path of the folder that cells see as their home.
        tmp: the daemon's path of the folder that cells see as /tmp.
        sockets: the daemon's paths of the bus sockets; cells see them in their runtime folder.
        env: the desktop's variables.
        max_processes: of one cell, threads included.
        preloads: the daemon's path of the start-up modules; cells see it at the same place.
        network: cells share the daemon's; otherwise each has but a loopback of its own.
        shown: further folders that cells see, read only, at the same place.
        private: cells can read the home and change nothing, have a /tmp of their own, and share nothing else
            with other cells.
    """

    home: Path
    tmp: Path
    sockets: Sequence[Path]
    env: Mapping[str, str]
    max_processes: int
    preloads: Path = field(default=Path("/nonexistent"))
    network: bool = False
    shown: Sequence[Path] = ()
    private: bool = False

    def to_inspect(self) -> CellPlan:
        """The plan of cells that read what is stored, out of reach of the policy's code."""
        return replace(
            self, sockets=(), env=_PRIVATE_ENV, preloads=Path("/nonexistent"), network=False, private=True
        )

    def argv(
        self, command: Sequence[str], env: Mapping[str, str], info_fd: int, seccomp_fd: int
    ) -> list[str]:
        """Return the command line that runs `command` in a new cell."""
        line = ["prlimit", f"--nproc={self.max_processes}", "--core=0", "bwrap", "--die-with-parent"]
        line += [
            "--new-session",
            "--unshare-user",
            "--unshare-pid",
            "--unshare-cgroup-try",
            "--cap-drop",
            "ALL",
        ]
        line += [] if self.network else ["--unshare-net"]
        line += ["--unshare-ipc"] if self.private else []
        line += ["--uid", str(UID), "--gid", str(UID), "--info-fd", str(info_fd), "--clearenv"]
        line += ["--seccomp", str(seccomp_fd), "--ro-bind", READABLE[0], READABLE[0]]
        line += ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"]
        line += [*_bounded("/dev/shm", "1777"), "--remount-ro", "/dev"]
        for name in _MERGED_USR:
            if os.path.islink(f"/{name}"):
                line += ["--symlink", f"usr/{name}", f"/{name}"]
        for path in READABLE[1:]:
            line += ["--ro-bind-try", path, path]
        if self.private:
            line += [*_bounded("/tmp", "0700"), "--ro-bind", str(self.home), HOME]
        else:
            line += ["--bind", str(self.tmp), "/tmp", "--ro-bind", "/tmp/.X11-unix", "/tmp/.X11-unix"]
            line += ["--bind", str(self.home), HOME]
        line += [*_bounded("/run", "0755"), "--perms", "0700", "--dir", RUNTIME]
        for socket in self.sockets:
            line += ["--ro-bind", str(socket), f"{RUNTIME}/{socket.name}"]
        for folder in self.shown:
            line += ["--ro-bind", str(folder), str(folder)]
        line += ["--ro-bind-try", str(self.preloads), str(self.preloads)]
        line += ["--chdir", "/tmp" if self.private else HOME]
        for name, value in {**self.env, **env}.items():
            line += ["--setenv", name, value]
        return [*line, "--", *command]


def _bounded(path: str, mode: str) -> list[str]:
    """Return the part of a command line that gives a cell a folder in memory, of bounded size."""
    return ["--perms", mode, "--size", str(_FOLDER_BYTES), "--tmpfs", path]


@dataclass
class Cell:
    """A running cell."""

    process: asyncio.subprocess.Process
    init_pid: int

    @property
    def running(self) -> bool:
        """Whether its command has not ended."""
        return self.process.returncode is None

    def main_pid(self) -> Optional[int]:
        """The command's process id as the daemon sees it, None before it starts and after it ends."""
        try:
            children = Path(f"/proc/{self.init_pid}/task/{self.init_pid}/children").read_text().split()
        except OSError:
            return None
        return int(children[0]) if children else None

    def signal(self, number: int) -> None:
        """Send the command a signal."""
        pid = self.main_pid()
        if pid is not None:
            os.kill(pid, number)

    async def end(self, grace_s: float) -> int:
        """End the cell with all its processes: terminate, wait, kill, reap. Returns the exit code."""
        if self.running and grace_s > 0:
            self.signal(signal.SIGTERM)
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self.process.wait(), grace_s)
        if self.running:
            self.process.kill()  # its init dies with it, and all other processes with that
        return exit_code(await self.process.wait())


def check_command(field: str, argv: Sequence[str], env: Mapping[str, str]) -> None:
    """Refuse a command line or environment that no process can have.

    Raises:
        InvalidArgument: it is empty or too long, or holds a NUL or a variable without a proper name.
    """
    if not argv or not argv[0]:
        raise InvalidArgument(f"{field}.argv: must be given")
    if any(not name or "=" in name for name in env):
        raise InvalidArgument(f"{field}.env: a variable's name is empty or holds '='")
    sizes = [len(text.encode()) + 1 for text in (*argv, *env, *env.values())]
    if max(sizes) > MAX_ARGUMENT_BYTES or sum(sizes) > MAX_COMMAND_BYTES:
        raise InvalidArgument(
            f"{field}: argv and env hold at most {MAX_COMMAND_BYTES} bytes, {MAX_ARGUMENT_BYTES} in a text"
        )
    if any("\0" in text for text in (*argv, *env, *env.values())):
        raise InvalidArgument(f"{field}: argv and env hold no NUL")


def exit_code(status: int) -> int:
    """Return bwrap's exit status as Python's: negative for a signal."""
    return 128 - status if 128 < status < 128 + signal.NSIG else status


async def start_cell(
    plan: CellPlan,
    command: Sequence[str],
    env: Mapping[str, str],
    *,
    stdin: int = asyncio.subprocess.DEVNULL,
    stdout: int = asyncio.subprocess.DEVNULL,
    stderr: int = asyncio.subprocess.DEVNULL,
    pass_fds: Sequence[int] = (),
) -> Cell:
    """Start a command in a new cell.

    Raises:
        PartUnavailable: bwrap could not be started, or ended before the cell stood.
    """
    seccomp = open_refusals()
    info_read, info_write = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *plan.argv(command, env, info_write, seccomp),
            stdin=stdin, stdout=stdout, stderr=stderr, pass_fds=(*pass_fds, info_write, seccomp),
            env={"PATH": os.environ.get("PATH", os.defpath)},  # the cell can read that of its init
        )  # fmt: skip
    except OSError as error:
        os.close(info_read)
        raise PartUnavailable("sandbox", f"no cell can be started ({error.strerror})") from error
    except BaseException:
        os.close(info_read)
        raise
    finally:
        os.close(info_write)
        os.close(seccomp)
    try:
        return Cell(process, await _read_child_pid(info_read))
    except BaseException:
        if process.returncode is None:
            process.kill()
        await process.wait()
        raise
    finally:
        os.close(info_read)


async def _read_child_pid(descriptor: int) -> int:
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    text = ""
    try:
        while not text.rstrip().endswith("}"):
            await asyncio.wait_for(readable.wait(), _START_S)
            readable.clear()
            part = os.read(descriptor, 4096).decode()
            if not part:
                raise PartUnavailable("sandbox", "bwrap ended before the cell stood")
            text += part
    except asyncio.TimeoutError:
        raise PartUnavailable("sandbox", f"bwrap did not report its cell within {_START_S} s") from None
    finally:
        loop.remove_reader(descriptor)
    return int(json.loads(text)["child-pid"])
