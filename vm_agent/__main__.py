"""One Linux desktop, served over gRPC to whoever has its token.

The token is the first line of standard input, so that it is in no argument list, environment or file; or it
is read from --token-file. Each further line is the token from then on, in place of the one before, and is
answered with "ready": a machine that was copied while it ran gets one of its own, and counts its steps anew.
When standard input ends, whoever started the daemon is gone, and it ends as well.

On a machine of your own, for `gym.make(..., machine="remote")` elsewhere, as an ordinary user:

    umask 077
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj /CN=HOST
        -addext subjectAltName=DNS:HOST -keyout ~/sci-gym.key -out ~/sci-gym.crt
    python3 -c "import secrets; print(secrets.token_urlsafe(32))" > ~/sci-gym.token
    python3 -m sci_gym_vm_agent --keep --listen 0.0.0.0:50051 --token-file ~/sci-gym.token
        --tls-key ~/sci-gym.key --tls-cert ~/sci-gym.crt

It needs bubblewrap, xvfb, dbus-daemon, openbox, at-spi2-core, util-linux and the programs to be played. The
certificate names the host as clients call it; they are given the certificate, or that of who signed it.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import signal
import sys
from pathlib import Path
from typing import Callable, Optional

from sci_gym_vm_agent import __version__
from sci_gym_vm_agent.door import Door
from sci_gym_vm_agent.errors import PartUnavailable
from sci_gym_vm_agent.keyring import leave_session_keyring
from sci_gym_vm_agent.parts import Parts
from sci_gym_vm_agent.series import serve_series

_MIN_TOKEN_CHARS = 32
_GOODBYE_S = 0.2  # of calls that are under way
_GARBAGE_OBJECTS = 20_000  # objects made before garbage is looked for


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        "sci_gym_vm_agent", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--listen", required=True, help="unix:PATH or HOST:PORT; a HOST off the loopback needs TLS"
    )
    parser.add_argument("--tls-key", type=Path, help="private key, PEM; out of /usr and /etc")
    parser.add_argument("--tls-cert", type=Path, help="its certificate chain, PEM")
    parser.add_argument(
        "--no-tls", action="store_true",
        help="listen off the loopback without TLS, where the host is the whole network, as in its guest",
    )  # fmt: skip
    parser.add_argument(
        "--keep", action="store_true",
        help="run desktops one after the other, each in a sandbox: a fresh one whenever the last has ended",
    )  # fmt: skip
    parser.add_argument("--size", default="1920x1080", help="of the screen, WIDTHxHEIGHT in pixels")
    parser.add_argument(
        "--root", type=Path, default=Path("/guest"), help="folder of the guest's home and files"
    )
    parser.add_argument(
        "--token-file", type=Path, help="read the token from this file and, without --keep, remove it"
    )
    parser.add_argument("--max-memory", type=int, default=4 * 2**30, help="bytes, of all programs together")
    parser.add_argument("--max-disk", type=int, default=2**30, help="bytes, of all files; with --keep")
    parser.add_argument("--max-processes", type=int, default=768, help="of one program, threads included")
    parser.add_argument(
        "--frame-fd", type=int, help="descriptor of memory for frames, which the host maps too"
    )
    parser.add_argument(
        "--network", choices=("none", "machine"), default="none",
        help="what programs see of the network: nothing, each but a loopback of its own, or this machine's",
    )  # fmt: skip
    parser.add_argument(
        "--show", action="append", default=[], type=Path, metavar="FOLDER",
        help="of a program that lies out of /usr: shown to programs read only, at the same place",
    )  # fmt: skip
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


async def run(options: argparse.Namespace, door: Door, token: str) -> None:
    """Serve one desktop, or keep them coming, until told to stop."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    orders = Orders(stopped)
    if options.token_file is None:
        await loop.connect_read_pipe(lambda: orders, sys.stdin)
    if options.keep:
        await serve_series(options, door, token, stopped)
    else:
        await serve(options, door, token, stopped, orders)


async def serve(
    options: argparse.Namespace, door: Door, token: str, stopped: asyncio.Event, orders: Orders
) -> None:
    """Bring the desktop up, and serve it until `stopped`."""
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

    desktop = Desktop(
        parts, options.root, options.max_processes,
        network=options.network == "machine", frame_fd=options.frame_fd, shown=options.show,
    )  # fmt: skip
    await desktop.start()
    guard = asyncio.create_task(MemoryGuard(desktop.programs, options.max_memory).watch())
    gate = Gate(token)
    service = Service(desktop, gate, stopped)
    server = make_server(door, gate, service)
    await server.start()

    def renew(token: str) -> None:
        gate.renew(token)
        service.forget_steps()

    orders.renew = renew
    # What is loaded now stays; looking through it for garbage over and over would be a tenth of each step.
    gc.freeze()
    gc.set_threshold(_GARBAGE_OBJECTS)
    print("ready", flush=True)
    await stopped.wait()
    guard.cancel()
    await server.stop(_GOODBYE_S)
    await desktop.stop()


def read_token(options: argparse.Namespace) -> str:
    """Take the token, and leave no copy of it but the one that `--keep` needs again."""
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
        if not options.keep:
            options.token_file.unlink()
    return check_token(token)


def check_token(token: str) -> str:
    """Return a token that is long enough; ValueError for another."""
    if len(token) < _MIN_TOKEN_CHARS:
        raise ValueError(f"the token must have at least {_MIN_TOKEN_CHARS} characters")
    return token


def main() -> None:
    """Run the daemon."""
    options = parse_arguments(sys.argv[1:])
    leave_session_keyring()
    try:
        door = Door(options.listen, options.tls_key, options.tls_cert, options.no_tls, tuple(options.show))
        asyncio.run(run(options, door, read_token(options)))
    except (PartUnavailable, OSError, ValueError) as error:
        raise SystemExit(f"sci_gym_vm_agent: {error}") from error


if __name__ == "__main__":
    main()
