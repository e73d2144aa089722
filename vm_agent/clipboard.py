"""The clipboard: the CLIPBOARD selection as text (ICCCM, section 2)."""

from __future__ import annotations

import asyncio
from typing import Any, Optional

from Xlib import X, Xatom
from Xlib import display as xdisplay
from Xlib.protocol import event as xevent

from sci_gym_vm_agent.errors import InvalidArgument, LimitExceeded, PartUnavailable

MAX_CLIPBOARD_BYTES = 200_000
_ANSWER_S = 2.0


class Clipboard:
    """An X client that owns the clipboard after `set`, and asks its owner in `get`."""

    def __init__(self, name: str) -> None:
        """Connect to a display, and serve requests from the running event loop."""
        self._display = xdisplay.Display(name)
        self._window = self._display.screen().root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
        self._clipboard = self._display.intern_atom("CLIPBOARD")
        self._utf8 = self._display.intern_atom("UTF8_STRING")
        self._targets = self._display.intern_atom("TARGETS")
        self._property = self._display.intern_atom("SCI_GYM_CLIPBOARD")
        self._text: Optional[str] = None
        self._answer: Optional[asyncio.Future[str]] = None
        self._display.flush()
        asyncio.get_running_loop().add_reader(self._display.fileno(), self._read)

    def set(self, text: str) -> None:
        """Own the clipboard with a text."""
        if "\0" in text:
            raise InvalidArgument("text: a clipboard's text holds no NUL")
        if len(text.encode()) > MAX_CLIPBOARD_BYTES:
            raise LimitExceeded(f"clipboard: more than {MAX_CLIPBOARD_BYTES} bytes")
        self._text = text
        self._window.set_selection_owner(self._clipboard, X.CurrentTime)
        self._display.sync()
        self._read()

    async def get(self) -> str:
        """Return the clipboard's text, "" when nobody owns it."""
        if self._text is not None:
            return self._text
        if self._display.get_selection_owner(self._clipboard) == X.NONE:
            return ""
        self._answer = asyncio.get_running_loop().create_future()
        self._window.convert_selection(self._clipboard, self._utf8, self._property, X.CurrentTime)
        self._display.flush()
        self._read()
        try:
            return await asyncio.wait_for(self._answer, _ANSWER_S)
        except asyncio.TimeoutError:
            raise PartUnavailable("clipboard", f"its owner did not answer within {_ANSWER_S} s") from None

    def _read(self) -> None:
        for _ in range(self._display.pending_events()):
            event = self._display.next_event()
            if event.type == X.SelectionRequest:
                self._serve(event)
            elif event.type == X.SelectionClear:
                self._text = None
            elif event.type == X.SelectionNotify and self._answer is not None and not self._answer.done():
                self._answer.set_result(self._received(event))
        self._display.flush()

    def _received(self, event: Any) -> str:
        if event.property == X.NONE:
            return ""
        found = self._window.get_full_property(self._property, X.AnyPropertyType)
        value = found.value if found else b""
        return bytes(value).decode("utf-8", "replace").replace("\0", "")

    def _serve(self, event: Any) -> None:
        granted = event.property or event.target
        if event.target == self._targets:
            event.requestor.change_property(
                granted, Xatom.ATOM, 32, [self._targets, self._utf8, Xatom.STRING]
            )
        elif event.target in (self._utf8, Xatom.STRING) and self._text is not None:
            event.requestor.change_property(granted, event.target, 8, self._text.encode())
        else:
            granted = X.NONE
        notice = xevent.SelectionNotify(
            time=event.time,
            requestor=event.requestor,
            selection=event.selection,
            target=event.target,
            property=granted,
        )
        event.requestor.send_event(notice)
