"""The screen of an environment in a web browser, to watch and, on request, to act."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from collections import deque
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from sci_gym.errors import ActionError
from sci_gym.gallery import Gallery
from sci_gym.spaces import kinds_for, make_action_space, to_action
from sci_gym.specs import POINT_KINDS, Action, Frame
from sci_gym.templates import render
from sci_gym.web import LocalServer, Response, Route

MAX_QUEUED_ACTIONS = 64
_MAX_POSTED_ACTIONS = 8
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
        self._gallery = Gallery()
        self._changed = threading.Condition()
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
                ("GET", "events"): lambda _: self._gallery.events(),
                ("GET", "frame.png"): lambda _: self._gallery.png(),
            }
            if self._interactive:
                routes["POST", "actions"] = self._take
            self._server = LocalServer(routes)
        if browser:
            open_in_browser(self._server.url)
        return self._server.url

    def show(self, frame: Frame, instruction: str, status: str = "") -> None:
        """Publish a frame, uint8 `[H, W, 3]`, with the task and a line on how it stands."""
        self._gallery.show(frame, {"instruction": instruction, "status": status})

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
        self._gallery.close()
        if self._server is not None:
            self._server.close()
            self._server = None

    def _page(self, _: bytes) -> Response:
        page = render("viewer.html", title=self._title, interactive=self._interactive)
        return Response(200, "text/html; charset=utf-8", page.encode())

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
        frame = self._gallery.frame()
        if frame is None:
            raise ActionError("nothing is shown yet, so there is nothing to act on")
        height, width = frame.shape[:2]
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


def open_in_browser(url: str) -> None:
    """Open a page in the person's browser, where there is a display for one."""
    if sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(url)
