"""Reads GRASS's state from what `guest/state.py` reports and from what inspections found; total."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sci_gym.app import reported
from sci_gym.envs.grass_gis.inspections import inspected
from sci_gym.specs import Inspected

MAX_LISTED = 100
SIDES = ("n", "s", "e", "w")
DUMPED = ("layers", "toolbars", "statusbar", "region", "output")
"""Beside "windows", what ScienceBoard's fork of the interface tells."""


def read(lines: Iterable[str], found: Mapping[str, Inspected]) -> dict[str, Any]:
    """The state as plain data; `GrassGis.read_state` documents the keys."""
    told = reported(lines)
    kinds = inspected(found)
    displays = told.get("displays")
    return {
        "running": isinstance(told.get("main"), str),
        "displays": [_display(one) for one in _maps(displays)],
        "windows": [one for one in _listed(told.get("windows")) if isinstance(one, str)],
        "plots": [_plot(one) for one in _maps(told.get("plots"))],
        "session": str(told.get("main") or "").partition(" - ")[0],
        "busy": told.get("busy") is True,
        "console": _text(told.get("console")),
        "output": _text(told.get("output")),
        "catalog": [str(one) for one in _listed(told.get("catalog"))],
        "region": _sides(told.get("region")),
        "mapset": kinds["mapset"].get(""),
        "rasters": kinds["raster"],
        "vectors": kinds["vector"],
        "commands": kinds["command"],
        "dump": _dump(told),
    }


def _dump(told: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of the interface's own data, put together; what is missing was not to be read."""
    parts = {name: told[f"dump.{name}"] for name in DUMPED if told.get(f"dump.{name}") is not None}
    count = told.get("dump.windows")
    if isinstance(count, int):
        parts["windows"] = [told.get(f"dump.windows.{place}") for place in range(min(count, MAX_LISTED))]
    return parts


def _text(told: object) -> str:
    return told if isinstance(told, str) else ""


def _sides(told: object) -> dict[str, float]:
    return {str(side): _number(at) for side, at in told.items()} if isinstance(told, dict) else {}


def _display(told: Mapping[str, Any]) -> dict[str, Any]:
    region = told.get("region")
    sides = {side: _number(region.get(side)) for side in SIDES} if isinstance(region, dict) else {}
    return {
        "name": str(told.get("name", "")),
        "region": sides,
        "scale": _number(told.get("scale")),
        "status_bar": str(told.get("status_bar", "")),
        "toolbars": [str(one) for one in _listed(told.get("toolbars"))],
        "auto_render": told.get("auto_render") is True,
        "shows_region": told.get("shows_region") is True,
        "layers": [_layer(one) for one in _maps(told.get("layers"))],
        "elements": [_element(one) for one in _maps(told.get("elements"))],
    }


def _layer(told: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": str(told.get("name", "")),
        "type": str(told.get("type", "")),
        "visible": told.get("visible") is True,
        "opacity": _number(told.get("opacity")),
        "command": [str(one) for one in _listed(told.get("command"))],
    }


def _plot(told: Mapping[str, Any]) -> dict[str, Any]:
    return {"tool": str(told.get("tool", "")), "maps": [str(one) for one in _listed(told.get("maps"))]}


def _element(told: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": str(told.get("name", "")),
        "visible": told.get("visible") is True,
        "command": [str(one) for one in _listed(told.get("command"))],
    }


def _listed(value: object) -> list[Any]:
    return value[:MAX_LISTED] if isinstance(value, list) else []


def _maps(value: object) -> list[Mapping[str, Any]]:
    return [one for one in _listed(value) if isinstance(one, dict)]


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and abs(value) < 1e15 else float("nan")
