"""What GRASS has stored, by its own commands, run where the policy's code cannot reach (`guest/look.py`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sci_gym.app import json_object
from sci_gym.envs.grass_gis.world import LOCATION, MAPSET
from sci_gym.errors import ConfigurationError
from sci_gym.specs import Inspected, Inspection

_SCRIPT = Path(__file__).with_name("guest") / "look.py"
_WORK = f"grassdata/{LOCATION}/{MAPSET}"
_ELEMENTS = ("cell", "fcell", "cellhd", "cats", "colr", "colr2/PERMANENT", "cell_misc")
_MAX_OUTPUT_BYTES = 2**20
_PREFIX = "grass_gis"


def raster(*, map: str) -> Inspection:
    """A raster map's values, colours and labels: `read_state`'s `rasters[map]`."""
    _check(map)
    return _look("raster", map, tuple(f"{_WORK}/{element}/{map}" for element in _ELEMENTS))


def vector(*, map: str) -> Inspection:
    """A vector map's shapes and table: `read_state`'s `vectors[map]`."""
    _check(map)
    return _look("vector", map, (f"{_WORK}/vector/{map}", f"{_WORK}/sqlite/sqlite.db"))


def mapset() -> Inspection:
    """Which maps there are, and the computational region: `read_state`'s `mapset`."""
    return _look("mapset", "", (f"{_WORK}/cellhd", f"{_WORK}/vector", f"{_WORK}/WIND"))


INSPECTIONS: Mapping[str, Callable[..., Inspection]] = {
    maker.__name__: maker for maker in (raster, vector, mapset)
}
"""By name, as task files call them."""


def inspected(found: Mapping[str, Inspected]) -> dict[str, dict[str, Any]]:
    """What inspections found, by kind and name of the map; what failed or is no JSON is left out."""
    kinds: dict[str, dict[str, Any]] = {"raster": {}, "vector": {}, "mapset": {}, "command": {}}
    for name, one in found.items():
        prefix, _, rest = name.partition(".")
        kind, _, map = rest.partition(" ")
        value = json_object(one.stdout) if one.whole and prefix == _PREFIX and kind in kinds else None
        if value:
            kinds[kind][map] = value["printed"] if kind == "command" and "printed" in value else value
    return kinds


def _look(kind: str, name: str, watches: tuple[str, ...]) -> Inspection:
    return Inspection(
        name=f"{_PREFIX}.{kind} {name}".rstrip(),
        argv=("/usr/bin/python3", "-I", "-", kind, *filter(None, (name,))),
        stdin=_SCRIPT.read_bytes(),
        watches=watches,
        max_output_bytes=_MAX_OUTPUT_BYTES,
    )


def _check(map: str) -> None:
    if not map.isidentifier():
        raise ConfigurationError(f"map: {map!r} is no map's name: letters, digits and '_' only")
