"""Runs one domain with libvirt's embedded driver, and passes its QMP on: the same line as QEMU's own.

A process of its own, started by `_domain`, since what libvirt starts would outlive whoever asked for it: this
one runs as a process namespace's first child, and all of the namespace ends with it. Arguments: a folder of
its own, the domain's XML, and three inherited sockets: the monitor's, the keeper's, the console's.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import libvirt
import libvirt_qemu

_LINE_BYTES = 2**20
# No daemon logs for it, and neither labels nor control groups are to be had.
_SETTINGS = """
stdio_handler = "file"
security_driver = "none"
cgroup_controllers = []
namespaces = []
"""


class Relay:
    """A domain, and the line of whoever commands it."""

    def __init__(self, folder: Path, xml: str, line: socket.socket) -> None:
        """Start the domain, paused."""
        self._line = line
        self._sending = threading.Lock()
        settings = folder / "etc"
        settings.mkdir(parents=True)
        (settings / "qemu.conf").write_text(_SETTINGS)
        libvirt.virEventRegisterDefaultImpl()
        threading.Thread(target=_run_events, daemon=True).start()
        libvirt.registerErrorHandler(lambda context, error: None, None)  # they are raised as well
        self._connection = libvirt.open(f"qemu:///embed?root={folder}")
        self._domain = self._connection.createXML(xml, libvirt.VIR_DOMAIN_START_PAUSED)
        libvirt_qemu.qemuMonitorEventRegister(self._connection, self._domain, "MIGRATION", self._tell, None)
        of_life = libvirt.VIR_DOMAIN_EVENT_ID_LIFECYCLE
        self._connection.domainEventRegisterAny(self._domain, of_life, self._see, None)

    def connect(self, chardev: str, descriptor: int) -> None:
        """Give a serial line its other end, which no command line of libvirt's can."""
        self._do({"execute": "getfd", "arguments": {"fdname": chardev}}, [descriptor])
        address = {"type": "fd", "data": {"str": chardev}}
        backend = {"type": "socket", "data": {"addr": address, "server": False}}
        self._do({"execute": "chardev-change", "arguments": {"id": chardev, "backend": backend}}, [])

    def run(self) -> None:
        """Follow commands until the line is closed."""
        self._say({"QMP": {}})
        text = b""
        while True:
            data, descriptors, _, _ = socket.recv_fds(self._line, _LINE_BYTES, 1)
            if not data:
                return
            text += data
            *commands, text = text.split(b"\n")
            for command in commands:
                self._say(self._follow(json.loads(command), descriptors))
            for descriptor in descriptors:
                os.close(descriptor)

    def _follow(self, command: dict[str, Any], descriptors: list[int]) -> dict[str, Any]:
        own: dict[str, Callable[[], Any]] = {
            "qmp_capabilities": lambda: None,
            "stop": self._domain.suspend,
            "cont": self._domain.resume,
            "quit": partial(self._domain.destroyFlags, libvirt.VIR_DOMAIN_DESTROY_GRACEFUL),
        }
        try:
            if command["execute"] in own:
                own[command["execute"]]()
                return {"return": {}}
            return self._do(command, descriptors)
        except libvirt.libvirtError as error:
            return {"error": {"desc": str(error)}}

    def _do(self, command: dict[str, Any], descriptors: list[int]) -> dict[str, Any]:
        text, _ = libvirt_qemu.qemuMonitorCommandWithFiles(self._domain, json.dumps(command), descriptors)
        answer: dict[str, Any] = json.loads(text)
        return answer

    def _see(self, connection: Any, domain: Any, event: int, *detail: Any) -> None:
        """End with the domain."""
        if event == libvirt.VIR_DOMAIN_EVENT_STOPPED:
            self._line.shutdown(socket.SHUT_RD)

    def _tell(self, *told: Any) -> None:
        """Pass an event on: connection, domain, name, seconds, microseconds, details, opaque."""
        self._say({"event": told[2], "data": json.loads(told[5])})

    def _say(self, data: dict[str, Any]) -> None:
        with self._sending:
            self._line.sendall(json.dumps(data).encode() + b"\n")


def _run_events() -> None:
    while True:
        libvirt.virEventRunDefaultImpl()


def main() -> None:
    """Run the domain that the arguments give."""
    folder, xml, *descriptors = sys.argv[1:]
    monitor, keeper, console = map(int, descriptors)
    relay = Relay(Path(folder), xml, socket.socket(fileno=monitor))
    relay.connect("console", console)
    relay.connect("keeper", keeper)
    relay.run()


if __name__ == "__main__":
    main()
