"""Between `specs` and the wire's messages: pure functions, both ways."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

import numpy as np
from google.protobuf.message import DecodeError

from sci_gym.bounds import (
    MAX_NODES,
    MAX_PROGRAMS,
    MAX_STATE_LINES,
    MAX_TEXT_CHARS,
    MAX_TREE_CHARS,
    MAX_WINDOWS,
    at_most,
    clean,
)
from sci_gym.errors import ProtocolError
from sci_gym.specs import (
    A11yNode,
    A11yTree,
    Action,
    Box,
    Frame,
    Kind,
    Observation,
    Program,
    Window,
)
from sci_gym_protos import vm_agent_pb2 as pb

_BUTTONS = {"left": pb.Input.BUTTON_LEFT, "middle": pb.Input.BUTTON_MIDDLE, "right": pb.Input.BUTTON_RIGHT}
_CLICKS = {
    Kind.CLICK: ("left", 1),
    Kind.RIGHT_CLICK: ("right", 1),
    Kind.MIDDLE_CLICK: ("middle", 1),
    Kind.DOUBLE_CLICK: ("left", 2),
    Kind.TRIPLE_CLICK: ("left", 3),
}
_KEYSYMS = {
    "enter": "Return", "tab": "Tab", "esc": "Escape", "backspace": "BackSpace", "delete": "Delete",
    "insert": "Insert", "home": "Home", "end": "End", "pageup": "Prior", "pagedown": "Next", "up": "Up",
    "down": "Down", "left": "Left", "right": "Right", "space": "space", "menu": "Menu",
    "printscreen": "Print", "pause": "Pause", "capslock": "Caps_Lock", "numlock": "Num_Lock",
    "ctrl": "Control_L", "alt": "Alt_L", "shift": "Shift_L", "super": "Super_L",
}  # fmt: skip


def pack_input(action: Action, cursor: tuple[int, int], width: int, height: int) -> pb.Input:
    """The input that an action sends to the desktop; CODE, API and the stop kinds send none.

    Args:
        action: what to do.
        cursor: where the pointer is; `moveRel` and `dragRel` count from there and stop at the screen's edge.
        width: of the screen, in pixels.
        height: of the screen, in pixels.
    """
    kind = action.kind
    if kind in (Kind.MOVE_REL, Kind.DRAG_REL):
        x = min(max(cursor[0] + action.dx, 0), width - 1)
        y = min(max(cursor[1] + action.dy, 0), height - 1)
        target = pb.Input.KIND_MOVE_TO if kind is Kind.MOVE_REL else pb.Input.KIND_DRAG_TO
        return pb.Input(kind=target, x_px=x, y_px=y, button=_BUTTONS[action.button])
    if kind in _CLICKS:
        button, count = _CLICKS[kind]
        return pb.Input(
            kind=pb.Input.KIND_CLICK, x_px=action.x, y_px=action.y, button=_BUTTONS[button], count=count
        )
    if kind in (Kind.MOVE_TO, Kind.DRAG_TO):
        target = pb.Input.KIND_MOVE_TO if kind is Kind.MOVE_TO else pb.Input.KIND_DRAG_TO
        return pb.Input(kind=target, x_px=action.x, y_px=action.y, button=_BUTTONS[action.button])
    if kind in (Kind.MOUSE_DOWN, Kind.MOUSE_UP):
        press = pb.Input.KIND_BUTTON_DOWN if kind is Kind.MOUSE_DOWN else pb.Input.KIND_BUTTON_UP
        return pb.Input(kind=press, button=_BUTTONS[action.button])
    if kind is Kind.SCROLL:
        return pb.Input(
            kind=pb.Input.KIND_SCROLL,
            x_px=action.x, y_px=action.y, clicks_x=action.amount_x, clicks_y=action.amount,
        )  # fmt: skip
    return _pack_keyboard(action)


def _pack_keyboard(action: Action) -> pb.Input:
    if action.kind is Kind.TYPE:
        return pb.Input(kind=pb.Input.KIND_TYPE, text=action.text)
    kinds = {
        Kind.PRESS: pb.Input.KIND_PRESS,
        Kind.HOTKEY: pb.Input.KIND_PRESS,
        Kind.KEY_DOWN: pb.Input.KIND_KEY_DOWN,
        Kind.KEY_UP: pb.Input.KIND_KEY_UP,
    }
    if action.kind not in kinds:
        return pb.Input(kind=pb.Input.KIND_NONE)
    keys = [*action.modifiers, action.key] if action.kind is Kind.HOTKEY else [action.key]
    return pb.Input(kind=kinds[action.kind], keys=[_keysym(key) for key in keys])


def _keysym(key: str) -> str:
    if len(key) > 1 and key[0] == "f" and key[1:].isdigit():
        return key.upper()
    return _KEYSYMS.get(key, key)


def observe_request() -> pb.ObserveRequest:
    """A request for everything: pixels, and the tree with hidden widgets, which state is read from."""
    return pb.ObserveRequest(screenshot=True, tree=pb.ObserveRequest.TREE_ALL, max_nodes=MAX_NODES)


def unpack_frame(image: pb.Image, pointer: pb.Pointer) -> Frame:
    """RGB pixels with the pointer drawn, uint8 `[H, W, 3]`.

    Raises:
        ProtocolError: the encoding is unknown or the size does not fit.
    """
    height, width = image.height_px, image.width_px
    data = image.tiles[0].data if len(image.tiles) == 1 else b""
    if image.encoding != pb.Image.ENCODING_RAW or len(data) != height * width * 4:
        raise ProtocolError(
            "daemon",
            f"sent an image of {len(data)} bytes as {width}x{height} pixels of encoding {image.encoding}",
        )
    pixels = np.frombuffer(data, np.uint8).reshape(height, width, 4)
    frame: Frame = np.ascontiguousarray(pixels[:, :, 2::-1])
    _draw_pointer(frame, pointer)
    return frame


def _draw_pointer(frame: Frame, pointer: pb.Pointer) -> None:
    """Blend the pointer's picture (premultiplied by alpha) into a frame, in place."""
    box = unpack_box(pointer.picture)
    if len(pointer.pixels) != box.width * box.height * 4:
        raise ProtocolError("daemon", f"sent a pointer of {len(pointer.pixels)} bytes as {box}")
    picture = np.frombuffer(pointer.pixels, np.uint8).reshape(box.height, box.width, 4)
    seen = box.clip(frame.shape[1], frame.shape[0])
    shown = picture[seen.y - box.y :, seen.x - box.x :][: seen.height, : seen.width].astype(np.uint16)
    under = frame[seen.y : seen.y + seen.height, seen.x : seen.x + seen.width]
    under[:] = np.minimum(shown[:, :, 2::-1] + under * (255 - shown[:, :, 3:]) // 255, 255)


def unpack_tree(tree: pb.Tree, names: Mapping[int, str]) -> A11yTree:
    """The tree; `names` gives the launched programs' names by id.

    Raises:
        ProtocolError: a node stands before its parent, is no node, or there are too many or too long ones.
    """
    at_most("nodes", len(tree.nodes), MAX_NODES)
    at_most("bytes of nodes", sum(map(len, tree.nodes)), MAX_TREE_CHARS)
    if len(tree.parents) != len(tree.nodes):
        raise ProtocolError("daemon", f"sent {len(tree.nodes)} nodes with {len(tree.parents)} parents")
    nodes = []
    for index, (parent, data) in enumerate(zip(tree.parents, tree.nodes, strict=True)):
        if not -1 <= parent < index:
            raise ProtocolError("daemon", f"sent a tree whose node {index} has the parent {parent}")
        nodes.append(_unpack_node(index, parent, data, names))
    return A11yTree(tuple(nodes), tree.truncated)


def _unpack_node(index: int, parent: int, data: bytes, names: Mapping[int, str]) -> A11yNode:
    try:
        node = pb.Node.FromString(data)
    except DecodeError as error:
        raise ProtocolError("daemon", f"sent a tree whose node {index} is none: {error}") from error
    texts = (node.role, node.name, node.text, node.description)
    if len(data) > MAX_TEXT_CHARS:
        at_most(f"characters in node {index}", max(map(len, texts)), MAX_TEXT_CHARS)
    return A11yNode(
        index, parent, *map(clean, texts),
        node.value if node.has_value and math.isfinite(node.value) else None,
        node.states,
        unpack_box(node.extents) if node.HasField("extents") else None,
        names.get(node.program_id, ""),
        (node.row, node.column) if node.is_cell else None,
    )  # fmt: skip


def unpack_box(rect: pb.Rect) -> Box:
    """A rectangle."""
    return Box(rect.x_px, rect.y_px, rect.width_px, rect.height_px)


def unpack_program(program: pb.Program) -> Program:
    """A launched program.

    Raises:
        ProtocolError: it has reported more or longer lines than it may.
    """
    at_most("state lines", len(program.state), MAX_STATE_LINES)
    at_most("characters in a state line", _longest(program.state), MAX_TEXT_CHARS)
    at_most("characters of a program", _longest((program.name, program.stderr_tail)), MAX_TEXT_CHARS)
    return Program(
        program.id, clean(program.name), program.running, program.exit_code, program.launches,
        tuple(program.state), clean(program.stderr_tail),
    )  # fmt: skip


def unpack_programs(programs: Collection[pb.Program]) -> tuple[Program, ...]:
    """The launched programs.

    Raises:
        ProtocolError: there are too many, or two with the same id.
    """
    at_most("programs", len(programs), MAX_PROGRAMS)
    at_most("programs of one id", len(programs) - len({one.id for one in programs}) + 1, 1)
    return tuple(unpack_program(one) for one in programs)


def unpack_windows(windows: Collection[pb.Window], names: Mapping[int, str]) -> tuple[Window, ...]:
    """Top-level windows, bottom to top.

    Raises:
        ProtocolError: there are too many, or a title is too long.
    """
    at_most("windows", len(windows), MAX_WINDOWS)
    at_most("characters in a title", _longest(one.title for one in windows), MAX_TEXT_CHARS)
    return tuple(
        Window(one.id, clean(one.title), unpack_box(one.extents), one.active, names.get(one.program_id, ""))
        for one in windows
    )


def unpack_observation(
    observation: pb.Observation, probe: pb.ProbeReply, *, settled: bool, output: str = ""
) -> Observation:
    """What the guest showed and said at one moment."""
    programs = unpack_programs(probe.programs)
    names = {program.id: program.name for program in programs}
    return Observation(
        screenshot=unpack_frame(observation.screenshot, observation.pointer),
        tree=unpack_tree(observation.tree, names),
        cursor=(observation.pointer.position.x_px, observation.pointer.position.y_px),
        windows=unpack_windows(observation.windows, names),
        programs=programs,
        files={one.path: (one.data if one.exists else None) for one in probe.files},
        settled=settled,
        consistent=observation.consistent,
        output=output,
    )


def _longest(texts: Iterable[str]) -> int:
    return max(map(len, texts), default=0)
