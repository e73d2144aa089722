"""What a task can ask of GRASS: named conditions on the state that `GrassGis.read_state` gives.

Maps are compared by what they hold, cell by cell or point by point, with what `reference` computes on the
host; how they came about does not matter. No condition holds of a program that is gone, nor of a map that was
not inspected: name it under `[[inspect]]`. Lists are texts with commas.

Raises, all of them: `UnknownNameError` (a `ConfigurationError`) when the valley has no map of a given name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from sci_gym.envs.grass_gis import colors, reading, reference, world
from sci_gym.envs.grass_gis.reading import near, state_of
from sci_gym.envs.grass_gis.reference import Grid
from sci_gym.evaluation import GENERIC_PREDICATES
from sci_gym.specs import Evidence

_CELL = 1e-3
_DISPLAY_M = 50.0
_answers = GENERIC_PREDICATES["answer_number"]


def layers(evidence: Evidence, *, names: str) -> bool:
    """The first map display has these layers and no others, from the top down, all visible and opaque."""
    shown = _layers(evidence)
    if [one["name"] for one in shown] != [_full(name) for name in _items(names)]:
        return False
    return all(one["visible"] and one["opacity"] == 1 for one in shown)


def layer(
    evidence: Evidence, *, name: str, visible: bool | None = None, opacity: float | None = None
) -> bool:
    """The first map display has one layer of a map, of the valley's or of "work"; None is any."""
    found = [one for one in _layers(evidence) if one["name"] == _full(name)]
    if len(found) != 1 or (visible is not None and found[0]["visible"] is not visible):
        return False
    return opacity is None or near(found[0]["opacity"], opacity, 0.005)


def legend(evidence: Evidence, *, raster: str) -> bool:
    """A legend of a raster map is drawn over a map display."""
    for display in state_of(evidence).get("displays", []):
        for one in display["elements"]:
            given = dict(word.partition("=")[::2] for word in one["command"])
            named = given.get("raster") in (raster, _full(raster))
            if one["visible"] and one["name"] == "legend" and named:
                return True
    return False


def status_bar(evidence: Evidence, *, equals: str) -> bool:
    """The first map display's status bar shows something, such as "Map scale"."""
    displays = state_of(evidence).get("displays", [])
    return bool(displays) and bool(displays[0]["status_bar"] == equals)


def scale(evidence: Evidence, *, denominator: float) -> bool:
    """The first map display is drawn at 1 to `denominator`, within 1 %."""
    displays = state_of(evidence).get("displays", [])
    return bool(displays) and near(displays[0]["scale"], denominator, denominator / 100)


def display_shows(evidence: Evidence, *, north: float, south: float, east: float, west: float) -> bool:
    """The first map display shows these bounds, in m, and no more than its shape makes it."""
    displays = state_of(evidence).get("displays", [])
    if not displays or not displays[0]["region"]:
        return False
    shown: Mapping[str, float] = displays[0]["region"]
    higher, wider = shown["n"] - shown["s"] - (north - south), shown["e"] - shown["w"] - (east - west)
    inside = shown["n"] - north, south - shown["s"], shown["e"] - east, west - shown["w"]
    snug = higher < 2 * _DISPLAY_M or wider < 2 * _DISPLAY_M
    return snug and all(one > -_DISPLAY_M for one in inside)


def session(evidence: Evidence, *, location: str = world.LOCATION, mapset: str = world.MAPSET) -> bool:
    """GRASS works in a mapset of a location."""
    return bool(state_of(evidence).get("session") == f"{location}/{mapset}")


def windows(evidence: Evidence, *, count: int) -> bool:
    """So many dialogs and tools are open beside the main window."""
    state = state_of(evidence)
    return bool(state.get("running")) and len(state.get("windows", [])) == count


def tools_ready(evidence: Evidence) -> bool:
    """No tool reads about its maps any more, so that what is typed into it stays."""
    state = state_of(evidence)
    return bool(state.get("running")) and not state.get("busy")


def histogram(evidence: Evidence, *, map: str) -> bool:
    """The histogram tool is open and shows a map, and no other."""
    shown = [one["maps"] for one in state_of(evidence).get("plots", []) if one["tool"] == "Histogram Tool"]
    return [_full(map)] in shown


def region(
    evidence: Evidence,
    *,
    north: float | None = None,
    south: float | None = None,
    east: float | None = None,
    west: float | None = None,
    resolution: float | None = None,
) -> bool:
    """The computational region, in m; None is any. It is a mapset's own, whatever display shows."""
    wind = (state_of(evidence).get("mapset") or {}).get("region", {})
    wanted = {"north": north, "south": south, "east": east, "west": west}
    wanted |= {"e-w resol": resolution, "n-s resol": resolution}
    return bool(wind) and all(near(wind.get(key), at, 1e-3) for key, at in wanted.items() if at is not None)


def raster_sum(
    evidence: Evidence, *, map: str, of: str, factor: float, other: str = "", other_factor: float = 0.0,
    offset: float = 0.0,
) -> bool:  # fmt: skip
    """A map is `factor` times a map of the valley, plus `other_factor` times another, plus `offset`."""
    wanted = factor * reference.known(of) + offset
    return _same(evidence, map, wanted + other_factor * reference.known(other) if other else wanted)


def raster_detail(evidence: Evidence, *, map: str, of: str, size: int) -> bool:
    """A map is a map of the valley less its mean over squares of `size` cells a side."""
    return _same(evidence, map, reference.known(of) - reference.smoothed(of, size))


def raster_above(evidence: Evidence, *, map: str, of: str, limit: float) -> bool:
    """A map is 1 where a map of the valley is above `limit`, and 0 or no data elsewhere."""
    grid = reading.raster(evidence, map)
    return grid is not None and bool(np.array_equal(np.nan_to_num(grid), reference.known(of) > limit))


def raster_class(evidence: Evidence, *, map: str, category: int) -> bool:
    """A map has data where the land use is of a category, and no data, or 0, elsewhere."""
    grid = reading.raster(evidence, map)
    inside = reference.known("landuse") == category
    return grid is not None and bool(np.array_equal(np.nan_to_num(grid) != 0, inside))


def raster_slope(evidence: Evidence, *, map: str, percent: bool = False) -> bool:
    """A map is the steepness of the ground, in degrees or in percent."""
    slope = reference.slope()
    return _same(evidence, map, 100 * np.tan(np.radians(slope)) if percent else slope)


def raster_steep(evidence: Evidence, *, map: str, limit: float) -> bool:
    """A map is 1 where the ground is steeper than `limit` degrees, and 0 or no data elsewhere."""
    grid = reading.raster(evidence, map)
    steep = np.nan_to_num(reference.slope()) > limit
    return grid is not None and bool(np.array_equal(np.nan_to_num(grid), steep))


def raster_steep_class(evidence: Evidence, *, map: str, limit: float, category: int) -> bool:
    """A map is 1 where ground of a land use is steeper than `limit` degrees, 0 or no data elsewhere."""
    grid = reading.raster(evidence, map)
    steep = np.nan_to_num(reference.slope()) > limit
    inside = steep & (reference.known("landuse") == category)
    return grid is not None and bool(np.array_equal(np.nan_to_num(grid), inside))


def raster_smoothed(evidence: Evidence, *, map: str, of: str, size: int) -> bool:
    """A map is the mean of a map of the valley over squares of `size` cells a side."""
    return _same(evidence, map, reference.smoothed(of, size))


def raster_lake(evidence: Evidence, *, map: str, east: float, north: float, level: float) -> bool:
    """A map is the depth of a lake that is filled to `level` m from a place."""
    return _same(evidence, map, reference.lake(east, north, level))


def lake_answered(evidence: Evidence, *, east: float, north: float, level: float) -> bool:
    """The answer is the area of such a lake in hectares, within a quarter of a hectare."""
    cells = int(np.count_nonzero(~np.isnan(reference.lake(east, north, level))))
    hectares = cells * world.CELL_M**2 / 1e4
    return _answers(evidence, value=hectares, tolerance_rel=0, tolerance_abs=0.25)


def raster_colors(evidence: Evidence, *, map: str, table: str) -> bool:
    """A map is drawn in one of GRASS's colour tables."""
    rules = (state_of(evidence).get("rasters", {}).get(map) or {}).get("colors", [])
    return colors.follows(rules, table)


def wells(evidence: Evidence, *, map: str, names: str = "", without: str = "") -> bool:
    """A map holds the points of these wells, or of all but those without, and nothing else."""
    chosen = [one for one in world.WELLS if one[3] in _items(names)] if names else list(world.WELLS)
    chosen = [one for one in chosen if one[3] not in _items(without)]
    found = reading.points(evidence, map)
    return found is not None and reading.same_places(found, [(one[1], one[2]) for one in chosen])


def attribute(evidence: Evidence, *, map: str, key: str, is_: str, column: str, equals: str | float) -> bool:
    """In a vector map's table, the row whose column `key` is `is_` has a value in another column."""
    rows = [row for row in reading.table(evidence, map) if str(row.get(key)) == is_]
    if len(rows) != 1 or column not in rows[0]:
        return False
    value = rows[0][column]
    return value == equals if isinstance(equals, str) else near(value, equals, 1e-6)


def other_wells_kept(evidence: Evidence, *, but: str, map: str = "wells") -> bool:
    """The table of the map of wells, or of a copy of it, is as it was, but for one well."""
    given = {row.get("name"): (row.get("depth"), row.get("yield")) for row in reading.table(evidence, map)}
    return all(given.get(one[3]) == (one[4], one[5]) for one in world.WELLS if one[3] != but)


def exported_grid(evidence: Evidence, *, path: str, of: str, factor: float = 1.0) -> bool:
    """A file holds `factor` times a map of the valley as an ASCII grid; it must be named under `files`."""
    grid = reading.ascii_grid(evidence.files.get(path))
    return grid is not None and _close(grid, factor * reference.known(of), 0.02)


PREDICATES: Mapping[str, Callable[..., bool]] = {
    check.__name__: check
    for check in (
        layers, layer, legend, status_bar, scale, display_shows, session, windows, tools_ready,
        histogram, region,
        raster_sum, raster_detail, raster_above, raster_class, raster_slope, raster_steep, raster_steep_class,
        raster_smoothed, raster_lake, lake_answered, raster_colors, wells, attribute, other_wells_kept,
        exported_grid,
    )
}  # fmt: skip
"""By name, as task files call them after `grass_gis.`."""


def _items(names: str) -> list[str]:
    return [one.strip() for one in names.split(",") if one.strip()]


def _full(name: str) -> str:
    """A map with its mapset, the valley's or else "work": one of the same name elsewhere is another map."""
    mapset = "PERMANENT" if name in reference.MAPS else world.MAPSET
    return f"{name}@{mapset}"


def _layers(evidence: Evidence) -> list[Mapping[str, object]]:
    displays = state_of(evidence).get("displays", [])
    return list(displays[0]["layers"]) if displays else []


def _same(evidence: Evidence, name: str, wanted: Grid) -> bool:
    grid = reading.raster(evidence, name)
    return grid is not None and _close(grid, wanted, _CELL)


def _close(grid: Grid, wanted: Grid, tolerance: float) -> bool:
    return bool(np.allclose(grid, wanted, rtol=1e-5, atol=tolerance, equal_nan=True))
