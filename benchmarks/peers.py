"""Peers: got from the package index on first use into a cache, and run in the guest beside our daemon.

They are never dependencies of ours. The cache is `~/.cache/sci_gym/peers` (below `XDG_CACHE_HOME` where that
is set); remove it to get newer versions.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from sci_gym.benchmarks.rows import PeerUnavailableError
from sci_gym.client import VMAgentClient

PYATSPI = "pyatspi, plain recursive walk"
PYATSPI_SHOWING = "pyatspi, hidden subtrees skipped"
PYAUTOGUI = "pyautogui"
PYAUTOGUI_SHOT = "pyautogui (stays in the guest, no pointer)"
CUA = "cua-computer-server"
PER_ACTION = "a process per action (pyautogui), pyatspi walk, no settling"
_GUEST_PYTHON = "/usr/bin/python3"
_GUEST_HOME = "/home/user"
# The last cua-computer-server for the guest's Python 3.11 does not start with a newer fastapi.
_WANTED = {PYAUTOGUI: ("pyautogui", "pillow"), CUA: ("cua-computer-server", "fastapi<0.120")}
_INSTALL_S = 600.0
_UNPACK_S = 60.0


class Guest:
    """Runs peers' scripts on one desktop; each measures itself, without its process's start."""

    def __init__(self, client: VMAgentClient, tell: Callable[[str], None]) -> None:
        """Bring the scripts in."""
        self._client, self._tell = client, tell
        self._packages: dict[str, str] = {}
        self._server: int | None = None
        self.nodes: dict[str, int] = {}  # that the last walk of each scope met
        client.put_file(".Xauthority", b"")  # without this file, pyautogui's Xlib does not connect
        for script in files("sci_gym.benchmarks").joinpath("guest").iterdir():
            if script.name.endswith(".py"):
                client.put_file(f"scripts/{script.name}", script.read_bytes())

    def walk(self, scope: str, times: int = 1) -> list[float]:
        """Durations of a pyatspi walk of "all" or of what is "showing", in milliseconds."""
        result = self.run("walk.py", str(times), scope)
        self.nodes[scope] = result["nodes"]
        return self._samples(result)

    def screenshot(self, times: int) -> list[float]:
        """Durations of a pyautogui screenshot, in milliseconds."""
        return self._samples(self.run("screen.py", str(times), package=PYAUTOGUI))

    def act_per_process(self, times: int, places: Sequence[tuple[int, int]]) -> list[float]:
        """Durations of a step with a process per action, in milliseconds."""
        numbers = [str(number) for place in places for number in place]
        return self._samples(self.run("per_action.py", str(times), *numbers, package=PYAUTOGUI))

    def cua(self, what: str, times: int, places: Sequence[tuple[int, int]] = ()) -> list[float]:
        """Durations of what cua-computer-server does, in milliseconds; `what` is as cua.py says."""
        self._serve()
        numbers = [str(number) for place in places for number in place]
        try:
            result = self.run("cua.py", what, str(times), *numbers, package=CUA)
        except PeerUnavailableError:
            self._serve()  # a server that ended says why
            raise
        if what == "tree" and not result["nodes"]:
            raise PeerUnavailableError(
                "its server for Linux answers with a tree without nodes, whatever is on screen"
            )
        return self._samples(result)

    def run(self, script: str, *arguments: str, package: str = "", timeout_s: float = 300.0) -> Any:
        """What a script prints.

        Raises:
            PeerUnavailableError: its package cannot be had, or it failed.
        """
        environment = [f"PYTHONPATH={self._provide(package)}"] if package else []
        argv = ["/usr/bin/env", *environment, _GUEST_PYTHON, f"{_GUEST_HOME}/scripts/{script}", *arguments]
        result = self._client.execute(argv, timeout_s=timeout_s)
        if result.exit_code or result.timed_out:
            said = (result.stderr or result.stdout).strip().splitlines()
            ended = "timed out" if result.timed_out else f"ended with {result.exit_code}"
            raise PeerUnavailableError(f"{script} {ended}: {said[-1] if said else 'nothing was said'}")
        return json.loads(result.stdout.splitlines()[-1])

    def _provide(self, package: str) -> str:
        """Unpack a package in the guest, once; the folder it lies in."""
        if package not in self._packages:
            folder = install(package, self._tell)
            self._client.put_file("package.tar", _pack(folder))
            unpack = f'mkdir -p "{folder.name}" && tar -xf package.tar -C "{folder.name}" && rm package.tar'
            result = self._client.execute(["/bin/sh", "-c", unpack], timeout_s=_UNPACK_S)
            if result.exit_code:
                raise PeerUnavailableError(f"could not be unpacked in the guest: {result.stderr.strip()}")
            self._packages[package] = f"{_GUEST_HOME}/{folder.name}"
        return self._packages[package]

    def _serve(self) -> None:
        """Start cua-computer-server, once; its client waits for it.

        Raises:
            PeerUnavailableError: it ended.
        """
        if self._server is None:
            argv = [_GUEST_PYTHON, "-m", "computer_server", "--host", "127.0.0.1", "--log-level", "warning"]
            self._server = self._client.launch(CUA, argv, env={"PYTHONPATH": self._provide(CUA)}).id
        for program in self._client.programs():
            if program.id == self._server and not program.running:
                raise PeerUnavailableError(f"its server ended: {program.stderr_tail.strip()[-200:]}")

    @staticmethod
    def _samples(result: Any) -> list[float]:
        return [float(sample) for sample in result["samples_ms"]]


def install(package: str, tell: Callable[[str], None]) -> Path:
    """The folder on this host that holds a peer with all it needs, for the guest's interpreter.

    Raises:
        PeerUnavailableError: pip could not get it.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sci_gym" / "peers"
    folder = cache / package
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    tell(f"installing {package} into {folder}, once")
    with tempfile.TemporaryDirectory(dir=cache, ignore_cleanup_errors=True) as draft:
        target = Path(draft) / package
        _pip(["install", "--quiet", "--target", str(target), *_WANTED[package]])
        target.rename(folder)
    return folder


def _pip(arguments: Sequence[str]) -> None:
    command = [sys.executable, "-m", "pip", "--python", _GUEST_PYTHON, "--disable-pip-version-check"]
    try:
        subprocess.run([*command, *arguments], check=True, timeout=_INSTALL_S, capture_output=True, text=True)
    except subprocess.TimeoutExpired as error:
        raise PeerUnavailableError(f"pip was not done after {_INSTALL_S} s") from error
    except OSError as error:
        raise PeerUnavailableError(f"pip cannot be run: {error}") from error
    except subprocess.CalledProcessError as error:
        said = [line for line in error.stderr.splitlines() if "ERROR" in line or "No module" in line]
        raise PeerUnavailableError(f"pip: {said[-1] if said else error.stderr[-200:]}") from error


def _pack(folder: Path) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        archive.add(folder, ".")
    return data.getvalue()
