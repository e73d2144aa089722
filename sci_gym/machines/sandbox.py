"""A desktop in a bubblewrap sandbox on this machine: no network, an ordinary user, limits.

The daemon runs in the sandbox; every program it starts gets a further sandbox inside it (a "cell", see
`sci_gym_vm_agent.cells`), so that programs see neither the daemon nor anything of this host but /usr and a
few files of /etc. Works for root, which first becomes an ordinary user, and for ordinary users.
"""

from __future__ import annotations

import compileall
import contextlib
import functools
import os
import secrets
import selectors
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from sci_gym.app import Requirement
from sci_gym.errors import DisconnectedError, InfrastructureError, LaunchError, MissingDependencyError
from sci_gym.frames import memory_bytes
from sci_gym.installation import shown_folders
from sci_gym.machines._owned import OwnedMachine
from sci_gym.machines._parts import PARTS, find_parts, stopped
from sci_gym.machines._remains import Remains
from sci_gym.machines._shared import share_memory
from sci_gym.machines._spawn import spawn
from sci_gym.machines.base import Endpoint, MachineSpec

_MERGED_USR = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC = (
    "alternatives", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "machine-id",
    "mime.types", "nsswitch.conf", "openbox", "xdg", "texmf", "gtk-3.0", "magic",
)  # fmt: skip
_VAR = ("/var/cache/fontconfig", "/var/lib/texmf", "/var/lib/dbus")
_CODE = "/opt/sci-gym"
_SOCKETS = "/run/sci-gym"
_DAEMON_IMPORTS = ("grpc", "google", "lz4", "Xlib")
_UNPRIVILEGED_UID = 65534
_END_S = 1.0
_PASSWD = "root:x:0:0:root:/root:/usr/sbin/nologin\nuser:x:1000:1000:user:/home/user:/bin/bash\n"
_GROUP = "root:x:0:\nuser:x:1000:\n"


class SandboxMachine(OwnedMachine):
    """The embedded default machine."""

    title = "the sandbox"
    prefix = "sci-gym-"
    visible = frozenset({*PARTS, "sandbox", "daemon", "program"})
    commands: ClassVar[Mapping[str, str]] = {
        "bwrap": "bubblewrap",
        "prlimit": "util-linux",
        "Xvfb": "xvfb",
        "dbus-daemon": "dbus-daemon",
        "openbox": "openbox",
        "/usr/libexec/at-spi2-registryd": "at-spi2-core",
    }

    _shown: Sequence[Path] = ()

    def start(self) -> Endpoint:
        """Start the sandbox, and return when the daemon listens."""
        self._check_commands()
        with self._lock:
            self.stop()
            remains = self._own()
            try:
                return self._start(remains)
            except BaseException:
                self.stop()
                raise

    def restore(self) -> Endpoint:
        """A fresh sandbox is as cheap as bringing an old one back."""
        return self.start()

    def require(self, requirements: Sequence[Requirement]) -> None:
        """Look on this host, whose /usr the sandbox shows, and from its next start on what users bring."""
        missing = [one for one in requirements if one.found is None]
        if missing:
            lacking = {f"{one.command} ({one.why})": one.package for one in missing}
            raise MissingDependencyError.of(
                "the app", lacking, advice=[one.advice for one in missing if one.advice]
            )
        self._shown = shown_folders(requirements)

    def parts(self) -> Mapping[str, Sequence[int]]:
        """Every part's processes; none when it does not run."""
        process = self._process  # another thread may stop it meanwhile
        return find_parts(process.pid) if process is not None else {}

    def fault(self) -> InfrastructureError | None:
        """Tell the sandbox's own end from the daemon's, and either from a part that is stopped."""
        if self._process is None:
            return DisconnectedError("sandbox", "does not run")
        try:
            code = self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            part = stopped(self.parts())
            return InfrastructureError(part, "its process is stopped") if part else None
        if code < 0:
            return DisconnectedError("sandbox", f"was ended by signal {-code}")
        return DisconnectedError("daemon", f"ended with {code}; {self._log()}")

    @property
    def _folder(self) -> Path | None:
        return self._remains.folder if self._remains else None

    def _start(self, remains: Remains) -> Endpoint:
        _prepare(remains.folder)
        _compile_daemon()
        descriptor, remains.frame_memory = share_memory(memory_bytes(self.spec.width, self.spec.height))
        with os.fdopen(descriptor), (remains.folder / "daemon.log").open("wb") as log:
            remains.process = spawn(
                _command(remains.folder, self.spec, self._shown, descriptor), log, [descriptor]
            )
        token = secrets.token_urlsafe(32)
        self._hand_over(remains.process, token)
        return Endpoint(f"unix:{remains.folder / 'run' / 'agent.sock'}", token, remains.frame_memory)

    def _hand_over(self, process: subprocess.Popen[bytes], token: str) -> None:
        """Give the daemon its token, and wait for its word that it is ready."""
        assert process.stdin is not None  # both are piped by spawn
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(f"{token}\n".encode())
            process.stdin.flush()
        with selectors.DefaultSelector() as selector, _ending(process) as ended:
            selector.register(process.stdout, selectors.EVENT_READ)
            selector.register(ended, selectors.EVENT_READ)  # something of it may hold its output open
            told = [key.fileobj for key, _ in selector.select(self.spec.start_s)]
            if not told:
                raise LaunchError(
                    "sandbox", f"the daemon was not ready within {self.spec.start_s} s; {self._log()}"
                )
        if process.stdout not in told or process.stdout.readline() != b"ready\n":
            raise LaunchError("sandbox", f"the daemon ended while it started; {self._log()}")

    def _log(self) -> str:
        assert self._folder is not None
        text = (self._folder / "daemon.log").read_text(errors="replace").strip()
        return f"its log ends: {text[-1500:]!r}" if text else "its log is empty"


MACHINE = SandboxMachine


@contextlib.contextmanager
def _ending(process: subprocess.Popen[bytes]) -> Iterator[int]:
    """A descriptor that can be read when a process has ended."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError as error:
        raise LaunchError("sandbox", "was ended while it started") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _prepare(folder: Path) -> None:
    """Lay out a machine's folder: the daemon's socket folder, and a password file of its own."""
    folder.chmod(0o711)
    (folder / "run").mkdir(mode=0o700)
    (folder / "passwd").write_text(_PASSWD)
    (folder / "group").write_text(_GROUP)
    if os.geteuid() == 0:
        os.chown(folder / "run", _UNPRIVILEGED_UID, _UNPRIVILEGED_UID)


@functools.cache
def _compile_daemon() -> None:
    """Leave the daemon's bytecode beside its source, where the sandbox can read but not write."""
    compileall.compile_dir(_package_folder("sci_gym_vm_agent"), quiet=2)


def _command(folder: Path, spec: MachineSpec, shown: Sequence[Path], frame_fd: int) -> list[str]:
    """The command line of the whole sandbox."""
    packages = {name: _package_folder(name) for name in ("sci_gym_protos", "sci_gym_vm_agent")}
    env = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/guest",
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join([_CODE, *map(str, _site_folders())]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    line = _become_ordinary([*_python_paths(), *packages.values(), *shown])
    line += ["bwrap", "--die-with-parent", "--unshare-all", "--new-session", "--hostname", "sci-gym"]
    line += ["--uid", "1000", "--gid", "1000", "--proc", "/proc", "--dev", "/dev", "--clearenv"]
    # The interpreter may lie below /tmp, so the guest's /tmp comes first.
    line += [*_system(folder), "--tmpfs", "/tmp", *_python()]
    for name, source in packages.items():
        line += ["--ro-bind", str(source), f"{_CODE}/{name}"]
    for path in shown:
        line += ["--ro-bind", str(path), str(path)]
    line += ["--size", str(spec.disk_bytes), "--tmpfs", "/guest"]
    line += ["--bind", str(folder / "run"), _SOCKETS, "--chdir", "/"]
    for name, value in env.items():
        line += ["--setenv", name, value]
    line += ["--", sys.executable, "-S", "-m", "sci_gym_vm_agent", "--listen", f"unix:{_SOCKETS}/agent.sock"]
    line += ["--size", f"{spec.width}x{spec.height}", "--max-memory", str(spec.memory_bytes)]
    line += ["--max-processes", str(spec.processes), "--frame-fd", str(frame_fd)]
    for path in shown:
        line += ["--show", str(path)]
    return [*line, "--network", "machine"]  # which has none


def _system(folder: Path) -> list[str]:
    """The part of the command line that shows the distribution's files, and a password file of our own."""
    line = ["--ro-bind", "/usr", "/usr"]
    for name in _MERGED_USR:
        if Path("/", name).is_symlink():
            line += ["--symlink", f"usr/{name}", f"/{name}"]
    for path in [*(f"/etc/{name}" for name in _ETC), *_VAR]:
        line += ["--ro-bind-try", path, path]
    for name in ("passwd", "group"):
        line += ["--ro-bind", str(folder / name), f"/etc/{name}"]
    return line


def _python() -> list[str]:
    """The part that shows the daemon's interpreter and packages; tasks and oracles never enter the guest."""
    line = []
    for path in _python_paths():
        line += ["--ro-bind", str(path), str(path)]
    for path in _own_packages():
        line += ["--tmpfs", str(path)]
    return line


def _python_paths() -> list[Path]:
    """What the daemon's interpreter reads and /usr does not hold."""
    wanted = {Path(sys.prefix), Path(sys.base_prefix), *_site_folders()}
    outside = sorted(path for path in wanted if not path.is_relative_to("/usr"))
    return [path for path in outside if not any(path != top and path.is_relative_to(top) for top in outside)]


def _site_folders() -> list[Path]:
    """Where the packages that the daemon imports are installed."""
    return sorted({_package_folder(name).parent for name in _DAEMON_IMPORTS})


def _package_folder(name: str) -> Path:
    found = find_spec(name)
    assert found is not None  # sci_gym depends on it, or it is a part of it
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0])


def _own_packages() -> Iterator[Path]:
    """Folders of sci_gym that would be visible in the sandbox below /usr or the interpreter's paths."""
    visible = [Path("/usr"), *_python_paths()]
    folders = {_package_folder(name) for name in ("sci_gym", "sci_gym.envs", "sci_gym.wrappers")}
    for folder in sorted(folders):
        inside = any(folder.is_relative_to(path) for path in visible)
        if inside and not any(folder != other and folder.is_relative_to(other) for other in folders):
            yield folder


def _become_ordinary(paths: Sequence[Path]) -> list[str]:
    """For root: the command prefix that goes on as an ordinary user who can still read `paths`."""
    if os.geteuid() != 0:
        return []
    script = Path(__file__).with_name("_ordinary.py")
    return [sys.executable, "-IS", str(script), str(_UNPRIVILEGED_UID), *map(str, paths), "--"]
