"""Reads Celestia's state from what `guest/hook.lua` reports; total."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Any

from sci_gym.app import reported
from sci_gym.specs import Observation

PROGRAM = "celestia"
Fields = Mapping[str, type | UnionType]
_NUMBER = int | float
TIME: Fields = {"tdb": _NUMBER, "utc": _NUMBER, "scale": _NUMBER, "paused": bool, "light_delay": bool}
OBSERVER: Fields = {
    "at": list, "orientation": list, "field_of_view": _NUMBER, "frame": str, "reference": str, "target": str,
    "tracked": str, "travelling": bool, "speed": _NUMBER, "views": int, "url": str, "window": list,
}  # fmt: skip
SELECTION: Fields = {
    "type": str, "name": str, "path": str, "distance": _NUMBER, "longitude": _NUMBER, "latitude": _NUMBER,
    "radius": _NUMBER, "mass": _NUMBER, "albedo": _NUMBER, "rotationPeriod": _NUMBER, "orbitPeriod": _NUMBER,
    "oblateness": _NUMBER, "hasRings": bool, "temperature": _NUMBER, "luminosity": _NUMBER,
    "absoluteMagnitude": _NUMBER, "stellarClass": str, "hubbleType": str, "featureType": str, "size": _NUMBER,
}  # fmt: skip
SHOWN: Fields = {
    "render": dict, "label": dict, "orbit": dict, "location": dict, "faintest": _NUMBER,
    "faintest_at_45_degrees": _NUMBER, "star_style": str, "textures": _NUMBER, "ambient": _NUMBER,
}  # fmt: skip
BODY: Fields = {"at": list, "radius": _NUMBER}
WATCHED: Fields = {
    "kind": str, "position": list, "away": list, "distance": _NUMBER, "radius": _NUMBER, "visible": bool,
}  # fmt: skip
_VECTORS = {"at": 3, "orientation": 4, "window": 2, "position": 3, "away": 3}


def observed(observation: Observation) -> dict[str, Any]:
    """The state as plain data; `Celestia.read_state` documents the keys."""
    program = observation.program(PROGRAM)
    return read(program.state if program is not None and program.running else ())


def read(lines: Iterable[str]) -> dict[str, Any]:
    """The state that these lines tell."""
    told = reported(lines)
    main = told.get("main")
    return {
        "running": isinstance(main, dict),
        "done": main["done"] if isinstance(main, dict) and _fits(main.get("done"), int) else 0,
        "refused": told["refused"] if isinstance(told.get("refused"), str) else "",
        "time": _fields(told.get("time"), TIME),
        "bodies": _whole(told.get("bodies"), BODY),
        "observer": _fields(told.get("observer"), OBSERVER),
        "selection": _fields(told.get("selection"), SELECTION),
        "shown": _fields(told.get("shown"), SHOWN),
        "watched": _whole(told.get("watched"), WATCHED),
    }


def state_of(evidence_state: Mapping[str, Any]) -> Mapping[str, Any]:
    """The program's own part of an evidence's state."""
    state: Mapping[str, Any] = evidence_state.get(PROGRAM, {})
    return state


def _fields(told: object, fields: Fields) -> dict[str, Any]:
    """Those of an object's members that are known and of their type."""
    members = told if isinstance(told, dict) else {}
    found = {name: members[name] for name, kind in fields.items() if _fits(members.get(name), kind)}
    return {
        name: value
        for name, value in found.items()
        if name not in _VECTORS or _is_vector(value, _VECTORS[name])
    }


def _whole(told: object, fields: Fields) -> dict[str, dict[str, Any]]:
    """Those of an object's members that have all fields."""
    members = told if isinstance(told, dict) else {}
    found = {str(name): _fields(one, fields) for name, one in members.items()}
    return {name: one for name, one in found.items() if one.keys() == fields.keys()}


def _fits(value: object, kind: type | UnionType) -> bool:
    """Whether a value is of a type, where a truth value is no number, and no number endless."""
    if isinstance(value, bool):
        return kind is bool
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return isinstance(value, kind)


def _is_vector(value: list[Any], size: int) -> bool:
    return len(value) == size and all(_fits(part, _NUMBER) for part in value)
