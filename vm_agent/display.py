"""The X display: input through XTEST, windows through EWMH, the pointer, the clipboard's owner."""

from __future__ import annotations

import math
import time
from typing import Any, Callable, Tuple

from Xlib import X, Xatom
from Xlib import display as xdisplay
from Xlib import error as xerror
from Xlib.ext import xtest
from Xlib.protocol import event as xevent

from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_vm_agent.errors import InvalidArgument, NotFound
from sci_gym_vm_agent.keyboard import Keyboard, keysym_named, keysym_of
from sci_gym_vm_agent.xfixes import cursor_image

MAX_TEXT_CHARS = 65_536
MAX_SCROLL_CLICKS = 100
# Steps follow each other so fast that two clicks at one place would be taken for a double click. No toolkit
# does so after this time (Tk 500 ms, Qt and GTK 400 ms) or beyond this distance (Qt 10, GTK and Tk 5 pixels).
_CLICKS_APART_S = 0.51
_CLICKS_APART_PX = 16
MAX_KEYS = 16
_BUTTONS = {pb.Input.BUTTON_LEFT: 1, pb.Input.BUTTON_MIDDLE: 2, pb.Input.BUTTON_RIGHT: 3}
_WHEEL_UP, _WHEEL_DOWN, _WHEEL_LEFT, _WHEEL_RIGHT = 4, 5, 6, 7
_DRAG_POINTS = 8
_WINDOW_PROPERTIES = ("_NET_ACTIVE_WINDOW", "_NET_CLIENT_LIST_STACKING", "_NET_WM_NAME", "WM_NAME")
Window = Tuple[int, str, Tuple[int, int, int, int], bool, int]
"""A managed window: id, title, (x, y, width, height), whether it is active, process id."""


class Display:
    """One connection for input and queries. Not thread-safe: all calls come from one thread."""

    def __init__(self, name: str) -> None:
        """Connect to a display such as ":0"."""
        self._display = xdisplay.Display(name)
        self._screen = self._display.screen()
        self.root = self._screen.root
        self.width = int(self._screen.width_in_pixels)
        self.height = int(self._screen.height_in_pixels)
        self.depth = int(self._screen.root_depth)
        self._keyboard = Keyboard(self._display)
        self._atoms: dict[str, int] = {}
        self._windows: dict[int, Window] = {}
        self.root.change_attributes(event_mask=X.PropertyChangeMask | X.SubstructureNotifyMask)
        self._clicked_s = float("-inf")
        self._clicked_at = (0, 0)
        self._display.xfixes_query_version()
        self._display.res_query_version()
        self._actions: dict[int, Callable[[pb.Input], None]] = {
            pb.Input.KIND_NONE: lambda request: None,
            pb.Input.KIND_MOVE_TO: lambda request: self._move(request.x_px, request.y_px),
            pb.Input.KIND_DRAG_TO: self._drag,
            pb.Input.KIND_CLICK: self._click,
            pb.Input.KIND_BUTTON_DOWN: lambda request: self._button(X.ButtonPress, _button(request)),
            pb.Input.KIND_BUTTON_UP: lambda request: self._button(X.ButtonRelease, _button(request)),
            pb.Input.KIND_SCROLL: self._scroll,
            pb.Input.KIND_TYPE: lambda request: self._type(request.text),
            pb.Input.KIND_PRESS: self._press,
            pb.Input.KIND_KEY_DOWN: lambda request: self._keys(X.KeyPress, request.keys),
            pb.Input.KIND_KEY_UP: lambda request: self._keys(X.KeyRelease, request.keys),
        }

    @property
    def capacity(self) -> int:
        """How many different characters one text may have to be typed in one go."""
        return self._keyboard.capacity

    def act(self, request: pb.Input) -> None:
        """Do one input, and return when the X server has processed it.

        Raises:
            InvalidArgument: the kind is unknown, the point is off screen, a text or key cannot be typed.
        """
        action = self._actions.get(request.kind)
        if action is None:
            raise InvalidArgument(f"input.kind: {request.kind} is unknown to this daemon")
        action(request)
        self._display.sync()

    def cursor(self) -> tuple[int, int]:
        """Return the pointer's position."""
        pointer = self.root.query_pointer()
        return int(pointer.root_x), int(pointer.root_y)

    def pointer(self) -> pb.Pointer:
        """Return where the pointer is, and its picture (XFixes)."""
        cursor = cursor_image(self._display)
        return pb.Pointer(
            position=pb.Point(x_px=cursor.x, y_px=cursor.y),
            picture=pb.Rect(
                x_px=cursor.x - cursor.xhot,
                y_px=cursor.y - cursor.yhot,
                width_px=cursor.width,
                height_px=cursor.height,
            ),
            pixels=cursor.pixels,
        )

    def set_root_text(self, atom: str, text: str) -> None:
        """Set a text property on the root window."""
        self.root.change_property(self._atom(atom), Xatom.STRING, 8, text.encode())
        self._display.sync()

    def has_window_manager(self) -> bool:
        """Whether a window manager has announced itself (EWMH, _NET_SUPPORTING_WM_CHECK)."""
        return (
            self.root.get_full_property(self._atom("_NET_SUPPORTING_WM_CHECK"), X.AnyPropertyType) is not None
        )

    def windows(self) -> list[Window]:
        """Return the managed windows, bottom to top; described anew only when one of them has changed."""
        self._display.sync()
        events = [self._display.next_event() for _ in range(self._display.pending_events())]
        if any(self._tells_of_windows(event) for event in events) or not self._windows:
            self._windows = {}
            active = self._property(self.root, "_NET_ACTIVE_WINDOW")
            for window_id in self._property(self.root, "_NET_CLIENT_LIST_STACKING"):
                try:
                    self._windows[window_id] = self._describe(window_id, window_id in active)
                except xerror.XError:
                    continue  # it was closed while it was described
        return list(self._windows.values())

    def activate(self, window_id: int) -> None:
        """Raise and focus a window (EWMH, _NET_ACTIVE_WINDOW)."""
        self._client_message(window_id, "_NET_ACTIVE_WINDOW", [2, X.CurrentTime, 0, 0, 0])

    def close_window(self, window_id: int) -> None:
        """Ask a window to close (EWMH, _NET_CLOSE_WINDOW)."""
        self._client_message(window_id, "_NET_CLOSE_WINDOW", [X.CurrentTime, 2, 0, 0, 0])

    def _client_message(self, window_id: int, name: str, data: list[int]) -> None:
        if window_id not in self._property(self.root, "_NET_CLIENT_LIST"):
            raise NotFound(f"window {window_id}: no such window")
        window = self._display.create_resource_object("window", window_id)
        message = xevent.ClientMessage(window=window, client_type=self._atom(name), data=(32, data))
        self.root.send_event(message, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
        self._display.sync()

    def _tells_of_windows(self, event: Any) -> bool:
        if event.type == X.PropertyNotify:
            return event.atom in map(self._atom, _WINDOW_PROPERTIES)
        return event.type in (X.ConfigureNotify, X.ReparentNotify, X.DestroyNotify, X.UnmapNotify)

    def _describe(self, window_id: int, active: bool) -> Window:
        # Nothing is taken over from an earlier window of this id: X gives ids of closed clients to new ones.
        window = self._display.create_resource_object("window", window_id)
        window.change_attributes(event_mask=X.StructureNotifyMask | X.PropertyChangeMask)
        owner = self._owner(window_id)
        geometry = window.get_geometry()
        corner = self.root.translate_coords(window, 0, 0)
        title = window.get_full_property(self._atom("_NET_WM_NAME"), X.AnyPropertyType)
        text = title.value.decode("utf-8", "replace") if title else (window.get_wm_name() or "")
        box = (int(corner.x), int(corner.y), int(geometry.width), int(geometry.height))
        return window_id, text.replace("\0", ""), box, active, owner

    def _owner(self, window_id: int) -> int:
        # The X server's own word for the process (XRes); _NET_WM_PID is whatever the client claims.
        reply = self._display.res_query_client_ids([{"client": window_id, "mask": 2}])
        for entry in reply.ids:
            if entry.value:
                return int(entry.value[0])
        return 0

    def _property(self, window: Any, name: str) -> list[int]:
        found = window.get_full_property(self._atom(name), X.AnyPropertyType)
        return [int(value) for value in found.value] if found else []

    def _atom(self, name: str) -> int:
        if name not in self._atoms:
            self._atoms[name] = self._display.intern_atom(name)
        return self._atoms[name]

    def _move(self, x: int, y: int, delay_ms: int = 0) -> None:
        if not (0 <= x < self.width and 0 <= y < self.height):
            raise InvalidArgument(
                f"input: ({x}, {y}) is outside the screen of {self.width}x{self.height} pixels"
            )
        xtest.fake_input(self._display, X.MotionNotify, time=delay_ms, x=x, y=y)

    def _button(self, event: int, button: int) -> None:
        xtest.fake_input(self._display, event, button)

    def _click(self, request: pb.Input) -> None:
        if not 1 <= request.count <= 3:
            raise InvalidArgument(f"input.count: {request.count} is not 1, 2 or 3 clicks")
        button = _button(request)
        delay_s = self._until_apart_s(request.x_px, request.y_px)
        self._move(request.x_px, request.y_px, math.ceil(delay_s * 1000))
        self._clicked_s = time.monotonic() + delay_s
        self._clicked_at = request.x_px, request.y_px
        for _ in range(request.count):
            self._button(X.ButtonPress, button)
            self._button(X.ButtonRelease, button)

    def _until_apart_s(self, x: int, y: int) -> float:
        """How long the X server is to wait, so that a click there is one of its own."""
        last_x, last_y = self._clicked_at
        if max(abs(x - last_x), abs(y - last_y)) >= _CLICKS_APART_PX:
            return 0.0
        return max(self._clicked_s + _CLICKS_APART_S - time.monotonic(), 0.0)

    def _drag(self, request: pb.Input) -> None:
        button = _button(request)
        start_x, start_y = self.cursor()
        self._move(request.x_px, request.y_px)  # refuses a bad target before the button goes down
        self._move(start_x, start_y)
        self._button(X.ButtonPress, button)
        for point in range(1, _DRAG_POINTS + 1):
            share = point / _DRAG_POINTS
            self._move(
                round(start_x + (request.x_px - start_x) * share),
                round(start_y + (request.y_px - start_y) * share),
            )
        self._button(X.ButtonRelease, button)

    def _scroll(self, request: pb.Input) -> None:
        if max(abs(request.clicks_x), abs(request.clicks_y)) > MAX_SCROLL_CLICKS:
            raise InvalidArgument(f"input.clicks: more than {MAX_SCROLL_CLICKS} wheel clicks")
        self._move(request.x_px, request.y_px)
        vertical = _WHEEL_UP if request.clicks_y > 0 else _WHEEL_DOWN
        sideways = _WHEEL_RIGHT if request.clicks_x > 0 else _WHEEL_LEFT
        for button, clicks in ((vertical, abs(request.clicks_y)), (sideways, abs(request.clicks_x))):
            for _ in range(clicks):
                self._button(X.ButtonPress, button)
                self._button(X.ButtonRelease, button)

    def _type(self, text: str) -> None:
        keysyms = [keysym_of(character) for character in text]
        for stroke in self._keyboard.bind(keysyms):
            if stroke.shift:
                xtest.fake_input(self._display, X.KeyPress, self._keyboard.shift)
            xtest.fake_input(self._display, X.KeyPress, stroke.keycode)
            xtest.fake_input(self._display, X.KeyRelease, stroke.keycode)
            if stroke.shift:
                xtest.fake_input(self._display, X.KeyRelease, self._keyboard.shift)

    def _press(self, request: pb.Input) -> None:
        self._keys(X.KeyPress, request.keys)
        self._keys(X.KeyRelease, list(reversed(request.keys)))

    def _keys(self, event: int, names: Any) -> None:
        if len(names) > MAX_KEYS:
            raise InvalidArgument(f"input.keys: {len(names)} keys, at most {MAX_KEYS}")
        strokes = self._keyboard.bind([keysym_named(name) for name in names])
        shifted = any(stroke.shift for stroke in strokes)
        if shifted and event == X.KeyPress:
            xtest.fake_input(self._display, X.KeyPress, self._keyboard.shift)
        for stroke in strokes:
            xtest.fake_input(self._display, event, stroke.keycode)
        if shifted and event == X.KeyRelease:
            xtest.fake_input(self._display, X.KeyRelease, self._keyboard.shift)


def _button(request: pb.Input) -> int:
    """Return the X number of an input's button."""
    if request.button not in _BUTTONS:
        raise InvalidArgument(f"input.button: {request.button} is unknown to this daemon")
    return _BUTTONS[request.button]


def text_batches(text: str, capacity: int) -> list[str]:
    """Split a text so that no part has more different characters than there are spare keycodes.

    Raises:
        InvalidArgument: the text is longer than `MAX_TEXT_CHARS`, or a character cannot be typed.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise InvalidArgument(f"input.text: {len(text)} characters, at most {MAX_TEXT_CHARS}")
    for character in set(text):
        keysym_of(character)  # refuses before the first batch is typed
    batches: list[str] = []
    batch, different = "", set[str]()
    for character in text:
        if character not in different and len(different) >= capacity:
            batches.append(batch)
            batch, different = "", set()
        batch += character
        if not character.isascii():
            different.add(character)
    return [*batches, batch]
