"""The guest's network, as QEMU's user networking lays it out, set up without any of the distribution's tools.

Needs root. Without `open_network` the guest has an address to be reached at, and no way out.
"""

from __future__ import annotations

import fcntl
import socket
import struct
from pathlib import Path

_DEVICES = Path("/sys/class/net")
_RESOLVER_FILE = Path("/etc/resolv.conf")
_ADDRESS, _MASK, _GATEWAY, _RESOLVER = "10.0.2.15", "255.255.255.0", "10.0.2.2", "10.0.2.3"
_EVERYWHERE = "0.0.0.0"
# linux/sockios.h, linux/if.h, linux/route.h
_SET_ADDRESS, _SET_MASK, _SET_FLAGS, _ADD_ROUTE = 0x8916, 0x891C, 0x8914, 0x890B
_UP, _RUNNING = 0x1, 0x40
_ROUTE_UP, _ROUTE_GATEWAY = 0x1, 0x2


def join() -> None:
    """Take the guest's address, on the first device beside the loopback."""
    device = min(path.name for path in _DEVICES.iterdir() if path.name != "lo").encode()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for request, address in ((_SET_ADDRESS, _ADDRESS), (_SET_MASK, _MASK)):
            fcntl.ioctl(control, request, struct.pack("16s16s8x", device, _packed(address)))
        fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sH22x", device, _UP | _RUNNING))


def open_network() -> None:
    """Send all else to the host's gateway, and ask its resolver for names."""
    ends = [_packed(address) for address in (_EVERYWHERE, _GATEWAY, _EVERYWHERE)]
    route = struct.pack("=8x16s16s16sH62x", *ends, _ROUTE_UP | _ROUTE_GATEWAY)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _ADD_ROUTE, route)
    if _RESOLVER_FILE.is_symlink():
        _RESOLVER_FILE.unlink()
    _RESOLVER_FILE.write_text("nameserver %s\n" % _RESOLVER)


def _packed(address: str) -> bytes:
    """Return an address as C's sockaddr_in."""
    return struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))
