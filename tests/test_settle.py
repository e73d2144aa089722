"""When a screen counts as settled, on the real desktop."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import sci_gym.chaos
from sci_gym.client import VMAgentClient
from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_vm_agent.rest import FOREVER_S, Rest

FLOOD = (Path(sci_gym.chaos.__file__).parent / "flood.py").read_text()
BLINK = FLOOD.replace(
    "        receive(connection, 32)", "        receive(connection, 32)\n        time.sleep(0.2)"
).replace("import os", "import os\nimport time")
LOOK_S = 10.0


@pytest.mark.parametrize("drawing", [pytest.param(FLOOD, id="animation"), pytest.param(BLINK, id="caret")])
def test_what_keeps_changing_does_not_hold_a_step(client: VMAgentClient, drawing: str) -> None:
    client.launch("drawing", ["/usr/bin/python3", "-c", drawing])
    settle = pb.SettlePolicy(quiet_ms=80, deadline_ms=20_000, change_ms=5000)
    request = pb.ObserveRequest(screenshot=True)
    replies = [client.step(pb.Input(), settle, request, pb.ProbeRequest()) for _ in range(3)]
    assert all(reply.settled for reply in replies), "the deadline did not have to end it"
    assert client.frame.std() > 0, "it draws"


@pytest.fixture
def start() -> Iterator[Callable[[str], None]]:
    """Starts a child that says when it is about to do something."""
    children: list[subprocess.Popen[bytes]] = []

    def go(code: str) -> None:
        script = f"import os, select, time\nos.write(1, b'!')\n{code}"
        child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
        children.append(child)
        assert child.stdout is not None
        assert child.stdout.read(1) == b"!"

    yield go
    for child in children:
        child.kill()
        child.communicate()


def looks(rest: Rest) -> Iterator[float | None]:
    end = time.monotonic() + LOOK_S
    while time.monotonic() < end:
        yield rest.look()


def test_sleepers_are_at_rest(start: Callable[[str], None]) -> None:
    start("select.select([0], [], [])")
    start("time.sleep(1000)")
    assert FOREVER_S in looks(Rest())


def test_a_main_loop_tells_when_it_wakes(start: Callable[[str], None]) -> None:
    start("select.poll().poll(50_000)")
    assert 50.0 in looks(Rest())


def test_who_runs_is_not_at_rest(start: Callable[[str], None]) -> None:
    start("while True: pass")
    rest = Rest()
    assert [rest.look() for _ in range(50)] == [None] * 50


def test_a_stopped_process_is_not_at_rest(start: Callable[[str], None]) -> None:
    start("os.kill(os.getpid(), 19)")
    rest = Rest()
    assert [rest.look() for _ in range(50)] == [None] * 50
