"""Between `specs` and the wire's messages: pure functions, both ways."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from sci_gym.bounds import (
    MAX_INSPECTED_BYTES,
    MAX_INSPECTIONS,
    MAX_NODES,
    MAX_PROGRAMS,
    MAX_STATE_LINES,
    MAX_TEXT_CHARS,
    MAX_WINDOWS,
    at_most,
    clean,
)
from sci_gym.specs import (
    A11yTree,
    Action,
    Box,
    Frame,
    Inspected,
    Inspection,
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


def observe_request(*, fresh: bool = False) -> pb.ObserveRequest:
    """A request for everything: pixels, and the tree with hidden widgets, which state is read from.

    Args:
        fresh: read every object of the tree anew, whatever is known of it.
    """
    return pb.ObserveRequest(
        screenshot=True, tree=pb.ObserveRequest.TREE_ALL, max_nodes=MAX_NODES, fresh_tree=fresh
    )


def probe_request(
    files: Iterable[str],
    max_file_bytes: int,
    inspections: Iterable[Inspection],
    inspect_s: float,
    *,
    fresh: bool,
) -> pb.ProbeRequest:
    """A request for what checks rest on.

    Args:
        files: paths below the guest's home.
        max_file_bytes: of each that are read.
        inspections: what to run.
        inspect_s: how long all of them may take together.
        fresh: run each, whatever is known of what it reads.
    """
    return pb.ProbeRequest(
        files=files,
        max_file_bytes=max_file_bytes,
        inspections=[
            pb.Inspection(
                name=one.name, argv=one.argv, stdin=one.stdin, env=one.env, watches=one.watches,
                max_output_bytes=one.max_output_bytes,
            )
            for one in inspections
        ],
        inspect_ms=round(inspect_s * 1000),
        fresh_inspections=fresh,
    )  # fmt: skip


def unpack_inspections(found: Collection[pb.Inspected]) -> dict[str, Inspected]:
    """What inspections gave, by name.

    Raises:
        ProtocolError: there are too many, or their output is too long.
    """
    at_most("inspections", len(found), MAX_INSPECTIONS)
    at_most(
        "bytes of inspections", sum(len(one.stdout) + len(one.stderr) for one in found), MAX_INSPECTED_BYTES
    )
    at_most("characters of an inspection", _longest(one.problem for one in found), MAX_TEXT_CHARS)
    return {
        one.name: Inspected(
            one.stdout, one.stderr, one.result.exit_code, one.result.timed_out, one.result.truncated,
            clean(one.problem),
        )
        for one in found
    }  # fmt: skip


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
    observation: pb.Observation,
    frame: Frame,
    tree: A11yTree,
    probe: pb.ProbeReply,
    *,
    settled: bool,
    output: str = "",
) -> Observation:
    """What the guest showed and said at one moment.

    Args:
        observation: the reply's.
        frame: the client's for it.
        tree: the client's for it.
        probe: the reply's.
        settled: whether the screen came to rest.
        output: what CODE or API returned.
    """
    programs = unpack_programs(probe.programs)
    names = {program.id: program.name for program in programs}
    return Observation(
        screenshot=frame,
        tree=tree,
        cursor=(observation.pointer.position.x_px, observation.pointer.position.y_px),
        windows=unpack_windows(observation.windows, names),
        programs=programs,
        files={one.path: (one.data if one.exists else None) for one in probe.files},
        settled=settled,
        consistent=observation.consistent,
        output=output,
        inspections=unpack_inspections(probe.inspections),
    )


def _longest(texts: Iterable[str]) -> int:
    return max(map(len, texts), default=0)
