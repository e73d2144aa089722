"""A desktop that somebody else starts: an address, a token, and a certificate to know it by.

`python3 -m sci_gym_vm_agent --help` tells how to start one there. It has one client at a time: who comes
later takes it, and the earlier is told at its next call. What a killed client leaves there ends so as well.
"""

from __future__ import annotations

import ipaddress
import os
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from sci_gym.app import Requirement
from sci_gym.client import VMAgentClient
from sci_gym.errors import (
    ConfigurationError,
    DisconnectedError,
    InfrastructureError,
    LaunchError,
    MissingDependencyError,
)
from sci_gym.machines.base import Endpoint, Machine, MachineSpec
from sci_gym_protos import vm_agent_pb2 as pb

_CALL_S = 5.0
_LOOK = 'for it; do command -v -- "$it" >/dev/null || [ -f "$it" ] || printf "%s\\n" "$it"; done'


class RemoteMachine(Machine):
    """A daemon that answers at an address; a fresh desktop is one that it starts when the last has ended."""

    title = "a remote machine"
    single = True

    def __init__(self, spec: MachineSpec, address: str = "", token_file: str = "", ca_file: str = "") -> None:
        """Plan to use it; nothing is sent before `start`.

        Args:
            spec: whose screen must be the daemon's, and whose `start_s` is the deadline of a fresh desktop.
            address: HOST:PORT, or unix:PATH; by default what SCI_GYM_REMOTE says.
            token_file: file with the daemon's token; by default SCI_GYM_TOKEN_FILE names it, or SCI_GYM_TOKEN
                is the token itself.
            ca_file: certificates in PEM, the daemon's own or that of who signed it; by default what
                SCI_GYM_CA says. Only a daemon on this host's loopback or a unix socket can do without.

        Raises:
            ConfigurationError: one of them is missing or cannot be read.
        """
        super().__init__(spec)
        self._address = address or os.environ.get("SCI_GYM_REMOTE", "")
        if not self._address:
            raise ConfigurationError(
                "machine: where is the remote one? Give machine_options={'address': 'HOST:PORT'}, or set "
                "SCI_GYM_REMOTE"
            )
        self._token = _find_token(token_file)
        self._ca = _find_ca(ca_file, self._address)
        self._lock = threading.Lock()  # held while it is claimed or given back
        self._claiming: VMAgentClient | None = None
        self._endpoint: Endpoint | None = None
        self._requirements: Sequence[Requirement] = ()

    @classmethod
    def missing(cls) -> dict[str, str]:
        """Nothing: whoever starts the daemon has what it needs."""
        return {}

    def start(self) -> Endpoint:
        """Claim a fresh desktop, ending the one that another session has or left."""
        self.stop()
        with self._lock, closing(VMAgentClient(self._plain(), _CALL_S)) as client:
            self._claiming = client
            try:
                reply = self._claim(client)
            except DisconnectedError as error:
                raise LaunchError(
                    "machine",
                    f"no desktop at {self._address}: {error}; start its daemon there with --keep (see "
                    "python3 -m sci_gym_vm_agent --help)",
                ) from error
            finally:
                self._claiming = None
            self._endpoint = Endpoint(self._address, self._token, session=reply.session, ca=self._ca)
        try:
            self._check(self._endpoint, reply.screen)
        except BaseException:
            self.stop()
            raise
        return self._endpoint

    def restore(self) -> Endpoint:
        """Let the daemon end this desktop and start a fresh one."""
        return self.start()

    def stop(self) -> bool:
        """Give the desktop back, which ends all that runs on it; a machine that is gone is left alone."""
        claiming = self._claiming
        if claiming is not None:
            claiming.close()
        with self._lock:
            endpoint, self._endpoint = self._endpoint, None
            if endpoint is not None:
                with closing(VMAgentClient(endpoint, _CALL_S)) as client, suppress(InfrastructureError):
                    client.shutdown()
        return True

    def held_bytes(self) -> int:
        """Nothing of this host's memory."""
        return 0

    def require(self, requirements: Sequence[Requirement]) -> None:
        """Look at the next `start`, on the remote desktop."""
        self._requirements = requirements

    @property
    def running(self) -> bool:
        """Whether its desktop was claimed and not given back."""
        return self._endpoint is not None

    def _plain(self) -> Endpoint:
        return Endpoint(self._address, self._token, ca=self._ca)

    def _claim(self, client: VMAgentClient) -> pb.HelloReply:
        try:
            return client.claim(self.spec.start_s)
        except DisconnectedError as error:
            if error.part != "machine":
                raise
        client.shutdown()  # of another session's desktop: the daemon starts a fresh one
        return client.claim(self.spec.start_s)

    def _check(self, endpoint: Endpoint, screen: pb.ScreenSize) -> None:
        if (screen.width_px, screen.height_px) != (self.spec.width, self.spec.height):
            raise ConfigurationError(
                f"machine: its screen is {screen.width_px}x{screen.height_px}, resolution is "
                f"{self.spec.width}x{self.spec.height}; make with the one, or start its daemon with --size"
            )
        packages = {one.command: one.package for one in self._requirements}
        with closing(VMAgentClient(endpoint, _CALL_S)) as client:
            told = client.execute(["/bin/sh", "-c", _LOOK, "sh", *packages]).stdout.split("\n")
        lacking = {command: packages[command] for command in told if command in packages}
        if lacking:
            advice = [one.advice for one in self._requirements if one.command in lacking and one.advice]
            raise MissingDependencyError.of(
                "the app on the remote machine", lacking, where=" there", advice=advice
            )


MACHINE = RemoteMachine


def _find_token(token_file: str) -> str:
    path = token_file or os.environ.get("SCI_GYM_TOKEN_FILE", "")
    token = _read("token_file", path).decode() if path else os.environ.get("SCI_GYM_TOKEN", "")
    if not token.strip():
        raise ConfigurationError(
            "token_file: the remote machine wants its token; name its file with machine_options="
            "{'token_file': PATH} or SCI_GYM_TOKEN_FILE, or set SCI_GYM_TOKEN"
        )
    return token.strip()


def _find_ca(ca_file: str, address: str) -> bytes | None:
    path = ca_file or os.environ.get("SCI_GYM_CA", "")
    if path:
        return _read("ca_file", path)
    if not _is_local(address):
        raise ConfigurationError(
            f"ca_file: {address} is not on this host, so its certificate, or that of who signed it, must be "
            "known; name its file with machine_options={'ca_file': PATH} or SCI_GYM_CA"
        )
    return None


def _is_local(address: str) -> bool:
    host = address.rpartition(":")[0].strip("[]")
    try:
        return address.startswith("unix:") or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read(option: str, path: str) -> bytes:
    try:
        return Path(path).expanduser().read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{option}: {path} cannot be read ({error.strerror})") from error
