"""The daemon's view of windows, on an X server of its own; the test stands in for the window manager."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from Xlib import Xatom
from Xlib import display as xdisplay

from sci_gym_vm_agent.display import Display

DEADLINE_S = 30.0
CLIENT = """
import sys
from Xlib.display import Display
display = Display(sys.argv[1])
window = display.screen().root.create_window(0, 0, 10, 10, 0, display.screen().root_depth)
window.set_wm_name(sys.argv[2])
window.map()
display.sync()
print(window.id, flush=True)
sys.stdin.read()
"""


class Client:
    """A process with one window, until it is closed."""

    def __init__(self, server: str, title: str) -> None:
        command = [sys.executable, "-c", CLIENT, server, title]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.pid, self.window = self._process.pid, int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate(timeout=DEADLINE_S)


@pytest.fixture
def server() -> Iterator[str]:
    reader, writer = os.pipe()
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "640x480x24", "-noreset"]
    process = subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    with os.fdopen(reader) as number:
        yield f":{number.readline().strip()}"
    process.terminate()
    process.wait(DEADLINE_S)


def manage(server: str, window: int) -> None:
    """Announce a window as a window manager does."""
    connection = xdisplay.Display(server)
    root = connection.screen().root
    root.change_property(connection.intern_atom("_NET_CLIENT_LIST_STACKING"), Xatom.WINDOW, 32, [window])
    connection.close()


def client_with_window(server: str, title: str, window: int) -> Client:
    """A client to which X gave a certain id: that of one that is gone, once X has noticed."""
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        client = Client(server, title)
        if client.window == window:
            return client
        client.close()
    raise AssertionError(f"X never gave the id {window} again")


def test_a_window_with_the_id_of_a_closed_one_is_its_own_process_s(server: str) -> None:
    display = Display(server)
    first = Client(server, "the program")
    manage(server, first.window)
    ((_, title, _, _, owner),) = display.windows()
    assert (title, owner) == ("the program", first.pid)
    first.close()
    second = client_with_window(server, "an impostor", first.window)
    ((window, title, _, _, owner),) = display.windows()
    assert (window, title, owner) == (first.window, "an impostor", second.pid)
    second.close()
    assert not display.windows(), "the second window's end is heard of as well"
