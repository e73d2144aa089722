"""Set-up verbs: files of the home, and the program's own commands."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from sci_gym.app import Desktop
from sci_gym.envs.chimerax.state import observed
from sci_gym.errors import ConfigurationError
from sci_gym.specs import Action

STRUCTURES = Path(__file__).resolve().parent / "structures"
_SOCKET = "/tmp/chimerax"  # of the guest, see `guest/start.py`
_CLIENT = f"""import socket, sys
door = socket.socket(socket.AF_UNIX)
door.connect({_SOCKET!r})
door.sendall({{said!r}})
door.shutdown(socket.SHUT_WR)
while part := door.recv(65536):
    sys.stdout.buffer.write(part)
"""


def client(text: str) -> str:
    """Python for the guest that has ChimeraX run commands, and prints its reply."""
    return _CLIENT.format(said=text.encode())


def file(desktop: Desktop, *, path: str, text: str) -> None:
    """Write a text file below the guest's home."""
    desktop.put_file(path, text.encode())


def structure_file(desktop: Desktop, *, name: str, path: str = "") -> None:
    """Write one of this folder's structures into the guest's home, as NAME.pdb or at `path`."""
    desktop.put_file(path or f"{name}.pdb", (STRUCTURES / f"{name}.pdb").read_bytes())


def structure(desktop: Desktop, *, name: str, path: str = "") -> None:
    """Write one of this folder's structures, and open it."""
    structure_file(desktop, name=name, path=path)
    before = len(observed(desktop.observe())["models"])
    command(desktop, text=f'open "/home/user/{path or name + ".pdb"}"')
    desktop.wait_for(f"ChimeraX: {name} is open", lambda seen: len(observed(seen)["models"]) > before)


def command(desktop: Desktop, *, text: str) -> None:
    """Run ChimeraX's commands, one a line.

    Raises:
        ConfigurationError: one fails; the message holds what the program says.
    """
    output = desktop.act(Action.code(client(text), "python")).output
    try:
        reply, _ = json.JSONDecoder().raw_decode(output)
        error = reply["error"]
    except (ValueError, KeyError, TypeError):
        error = output
    if error is not None:
        raise ConfigurationError(f"chimerax.command: {text!r}: {error}")


VERBS: Mapping[str, Callable[..., None]] = {
    verb.__name__: verb for verb in (file, structure_file, structure, command)
}
"""By name, as task files call them after `chimerax.`."""
