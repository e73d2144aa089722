"""Where the daemon listens. Light to import: it is checked before anything is started."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Tuple

# What programs and a policy's code can read of the machine, see `cells`.
READABLE = ("/usr", "/etc", "/var/cache/fontconfig", "/var/lib/texmf", "/var/lib/dbus")


@dataclass(frozen=True)
class Door:
    """Where to listen.

    Attributes:
        address: unix:PATH or HOST:PORT.
        key: for TLS, the private key's file in PEM.
        certificate: its certificate chain's.
        plain: do without TLS off the loopback too.
        shown: further folders that programs of the desktop can read.

    Raises:
        ValueError: it would be open to the network, or to the programs of the desktop.
    """

    address: str
    key: Optional[Path] = None
    certificate: Optional[Path] = None
    plain: bool = False
    shown: Tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        """Check it."""
        if (self.key is None) != (self.certificate is None):
            raise ValueError("--tls-key and --tls-cert go together")
        if self.key is None and not (self.plain or self._is_local()):
            raise ValueError(
                f"--listen {self.address}: is no unix:PATH and no address of the loopback, so it needs "
                "--tls-key and --tls-cert"
            )
        if self.key is not None:
            check_hidden("--tls-key", self.key, self.shown)

    def open(self, server: Any) -> bool:
        """Let a gRPC server listen here; whether it does. RuntimeError when it cannot, with newer gRPC."""
        if self.key is None or self.certificate is None:
            return bool(server.add_insecure_port(self.address))
        import grpc

        pair = self.key.read_bytes(), self.certificate.read_bytes()
        return bool(server.add_secure_port(self.address, grpc.ssl_server_credentials([pair])))

    def _is_local(self) -> bool:
        if self.address.startswith("unix:"):
            return True
        host = self.address.rpartition(":")[0].strip("[]")
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"


def check_hidden(option: str, path: Path, shown: Tuple[Path, ...] = ()) -> None:
    """Refuse a secret's file where the programs of the desktop can read it.

    Raises:
        ValueError: it lies there.
    """
    real = path.resolve()
    for folder in (*map(Path, READABLE), *shown):
        if folder.resolve() in real.parents:
            raise ValueError(f"{option} {path}: programs of the desktop can read {folder}; keep it elsewhere")
