"""The daemon's command line.

The token is the first line of standard input, so that it is in no argument list, environment or file; or it
is read from --token-file. Each further line is the token from then on, in place of the one before, and is
answered with "ready": a machine that was copied while it ran gets one of its own, and counts its steps anew.
When standard input ends,
whoever started the daemon is gone, and it ends as well.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Callable, Optional

from sci_gym_vm_agent import __version__
from sci_gym_vm_agent.errors import PartUnavailable
from sci_gym_vm_agent.keyring import leave_session_keyring
from sci_gym_vm_agent.parts import Parts

_MIN_TOKEN_CHARS = 32


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser("sci_gym_vm_agent", description=__doc__.split("\n")[0])
    parser.add_argument("--listen", required=True, help="unix:PATH or ADDRESS:PORT")
    parser.add_argument("--size", default="1920x1080", help="of the screen, WIDTHxHEIGHT in pixels")
    parser.add_argument(
        "--root", type=Path, default=Path("/guest"), help="folder of the guest's home and files"
    )
    parser.add_argument("--token-file", type=Path, help="read the token from this file and remove it")
    parser.add_argument("--max-memory", type=int, default=4 * 2**30, help="bytes, of all programs together")
    parser.add_argument("--max-processes", type=int, default=768, help="of one program, threads included")
    parser.add_argument(
        "--frame-fd", type=int, help="descriptor of memory for frames, which the host maps too"
    )
    parser.add_argument("--version", action="version", version=__version__)
    return parser.parse_args(arguments)


class Orders(asyncio.Protocol):
    """Standard input after the first token: each line is the next one, and its end is the daemon's."""

    def __init__(self, stopped: asyncio.Event) -> None:
        """Set `stopped` at the end; whoever serves sets `renew`."""
        self.renew: Optional[Callable[[str], None]] = None
        self._stopped = stopped
        self._text = b""

    def data_received(self, data: bytes) -> None:
        """Take each whole line; one that is no token, or comes before the daemon serves, ends it."""
        *lines, self._text = (self._text + data).split(b"\n")
        for line in lines:
            if self.renew is None:
                raise ValueError("a token came before the daemon served")
            self.renew(check_token(line.decode().strip()))
            print("ready", flush=True)

    def connection_lost(self, error: Optional[Exception]) -> None:
        """Stop."""
        self._stopped.set()


async def serve(options: argparse.Namespace, token: str) -> None:
    """Bring the desktop up, and serve it until it is told to stop."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    orders = Orders(stopped)
    if options.token_file is None:
        await loop.connect_read_pipe(lambda: orders, sys.stdin)
    width, height = (int(part) for part in options.size.split("x"))
    if options.frame_fd is not None:
        os.set_inheritable(options.frame_fd, False)  # nothing that the daemon starts may map it
    parts = Parts(options.root, width, height)
    await parts.start()
    # Loading these takes as long as the X server takes to come up, so both go on at once.
    from sci_gym_vm_agent.desktop import Desktop
    from sci_gym_vm_agent.gate import Gate
    from sci_gym_vm_agent.limits import MemoryGuard
    from sci_gym_vm_agent.server import Service, make_server

    desktop = Desktop(parts, options.root, options.max_processes, options.frame_fd)
    await desktop.start()
    guard = asyncio.create_task(MemoryGuard(desktop.programs, options.max_memory).watch())
    gate = Gate(token)
    service = Service(desktop, stopped)
    server = make_server(options.listen, gate, service)
    await server.start()

    def renew(token: str) -> None:
        gate.renew(token)
        service.forget_steps()

    orders.renew = renew
    print("ready", flush=True)
    await stopped.wait()
    guard.cancel()
    await server.stop(0)
    await desktop.stop()


def read_token(options: argparse.Namespace) -> str:
    """Take the token, and leave no copy of it."""
    if options.token_file is None:
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(0, 1)  # unbuffered: what follows belongs to the event loop
            if not byte:
                break
            line += byte
        token = line.decode().strip()
    else:
        token = options.token_file.read_text().strip()
        options.token_file.unlink()
    try:
        return check_token(token)
    except ValueError as error:
        raise SystemExit(f"sci_gym_vm_agent: {error}") from error


def check_token(token: str) -> str:
    """Return a token that is long enough; ValueError for another."""
    if len(token) < _MIN_TOKEN_CHARS:
        raise ValueError(f"the token must have at least {_MIN_TOKEN_CHARS} characters")
    return token


def main() -> None:
    """Run the daemon."""
    options = parse_arguments(sys.argv[1:])
    leave_session_keyring()
    token = read_token(options)
    try:
        asyncio.run(serve(options, token))
    except PartUnavailable as error:
        raise SystemExit(f"sci_gym_vm_agent: {error}") from error


if __name__ == "__main__":
    main()
