"""`sci-gym verify --watch` as a browser meets it: the real KAlgebra, step by step, on a page of its own."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from sci_gym.watch import Wall

SCI_GYM = Path(sys.executable).with_name("sci-gym")
TIMEOUT_S = 120.0


def read(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=TIMEOUT_S) as reply:
        return bytes(reply.read())


def walk(url: str) -> Iterator[dict[str, Any]]:
    """The page's events, until the end."""
    with urllib.request.urlopen(f"{url}events", timeout=TIMEOUT_S) as reply:
        for line in reply:
            if line.startswith(b"event: end"):
                return
            if line.startswith(b"data: "):
                yield json.loads(line.removeprefix(b"data: "))
    raise AssertionError("the stream broke off")


def test_the_oracle_is_seen_at_work() -> None:
    command = [str(SCI_GYM), "verify", "--task", "product-odd", "--seeds", "1", "--jobs", "1"]
    process = subprocess.Popen(
        [*command, "--watch", "--pace", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", process.stderr.readline())
    assert found, "the address is told first"
    url, seen, sizes = found[0], [], set()
    assert b'id="place-0"' in read(url)
    for event in walk(url):
        seen.append(event)
        if event["nodes"]:
            sizes.add(Image.open(io.BytesIO(read(f"{url}frame-0.png"))).size)
    report = json.loads(process.communicate(timeout=TIMEOUT_S)[0])
    assert (process.returncode, report["misses"]) == (0, 0)
    assert sizes == {(1920, 1080)}
    oracle = [event for event in seen if event["check"] == "its oracle 'gui'" and event["nodes"]]
    assert [event["nodes"][0]["status"] for event in oracle][-1] == "Completed"
    assert (oracle[-1]["task"], oracle[-1]["seed"], oracle[-1]["coverage"]) == ("product-odd", 0, 1.0)
    assert re.fullmatch(r"step 2: DONE.*, success", oracle[-1]["status"])
    checks = {event["check"] for event in seen}
    assert "untouched, then DONE at once" in checks
    assert sum(check.endswith("which must not do") for check in checks) >= 1
    with pytest.raises(urllib.error.URLError):
        read(url)


def test_each_desktop_has_a_place() -> None:
    wall = Wall("several", 2)
    try:
        places = [wall.take(), wall.take()]
        for place in places:
            frame = np.full((9, 16, 3), 100 * (place + 1), np.uint8)
            wall.gallery.show(frame, {"place": place}, place)
        assert sorted(places) == [0, 1]
        for place in places:
            picture = np.asarray(Image.open(io.BytesIO(read(f"{wall.url}frame-{place}.png"))))
            assert set(picture.flat) == {100 * (place + 1)}
        wall.give_back(places[0])
        assert wall.take() == places[0]
    finally:
        wall.close()


@pytest.mark.parametrize("name", ["", "events", "frame-0.png"])
def test_nobody_watches_without_the_token(name: str) -> None:
    wall = Wall("secret", 1)
    try:
        token = wall.url.rstrip("/").rpartition("/")[2]
        with pytest.raises(urllib.error.HTTPError, match="403"):
            read(wall.url.replace(token, "x" * len(token)) + name)
    finally:
        wall.close()
