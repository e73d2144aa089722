"""The viewer: closed to strangers, true to the frame, strict about actions, gone after close."""

from __future__ import annotations

import http.client
import io
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image

from sci_gym.errors import ActionError
from sci_gym.play import play
from sci_gym.specs import Action, Frame, Kind
from sci_gym.viewer import MAX_QUEUED_ACTIONS, Viewer
from sci_gym.web import MAX_BODY_BYTES

FRAME: Frame = np.random.default_rng(0).integers(0, 256, (90, 160, 3), np.uint8)
TIMEOUT_S = 30.0


@pytest.fixture
def viewer() -> Iterator[Viewer]:
    made = Viewer("KAlgebra & co", interactive=True)
    yield made
    made.close()


def connect(url: str) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", urlsplit(url).port, timeout=TIMEOUT_S)


def ask(
    url: str, name: str = "", body: bytes | None = None, host: str | None = None, path: str | None = None
) -> tuple[int, bytes]:
    headers = {} if host is None else {"Host": host}
    target = urlsplit(url).path + name if path is None else path
    connection = connect(url)
    connection.request("GET" if body is None else "POST", target, body, headers)
    with connection.getresponse() as reply:
        return reply.status, reply.read()


def post(url: str, *actions: Any, view: tuple[int, int] = (160, 90)) -> tuple[int, str]:
    status, text = ask(url, "actions", json.dumps({"view": view, "actions": actions}).encode())
    return status, text.decode()


def next_event(reply: http.client.HTTPResponse) -> str:
    lines = list(iter(lambda: reply.readline().decode().rstrip("\n"), ""))
    return "\n".join(lines)


def events(url: str) -> http.client.HTTPResponse:
    connection = connect(url)
    connection.request("GET", urlsplit(url).path + "events")
    return connection.getresponse()


@pytest.mark.parametrize("name", ["", "events", "frame.png", "nothing"])
def test_requests_without_the_token_are_refused(viewer: Viewer, name: str) -> None:
    url = viewer.open(browser=False)
    viewer.show(FRAME, "secret")
    token = urlsplit(url).path.strip("/")
    for wrong in ("", f"{token[:-1]}~", f"{token}x", "%00"):
        status, text = ask(url, path=f"/{wrong}/{name}")
        assert (status, b"secret" in text) == (403, False)


def test_actions_without_the_token_are_refused(viewer: Viewer) -> None:
    url = viewer.open(browser=False)
    viewer.show(FRAME, "")
    body = json.dumps({"view": (160, 90), "actions": [{"kind": "DONE"}]}).encode()
    assert ask(url, path="/actions", body=body)[0] == 403
    assert viewer.next_action(0) is None


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", ""]
)
def test_foreign_hosts_are_refused(viewer: Viewer, host: str) -> None:
    url = viewer.open(browser=False)
    assert ask(url, host=host.format(port=urlsplit(url).port))[0] == 403
    assert ask(url, host=f"localhost:{urlsplit(url).port}")[0] == 200


def test_tokens_differ() -> None:
    one, two = Viewer("a"), Viewer("b")
    try:
        assert urlsplit(one.open(browser=False)).path != urlsplit(two.open(browser=False)).path
    finally:
        one.close()
        two.close()


def test_page_escapes_its_title(viewer: Viewer) -> None:
    status, page = ask(viewer.open(browser=False))
    assert status == 200
    assert b"KAlgebra &amp; co" in page


def test_frame_arrives_as_it_was_shown(viewer: Viewer) -> None:
    url = viewer.open(browser=False)
    assert ask(url, "frame.png")[0] == 404
    shown = FRAME.copy()
    viewer.show(shown, "")
    shown[:] = 0
    status, png = ask(url, "frame.png?1")
    assert status == 200
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(png))), FRAME)


def test_new_frames_are_pushed_and_the_end_too(viewer: Viewer) -> None:
    url = viewer.open(browser=False)
    viewer.show(FRAME, "Add\n\ndata: x", "step 0")
    with events(url) as reply:
        assert json.loads(next_event(reply).removeprefix("data: ")) == {
            "number": 1,
            "instruction": "Add\n\ndata: x",
            "status": "step 0",
        }
        viewer.show(FRAME, "Add", "step 1")
        assert json.loads(next_event(reply).removeprefix("data: "))["status"] == "step 1"
        closing = threading.Thread(target=viewer.close)
        closing.start()
        assert next_event(reply).startswith("event: end")
        closing.join(TIMEOUT_S)


def test_posted_actions_arrive_scaled_and_in_order(viewer: Viewer) -> None:
    url = viewer.open(browser=False)
    viewer.show(FRAME, "")
    drag = ({"kind": "moveTo", "x": 0, "y": 5}, {"kind": "dragTo", "x": 319, "y": 179, "button": "right"})
    assert post(url, *drag, view=(320, 180))[0] == 204
    assert post(url, {"kind": "scroll", "x": 40, "y": 20, "amount": -2}, view=(80, 45))[0] == 204
    assert (
        post(url, {"kind": "hotkey", "key": "s", "modifiers": ["ctrl"]}, {"kind": "type", "text": "é\n"})[0]
        == 204
    )
    assert post(url, {"kind": "ANS", "text": "42"})[0] == 204
    assert [viewer.next_action(TIMEOUT_S) for _ in range(6)] == [
        Action.move_to(0, 2),
        Action.drag_to(159, 89, "right"),
        Action.scroll(80, 40, -2),
        Action.hotkey("ctrl", "s"),
        Action.type("é\n"),
        Action.answer("42"),
    ]
    assert viewer.next_action(0) is None


GOOD = {"kind": "DONE"}


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ([{"kind": "dance"}], "kind"),
        ([{"x": 1}], "kind"),
        ([{"kind": "click", "x": "1", "y": 1}], "x"),
        ([{"kind": "click", "x": 1.5, "y": 1}], "x"),
        ([{"kind": "click", "x": 160, "y": 1}], "outside the screen"),
        ([{"kind": "click", "x": -1, "y": 1}], "outside the screen"),
        ([{"kind": "press", "key": "Enter"}], "action.key"),
        ([{"kind": "hotkey", "key": "s", "modifiers": ["hyper"]}], "action.modifiers"),
        ([{"kind": "type", "text": "\u0007"}], "U+0007"),
        ([{"kind": "scroll", "amount": 10**6}], "action.amount"),
        ([{"kind": "CODE", "text": "ls"}], "not allowed"),
        ([], "actions"),
        ([GOOD] * 9, "actions"),
        ([GOOD, {"kind": "dance"}], "kind"),
        ("DONE", "actions"),
    ],
)
def test_malformed_actions_are_refused_whole(viewer: Viewer, actions: Any, said: str) -> None:
    url = viewer.open(browser=False)
    viewer.show(FRAME, "")
    status, message = ask(url, "actions", json.dumps({"view": (160, 90), "actions": actions}).encode())
    assert status == 400
    assert said in message.decode()
    assert viewer.next_action(0) is None


@pytest.mark.parametrize(
    "body", [b"", b"[", b"{}", b"null", b'{"view": [0, 0], "actions": [{"kind": "DONE"}]}', b"\xff"]
)
def test_malformed_bodies_are_refused(viewer: Viewer, body: bytes) -> None:
    url = viewer.open(browser=False)
    viewer.show(FRAME, "")
    assert ask(url, "actions", body)[0] == 400
    assert viewer.next_action(0) is None


def test_actions_before_the_first_frame_are_refused(viewer: Viewer) -> None:
    assert post(viewer.open(browser=False), GOOD)[0] == 400


def test_large_bodies_and_long_queues_are_refused(viewer: Viewer) -> None:
    url = viewer.open(browser=False)
    viewer.show(FRAME, "")
    assert ask(url, "actions", b" " * (MAX_BODY_BYTES + 1))[0] == 413
    for _ in range(MAX_QUEUED_ACTIONS // 8):
        assert post(url, *[GOOD] * 8)[0] == 204
    assert post(url, GOOD)[0] == 503
    assert viewer.next_action(0) == Action.done()
    assert post(url, GOOD)[0] == 204


def test_viewer_that_only_shows_takes_no_actions() -> None:
    viewer = Viewer("watch")
    url = viewer.open(browser=False)
    try:
        viewer.show(FRAME, "")
        assert post(url, GOOD)[0] == 404
        assert b'id="done"' not in ask(url)[1]
    finally:
        viewer.close()


def test_close_ends_threads_socket_and_waiting_calls(viewer: Viewer) -> None:
    before = set(threading.enumerate())
    url = viewer.open(browser=False)
    viewer.show(FRAME, "")
    idle = socket.create_connection(("127.0.0.1", urlsplit(url).port or 0), TIMEOUT_S)
    got: list[Action | None] = []
    waiting = threading.Thread(target=lambda: got.append(viewer.next_action(TIMEOUT_S)))
    waiting.start()
    with idle, events(url) as reply:
        next_event(reply)
        viewer.close()
        waiting.join(TIMEOUT_S)
        assert set(threading.enumerate()) <= before, "a thread outlives close()"
        assert idle.recv(1) == b""
    assert got == [None]
    with pytest.raises(ConnectionRefusedError):
        ask(url)
    viewer.close()


class FakeEnv:
    """Two steps and it is done; refuses to type."""

    last = type("Last", (), {"screenshot": FRAME})

    def __init__(self) -> None:
        self.done: list[Action] = []
        self.seed: int | None = None

    @property
    def unwrapped(self) -> FakeEnv:
        return self

    def info(self) -> dict[str, Any]:
        return {"instruction": "Add", "coverage_rate": len(self.done) / 2, "success": len(self.done) == 2}

    def reset(self, *, seed: int | None) -> tuple[None, dict[str, Any]]:
        self.seed = seed
        return None, self.info()

    def step(self, action: Action) -> tuple[None, float, bool, bool, dict[str, Any]]:
        if action.kind is Kind.TYPE:
            raise ActionError("action.text: no")
        self.done.append(action)
        return None, 0.5, action.kind is Kind.DONE, False, self.info()


def play_fake(env: Any, viewer: Viewer, deadline_s: float) -> dict[str, Any]:
    return play(env, viewer, seed=7, deadline_s=deadline_s)


def test_person_is_scored_like_a_policy(viewer: Viewer) -> None:
    url = viewer.open(browser=False)
    viewer.show(FRAME, "")
    assert post(url, {"kind": "type", "text": "a"}, {"kind": "click", "x": 1, "y": 2}, GOOD, GOOD)[0] == 204
    env = FakeEnv()
    assert play_fake(env, viewer, TIMEOUT_S)["success"] is True
    assert (env.seed, env.done) == (7, [Action.click(1, 2), Action.done()])
    with events(url) as reply:
        assert (
            json.loads(next_event(reply).removeprefix("data: "))["status"] == "step 2, coverage 1.00, success"
        )


def test_play_ends_at_its_deadline(viewer: Viewer) -> None:
    viewer.open(browser=False)
    assert play_fake(FakeEnv(), viewer, 0.0)["success"] is False
