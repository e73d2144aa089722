"""A daemon that keeps desktops coming, as somebody would start it on a machine of their own."""

from __future__ import annotations

import os
import secrets
import selectors
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sci_gym.machines.sandbox import _become_ordinary, _python_paths

SIZE = "1280x800"
READY_S = 60.0
_USER = 65534


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def make_certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A key and the certificate for this host that it signed itself."""
    key, certificate = folder / f"{name}.key", folder / f"{name}.crt"
    line = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    line += ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(
        [*line, "-keyout", str(key), "-out", str(certificate)], capture_output=True, timeout=60, check=True
    )
    if os.geteuid() == 0:
        os.chown(key, _USER, _USER)
    return key, certificate


def command(*options: str, python: str = sys.executable) -> list[str]:
    return [python, "-m", "sci_gym_vm_agent", *options]


class Kept:
    """What a client needs to know of a kept daemon.

    Attributes:
        address: HOST:PORT.
        token: its secret.
        process: the one that keeps.
        options: for `gym.make`.
    """

    def __init__(
        self, address: str, token: str, token_file: Path, ca_file: Path, process: subprocess.Popen[bytes]
    ) -> None:
        self.address, self.token, self.ca_file, self.process = address, token, ca_file, process
        self.options: dict[str, Any] = {
            "address": address,
            "token_file": str(token_file),
            "ca_file": str(ca_file),
        }


@contextmanager
def keep(folder: Path, *, token_by_file: bool = False, python: str = sys.executable) -> Iterator[Kept]:
    """Run one, as an ordinary user, on the loopback with TLS; its files are in `folder`."""
    folder.chmod(0o755)
    key, certificate = make_certificate(folder, "daemon")
    address, token = f"localhost:{free_port()}", secrets.token_urlsafe(32)
    (folder / "token").write_text(token)
    line = command("--keep", "--listen", address, "--size", SIZE, python=python)
    line += ["--tls-key", str(key), "--tls-cert", str(certificate)]
    if token_by_file:
        line += ["--token-file", str(folder / "token")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*_become_ordinary([*_python_paths(), folder]), *line],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        if not token_by_file:
            process.stdin.write(f"{token}\n".encode())
            process.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            assert selector.select(READY_S), (folder / "log").read_text()
        assert process.stdout.readline() == b"ready\n", (folder / "log").read_text()
        yield Kept(address, token, folder / "token", certificate, process)
    finally:
        process.stdin.close()
        process.stdout.close()
        process.terminate()
        process.wait(20)
