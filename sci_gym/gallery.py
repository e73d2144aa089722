"""Frames with words about them, in numbered places, for pages that wait for what comes next."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from PIL import Image

from sci_gym.specs import Frame
from sci_gym.web import Response

_HEARTBEAT_S = 15.0


class Gallery:
    """The newest frame of each place. All methods may be called from any thread."""

    def __init__(self, places: int = 1) -> None:
        """Make empty places, numbered from 0."""
        self._changed = threading.Condition()
        self._frames: list[Frame | None] = [None] * places
        self._words: list[Mapping[str, Any]] = [{}] * places
        self._numbers = [0] * places
        self._visited = threading.Event()
        self._closed = threading.Event()

    def show(self, frame: Frame | None, words: Mapping[str, Any], place: int = 0) -> None:
        """Publish a frame, uint8 `[H, W, 3]`, or leave the one that is there; and words, plain data."""
        with self._changed:
            if frame is not None:
                self._frames[place] = frame.copy()
            self._words[place] = words
            self._numbers[place] += 1
            self._changed.notify_all()

    def frame(self, place: int = 0) -> Frame | None:
        """What a place shows."""
        with self._changed:
            return self._frames[place]

    def wait_for_visitor(self, timeout_s: float) -> bool:
        """Wait until a page has asked for what comes; False when none has in time."""
        return self._visited.wait(timeout_s)

    def dwell(self, time_s: float) -> None:
        """Leave people time to look, unless it is closed."""
        self._closed.wait(time_s)

    def close(self) -> None:
        """Let the pages know, once they have seen all, that nothing more comes."""
        with self._changed:
            self._closed.set()
            self._changed.notify_all()

    def png(self, place: int = 0) -> Response:
        """A place's frame, as a route answers it."""
        frame = self.frame(place)
        if frame is None:
            return Response.text(404, "nothing is shown yet")
        buffer = io.BytesIO()
        Image.fromarray(frame).save(buffer, "PNG", compress_level=1)
        return Response(200, "image/png", buffer.getvalue())

    def events(self) -> Response:
        """Server-sent events, as a route answers them: one for each change, or for the last of several."""
        self._visited.set()
        return Response(200, "text/event-stream", self._walk())

    def _walk(self) -> Iterator[bytes]:
        seen = [0] * len(self._numbers)
        while (fresh := self._wait_for_fresh(seen)) is not None:
            for event in fresh:
                yield f"data: {json.dumps(event)}\n\n".encode()
            if not fresh:
                yield b":\n\n"
        yield b"event: end\ndata:\n\n"

    def _wait_for_fresh(self, seen: list[int]) -> list[dict[str, Any]] | None:
        """What is new since `seen`, after a while at latest; None once all was seen and it is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed.is_set() or self._numbers != seen, _HEARTBEAT_S)
            fresh = [
                {"number": number, **words}
                for number, old, words in zip(self._numbers, seen, self._words, strict=True)
                if number > old
            ]
            seen[:] = self._numbers
            return None if self._closed.is_set() and not fresh else fresh
