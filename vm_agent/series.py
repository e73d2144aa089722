"""A series of desktops, each in a bubblewrap sandbox of its own: a fresh one as soon as the last has ended.

For a machine that has other uses or other processes. The daemon shares the machine's network, since it
listens there; its processes, files, sockets and memory are its own, and end with it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import Any, Awaitable, Iterator

import sci_gym_protos
import sci_gym_vm_agent
from sci_gym_vm_agent.door import Door, check_hidden

_ROOT = "/run/guest"
_EMPTIED = (Path("/tmp"), Path("/var/tmp"), Path("/run"))
_PASSWD = b"root:x:0:0:root:/root:/usr/sbin/nologin\nuser:x:1000:1000:user:/home/user:/bin/bash\n"


async def serve_series(options: argparse.Namespace, door: Door, token: str, stopped: asyncio.Event) -> None:
    """Run one desktop after the other until `stopped`.

    Raises:
        SystemExit: a desktop did not come up, and its own words are on standard error.
    """
    if options.token_file is not None:
        check_hidden("--token-file", options.token_file, door.shown)
    if os.geteuid() == 0:
        raise SystemExit("sci_gym_vm_agent: --keep does not run as root; start it as an ordinary user")
    told = False
    while not stopped.is_set():
        daemon = await _start(options, door, token)
        try:
            assert daemon.stdout is not None  # piped by _start
            line = await _unless(stopped, daemon.stdout.readline())
            if line != b"ready\n" and not stopped.is_set():
                raise SystemExit(
                    f"sci_gym_vm_agent: no desktop came up; its daemon ended with {await daemon.wait()}"
                )
            if not told:
                print("ready", flush=True)
            told = True
            await _unless(stopped, daemon.wait())
        finally:
            if daemon.returncode is None:
                daemon.kill()
            await daemon.wait()


async def _start(options: argparse.Namespace, door: Door, token: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    passwd = os.memfd_create("passwd")
    try:
        os.write(passwd, _PASSWD)
        os.lseek(passwd, 0, os.SEEK_SET)
        daemon = await asyncio.create_subprocess_exec(
            *_command(options, door, passwd), stdin=pipe, stdout=pipe, pass_fds=[passwd]
        )
    except FileNotFoundError:
        raise SystemExit("sci_gym_vm_agent: --keep needs bwrap; apt-get install bubblewrap") from None
    finally:
        os.close(passwd)
    assert daemon.stdin is not None
    daemon.stdin.write(f"{token}\n".encode())
    return daemon


def _command(options: argparse.Namespace, door: Door, passwd: int) -> "list[str]":
    line = ["bwrap", "--die-with-parent", "--new-session", "--unshare-user", "--unshare-pid", "--unshare-ipc"]
    line += ["--unshare-uts", "--hostname", "sci-gym", "--uid", "1000", "--gid", "1000"]
    line += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    line += ["--ro-bind-data", str(passwd), "/etc/passwd"]
    for folder in _EMPTIED:
        line += ["--tmpfs", str(folder)]
    for folder in _own_folders():
        line += ["--ro-bind", str(folder), str(folder)]
    line += ["--size", str(options.max_disk), "--tmpfs", _ROOT]
    for path in (door.key, door.certificate, *door.shown):
        if path is not None:
            line += ["--ro-bind", str(path.resolve()), str(path.resolve())]
    line += ["--chdir", "/", "--", sys.executable, "-m", "sci_gym_vm_agent", "--root", _ROOT]
    line += ["--listen", door.address, "--size", options.size, "--network", options.network]
    line += ["--max-memory", str(options.max_memory), "--max-processes", str(options.max_processes)]
    for path in door.shown:
        line += ["--show", str(path.resolve())]
    if door.plain:
        line.append("--no-tls")
    if door.key is not None and door.certificate is not None:
        line += ["--tls-key", str(door.key.resolve()), "--tls-cert", str(door.certificate.resolve())]
    return line


def _own_folders() -> Iterator[Path]:
    """What the daemon's interpreter reads of folders that are emptied."""
    packages = (Path(module.__path__[0]) for module in (sci_gym_protos, sci_gym_vm_agent))
    for folder in sorted({Path(sys.prefix), Path(sys.base_prefix), *packages}):
        if any(emptied in folder.parents for emptied in _EMPTIED):
            yield folder


async def _unless(stopped: asyncio.Event, wanted: "Awaitable[Any]") -> Any:
    """What `wanted` gives, or None when `stopped` comes first."""
    tasks = [asyncio.ensure_future(wanted), asyncio.ensure_future(stopped.wait())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return tasks[0].result() if tasks[0].done() else None
    finally:
        for task in tasks:
            task.cancel()
