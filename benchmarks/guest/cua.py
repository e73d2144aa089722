"""Times cua-computer-server as its websocket client: cua.py screenshot|tree|step TIMES [X Y ...].

A screenshot is decoded to RGB pixels; a step is click, screenshot and tree. Prints {"samples_ms": [...],
"nodes": of its tree}.
"""

import base64
import io
import itertools
import json
import sys
import time
from typing import Any

from PIL import Image
from websockets.sync.client import connect

URL = "ws://127.0.0.1:8000/ws"
START_S = 30.0


class Client:
    """A connection to the server; it is awaited while it starts."""

    def __init__(self) -> None:
        """Connect."""
        end_s = time.monotonic() + START_S
        while True:
            try:
                self._socket = connect(URL, max_size=None)
                return
            except OSError:
                if time.monotonic() > end_s:
                    raise
                time.sleep(0.05)  # between two looks

    def call(self, command: str, **params: int) -> Any:
        """Send a command; its answer."""
        self._socket.send(json.dumps({"command": command, "params": params}))
        answer = json.loads(self._socket.recv())
        if not answer.get("success"):
            sys.exit(f"{command}: {answer.get('error')}")
        return answer

    def screenshot(self) -> Image.Image:
        """RGB pixels."""
        data = self.call("screenshot")["image_data"]
        return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")

    def tree(self) -> int:
        """The number of nodes below the root of the accessibility tree."""
        return count(self.call("get_accessibility_tree")["tree"]) - 1


def count(node: Any) -> int:
    """Count a tree's nodes."""
    return 1 + sum(count(child) for child in node.get("children", ()))


def step(client: Client, place: Any) -> None:
    """Click, look, read."""
    client.call("left_click", x=place[0], y=place[1])
    client.screenshot()
    client.tree()


def main() -> None:
    """Measure and print."""
    what, times = sys.argv[1], int(sys.argv[2])
    numbers = [int(word) for word in sys.argv[3:]]
    places: Any = itertools.cycle(list(zip(numbers[::2], numbers[1::2])) or [None])
    client = Client()
    calls: Any = {
        "screenshot": lambda place: client.screenshot(),
        "tree": lambda place: client.tree(),
        "step": lambda place: step(client, place),
    }
    client.screenshot()
    samples = []
    for _, place in zip(range(times), places):
        start_s = time.perf_counter()
        calls[what](place)
        samples.append((time.perf_counter() - start_s) * 1000)
    print(json.dumps({"samples_ms": samples, "nodes": client.tree()}))


if __name__ == "__main__":
    main()
