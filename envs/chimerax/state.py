"""Reads ChimeraX's state from what `guest/state.py` reports; total."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Any

from sci_gym.app import reported
from sci_gym.specs import Observation

PROGRAM = "chimerax"
Fields = Mapping[str, type | UnionType]
_NUMBER = int | float
ATOM: Fields = {
    "name": str, "element": str, "residue": int, "at": list, "shown": bool, "style": int, "color": str,
    "selected": bool,
}  # fmt: skip
RESIDUE: Fields = {
    "chain": str, "number": int, "name": str, "cartoon": bool, "color": str, "ss": int, "polymer": int,
}  # fmt: skip
BOND: Fields = {"first": list, "second": list, "length": _NUMBER, "color": str, "shown": bool}
LABEL: Fields = {"model": str, "chain": str, "number": int, "atom": str, "text": str, "visible": bool}
SEQUENCE: Fields = {"name": str, "characters": str, "chains": list}
_TABLES: Mapping[str, Fields] = {"residues": RESIDUE, "bonds": BOND, "labels": LABEL}
_FIELDS: Fields = {
    "name": str, "kind": str, "shown": bool, "selected": bool, "color": str, "place": list, "chains": dict,
    "dashes": int, "text": str, "at": list, "size": _NUMBER, "encloses": dict, "shows": dict, "style": str,
    "colors": dict,
}  # fmt: skip


def observed(observation: Observation) -> dict[str, Any]:
    """The state as plain data; `ChimeraX.read_state` documents the keys."""
    program = observation.program(PROGRAM)
    return read(program.state if program is not None and program.running else ())


def read(lines: Iterable[str]) -> dict[str, Any]:
    """The state that these lines tell."""
    told = reported(lines)
    head = told.get("main")
    main: Mapping[str, Any] = head if isinstance(head, dict) else {}
    return {
        "running": bool(main),
        "interface": str(main.get("interface", "")),
        "models": _models(told, main),
        "view": told["view"] if isinstance(told.get("view"), dict) else {},
        "tools": [one for one in _listed(told.get("tools")) if isinstance(one, dict)],
        "dump": _dump(told),
        "alignments": [_alignment(one) for one in _listed(told.get("alignments")) if isinstance(one, dict)],
    }


def _dump(told: Mapping[str, Any]) -> dict[str, Any]:
    """Values of the session by their paths in it, and the selected atoms; empty where they are not told."""
    parts = [told.get(f"dump model {place}") for place in range(_count(told.get("dump models")))]
    found: dict[str, Any] = {}
    for part in (*parts, told.get("dump log")):
        found |= part if isinstance(part, dict) else {}
    return {**found, "selected": told["dump selected"]} if "dump selected" in told else {}


def _models(told: Mapping[str, Any], main: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By id; lines of models that are closed stay behind, so that only those listed count."""
    parts = (told.get(f"models {part}") for part in range(_count(main.get("parts"))))
    listed = [one for part in parts for one in _listed(part) if isinstance(one, dict)]
    return {str(one.get("id", "")): _model(one, told) for one in listed}


def _model(one: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    model = {name: one[name] for name, kind in _FIELDS.items() if isinstance(one.get(name), kind)}
    for name, fields in _TABLES.items():
        if name in one:
            model[name] = _rows(one[name], fields)
    if "residues" in model:
        lines = (told.get(f"atoms {one.get('id')} {part}") for part in range(_count(one.get("parts"))))
        rows = [row for line in lines for row in _listed(line)]
        model["atoms"] = [atom for atom in _rows(rows, ATOM) if _is_atom(atom, len(model["residues"]))]
    return model


def _is_atom(atom: Mapping[str, Any], residues: int) -> bool:
    place = atom["at"]
    located = isinstance(place, list) and len(place) == 3 and all(isinstance(x, int | float) for x in place)
    return located and isinstance(atom["residue"], int) and 0 <= atom["residue"] < residues


def _rows(told: object, fields: Fields) -> list[dict[str, Any]]:
    rows = (row for row in _listed(told) if isinstance(row, list) and len(row) == len(fields))
    return [dict(zip(fields, row, strict=True)) for row in rows if _fits(row, fields)]


def _fits(row: list[Any], fields: Fields) -> bool:
    return all(isinstance(value, kind) for value, kind in zip(row, fields.values(), strict=True))


def _alignment(one: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": str(one.get("name", "")), "sequences": _rows(one.get("sequences"), SEQUENCE)}


def _listed(told: object) -> list[Any]:
    return told if isinstance(told, list) else []


def _count(told: object) -> int:
    return told if isinstance(told, int) and 0 <= told <= 1000 else 0


def state_of(evidence_state: Mapping[str, Any]) -> Mapping[str, Any]:
    """The program's own part of an evidence's state."""
    state: Mapping[str, Any] = evidence_state.get(PROGRAM, {})
    return state
