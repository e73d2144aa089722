"""GRASS's colour tables: whether a map's rules are those of one."""

from __future__ import annotations

from collections.abc import Sequence

from sci_gym.errors import UnknownNameError

Rgb = tuple[int, int, int]

TABLES: dict[str, tuple[Rgb, Rgb, Rgb, int]] = {
    "viridis": ((68, 1, 84), (33, 145, 140), (253, 231, 37), 256),
    "magma": ((0, 0, 4), (183, 55, 121), (252, 253, 191), 256),
    "ryg": ((255, 0, 0), (255, 255, 0), (0, 255, 0), 3),
    "bcyr": ((0, 0, 255), (255, 255, 0), (255, 0, 0), 4),
    "haxby": ((37, 57, 175), (205, 255, 162), (255, 255, 255), 11),
    "sepia": ((0, 0, 0), (158, 122, 71), (255, 254, 251), 11),
}
"""Of each: the first, middle and last colour, and how many rules it gives a map of heights (GRASS 8.2)."""


def follows(rules: Sequence[object], table: str) -> bool:
    """Whether rules, as r.colors.out prints them, are a table's: in number, at both ends, in the middle."""
    if table not in TABLES:
        raise UnknownNameError("colour table", table, TABLES)
    colors = [color for rule in rules if (color := _color(str(rule))) is not None]
    if not colors:
        return False
    return (colors[0], colors[len(colors) // 2], colors[-1], len(colors)) == TABLES[table]


def _color(rule: str) -> Rgb | None:
    words = rule.split()
    if len(words) != 2 or words[0] in ("nv", "default"):
        return None
    try:
        red, green, blue = (int(part) for part in words[1].split(":"))
    except ValueError:
        return None
    return red, green, blue
