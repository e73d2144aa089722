"""Reads maps and files from a state: arrays, points, tables; what is not as it should be gives None."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from sci_gym.envs.grass_gis import world
from sci_gym.envs.grass_gis.reference import Grid
from sci_gym.specs import Evidence

_SIDES = {"n": world.NORTH, "s": world.SOUTH, "e": world.EAST, "w": world.WEST}
_EDGE_M = 1e-3


def state_of(evidence: Evidence) -> Mapping[str, Any]:
    """GRASS's state; empty when there is none."""
    return evidence.state.get("grass_gis", {})


def raster(evidence: Evidence, name: str) -> Grid | None:
    """The values of a map that covers the whole valley, cell for cell."""
    found = state_of(evidence).get("rasters", {}).get(name)
    if not isinstance(found, dict) or not _is_whole(found.get("region")):
        return None
    return grid_of(found.get("values"))


def grid_of(rows: object) -> Grid | None:
    """Rows of numbers, None for no data, as an array of the valley's shape."""
    try:
        grid = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    return grid if grid.shape == (world.ROWS, world.COLUMNS) else None


def points(evidence: Evidence, name: str) -> list[tuple[float, float]] | None:
    """Places of a vector map's points; None unless it is a map of points alone."""
    found = state_of(evidence).get("vectors", {}).get(name)
    text = found.get("shapes") if isinstance(found, dict) else None
    if not isinstance(text, str):
        return None
    lines = [line.split() for line in text.splitlines() if line.strip()]
    places = []
    at = 0
    while at < len(lines):
        try:
            kind, count, layers = lines[at][0], int(lines[at][1]), int((*lines[at][2:], "0")[0])
            if kind != "P" or count != 1:
                return None
            places.append((float(lines[at + 1][0]), float(lines[at + 1][1])))
        except (IndexError, ValueError):
            return None
        at += 1 + count + max(layers, 0)
    return places


def table(evidence: Evidence, name: str) -> list[Mapping[str, Any]]:
    """The rows of a vector map's table."""
    found = state_of(evidence).get("vectors", {}).get(name)
    rows = found.get("table") if isinstance(found, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def ascii_grid(data: bytes | None) -> Grid | None:
    """A grid in the text format of r.out.ascii, or in that of ESRI."""
    lines = (data or b"").decode("utf-8", "replace").splitlines()
    rows = [line.split() for line in lines if line.strip() and not line.lstrip()[0].isalpha()]
    try:
        return grid_of([[None if cell == "*" else float(cell) for cell in row] for row in rows])
    except ValueError:
        return None


def same_places(given: Iterable[tuple[float, float]], wanted: Iterable[tuple[float, float]]) -> bool:
    """Whether two lists hold the same places, to the decimetre."""
    rounded = [sorted((round(x, 1), round(y, 1)) for x, y in places) for places in (given, wanted)]
    return rounded[0] == rounded[1]


def near(given: object, wanted: float, tolerance: float) -> bool:
    """Whether something is a number close to another."""
    try:
        return math.isclose(float(given), wanted, rel_tol=0, abs_tol=tolerance)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def _is_whole(region: object) -> bool:
    return isinstance(region, dict) and all(
        near(region.get(side), at, _EDGE_M) for side, at in _SIDES.items()
    )
