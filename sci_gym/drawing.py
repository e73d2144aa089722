"""Words and geometry for pages about an episode: actions drawn on a screenshot, a chart.

Pure functions to plain data that a template or a page's script draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sci_gym.specs import POINT_KINDS, Action, Kind

Point = tuple[int, int]

CHART_PX = (300, 96)
_WHEEL_PX = 28
_MAX_WHEEL_PX = 220
_RINGS = {
    Kind.CLICK: 1,
    Kind.RIGHT_CLICK: 1,
    Kind.MIDDLE_CLICK: 1,
    Kind.DOUBLE_CLICK: 2,
    Kind.TRIPLE_CLICK: 3,
    Kind.MOUSE_DOWN: 1,
    Kind.MOUSE_UP: 1,
}
_RELATIVE = (Kind.MOVE_REL, Kind.DRAG_REL)
_DRAGS = (Kind.DRAG_TO, Kind.DRAG_REL)
_TRAVELS = (Kind.MOVE_TO, Kind.MOVE_REL, *_DRAGS)


def describe_action(action: Action) -> str:
    """An action in a few words, such as `click 320, 240` or `hotkey ctrl+s`."""
    kind, place = action.kind, f"{action.x}, {action.y}"
    keys = "+".join((*action.modifiers, action.key) if kind is Kind.HOTKEY else (action.key,))
    turned = [*_turn(action.amount, "up", "down"), *_turn(action.amount_x, "right", "left")]
    words = {
        **dict.fromkeys(POINT_KINDS, place),
        **dict.fromkeys(_RELATIVE, f"{action.dx:+}, {action.dy:+}"),
        **dict.fromkeys((Kind.MOUSE_DOWN, Kind.MOUSE_UP), action.button),
        **dict.fromkeys((Kind.PRESS, Kind.KEY_DOWN, Kind.KEY_UP, Kind.HOTKEY), keys),
        **dict.fromkeys((Kind.TYPE, Kind.API, Kind.ANS), action.text),
        Kind.SCROLL: " ".join([place, *turned]),
        Kind.WAIT: f"{action.seconds:g} s",
        Kind.CODE: f"{action.language}: {action.text}",
    }
    return f"{kind} {words.get(kind, '')}".rstrip(" ")


def mark_action(action: Action, pointer: Point | None) -> tuple[dict[str, Any], Point | None]:
    """What to draw on the screenshot that an action was performed on, and where the pointer is after it.

    Args:
        action: the action.
        pointer: where the pointer was, in pixels; None when that is not known.

    Returns:
        A dict of `at` (where the pointer is, or None), `rings` (how many to draw around it), `arrow`
        ([x1, y1, x2, y2] or None), `solid` (whether the arrow is more than a move) and `words` (the action in
        words unless it was done with the pointer, else ""); and the pointer.
    """
    end = pointer
    if action.kind in POINT_KINDS:
        end = action.x, action.y
    elif action.kind in _RELATIVE and pointer is not None:
        end = pointer[0] + action.dx, pointer[1] + action.dy
    arrow = [*pointer, *end] if pointer and end and action.kind in _TRAVELS else None
    if action.kind is Kind.SCROLL:
        x, y = action.x, action.y
        arrow = [x, y, x + _wheel_px(action.amount_x), y - _wheel_px(action.amount)]
    pointed = action.kind in _RINGS or action.kind in _TRAVELS or action.kind is Kind.SCROLL
    mark = {
        "at": end,
        "rings": _RINGS.get(action.kind, 0),
        "arrow": arrow,
        "solid": action.kind in _DRAGS or action.kind is Kind.SCROLL,
        "words": "" if pointed else describe_action(action),
    }
    return mark, end


def chart(values: Sequence[float]) -> dict[str, Any]:
    """A step line of values from 0 to 1.

    Returns:
        A dict of `width` and `height` in pixels, `path` (an SVG path) and `points` ([x, y] of each value).
    """
    width, height = CHART_PX
    across = width / max(len(values) - 1, 1)
    points = [[round(at * across, 1), round(height * (1 - value), 1)] for at, value in enumerate(values)]
    path = f"M{points[0][0]} {points[0][1]}" + "".join(f"H{x}V{y}" for x, y in points[1:])
    return {"width": width, "height": height, "path": path, "points": points}


def _turn(amount: int, forward: str, backward: str) -> list[str]:
    return [f"{forward if amount > 0 else backward} {abs(amount)}"] if amount else []


def _wheel_px(amount: int) -> int:
    return max(-_MAX_WHEEL_PX, min(_MAX_WHEEL_PX, amount * _WHEEL_PX))
