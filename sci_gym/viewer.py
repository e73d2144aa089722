"""The screen of an environment in a web browser, to watch and, on request, to act."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
import webbrowser
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated

from PIL import Image
from pydantic import BaseModel, Field, ValidationError

from sci_gym.errors import ActionError
from sci_gym.spaces import kinds_for, make_action_space, to_action
from sci_gym.specs import POINT_KINDS, Action, Frame
from sci_gym.templates import render
from sci_gym.web import LocalServer, Response, Route

MAX_QUEUED_ACTIONS = 64
_MAX_POSTED_ACTIONS = 8
_HEARTBEAT_S = 15.0
_KINDS = kinds_for("gui")

_Side = Annotated[int, Field(ge=1, le=1_000_000)]


class _Posted(BaseModel, strict=True, extra="forbid"):
    """What the page sends: actions that belong together, with points in units of a displayed image.

    Attributes:
        view: width and height of that image in its own units.
        actions: all are taken, or none.
    """

    view: tuple[_Side, _Side]
    actions: Annotated[list[Action], Field(min_length=1, max_length=_MAX_POSTED_ACTIONS)]


class Viewer:
    """Shows frames on a page that only this machine's owner of the URL can open.

    An interactive one also takes the person's mouse, keys and the buttons Done, Fail and Answer. All
    methods may be called from any thread.
    """

    def __init__(self, title: str, *, interactive: bool = False) -> None:
        """Name the page; nothing starts before `open`."""
        self._title = title
        self._interactive = interactive
        self._server: LocalServer | None = None
        self._changed = threading.Condition()
        self._frame: Frame | None = None
        self._number = 0
        self._words: Mapping[str, str] = {}
        self._actions: deque[Action] = deque()
        self._closed = False

    def open(self, browser: bool = True) -> str:
        """Start serving.

        Args:
            browser: also open the page in the person's browser, where there is a display for one.

        Returns:
            The page's URL; whoever has it can watch, and act if the viewer is interactive.
        """
        if self._server is None:
            routes: dict[tuple[str, str], Route] = {
                ("GET", ""): self._page,
                ("GET", "events"): self._events,
                ("GET", "frame.png"): self._picture,
            }
            if self._interactive:
                routes["POST", "actions"] = self._take
            self._server = LocalServer(routes)
        if browser and _has_display():
            webbrowser.open(self._server.url)
        return self._server.url

    def show(self, frame: Frame, instruction: str, status: str = "") -> None:
        """Publish a frame, uint8 `[H, W, 3]`, with the task and a line on how it stands."""
        with self._changed:
            self._frame = frame.copy()
            self._words = {"instruction": instruction, "status": status}
            self._number += 1
            self._changed.notify_all()

    def next_action(self, timeout_s: float) -> Action | None:
        """The next action of the person; None after `timeout_s`, or when the viewer is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._actions or self._closed, timeout_s)
            return self._actions.popleft() if self._actions and not self._closed else None

    def close(self) -> None:
        """Tell the pages, stop serving, join the threads; more than once is fine."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._server is not None:
            self._server.close()
            self._server = None

    def _page(self, _: bytes) -> Response:
        page = render("viewer.html", title=self._title, interactive=self._interactive)
        return Response(200, "text/html; charset=utf-8", page.encode())

    def _picture(self, _: bytes) -> Response:
        with self._changed:
            frame = self._frame
        if frame is None:
            return Response.text(404, "nothing is shown yet")
        buffer = io.BytesIO()
        Image.fromarray(frame).save(buffer, "PNG", compress_level=1)
        return Response(200, "image/png", buffer.getvalue())

    def _events(self, _: bytes) -> Response:
        return Response(200, "text/event-stream", self._walk_events())

    def _walk_events(self) -> Iterator[bytes]:
        """A server-sent event for each frame (the newest, if several came), until the viewer is closed."""
        seen = 0
        while (number := self._wait_for_frame(seen)) is not None:
            event = json.dumps({"number": number, **self._words})
            yield f"data: {event}\n\n".encode() if number > seen else b":\n\n"
            seen = number
        yield b"event: end\ndata:\n\n"

    def _wait_for_frame(self, seen: int) -> int | None:
        """The newest frame's number, after a while at latest; None once that was seen and it is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._number > seen, _HEARTBEAT_S)
            return None if self._closed and self._number == seen else self._number

    def _take(self, body: bytes) -> Response:
        with self._changed:
            try:
                actions = self._read_actions(body)
            except ActionError as error:
                return Response.text(400, str(error))
            if len(self._actions) + len(actions) > MAX_QUEUED_ACTIONS:
                return Response.text(503, "too many actions are waiting; let the screen catch up")
            self._actions.extend(actions)
            self._changed.notify_all()
        return Response(204, "text/plain", b"")

    def _read_actions(self, body: bytes) -> list[Action]:
        if self._frame is None:
            raise ActionError("nothing is shown yet, so there is nothing to act on")
        height, width = self._frame.shape[:2]
        try:
            posted = _Posted.model_validate_json(body)
        except ValidationError as exc:
            first = exc.errors(include_url=False)[0]
            raise ActionError(f"{'.'.join(map(str, first['loc'])) or 'body'}: {first['msg']}") from exc
        space = make_action_space(_KINDS, width, height)
        return [to_action(_scale(one, posted.view, (width, height)), _KINDS, space) for one in posted.actions]


def _scale(action: Action, view: tuple[int, int], screen: tuple[int, int]) -> Action:
    """An action at a point of a displayed image as one at the pixel of the screen under that point."""
    if action.kind not in POINT_KINDS:
        return action
    return replace(action, x=action.x * screen[0] // view[0], y=action.y * screen[1] // view[1])


def _has_display() -> bool:
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
