"""The locations that ScienceBoard's tasks speak of: which are made here, and which a user brings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from sci_gym.scienceboard import CannotError

VARIABLE = "SCI_GYM_GRASSDATA"
START = "world_latlong_wgs84"
EARTH = "natural_earth_dataset"
PIEMONTE = "grassdata_piemonte_utm32n_wgs84_grass7"
MADE: Mapping[str, frozenset[str]] = {
    START: frozenset({"country_boundaries"}),
    EARTH: frozenset({"countries", "natural_earth"}),
}
"""The maps of PERMANENT that `guest/published.py` makes, by location."""
FOUND_AT: Mapping[str, str] = {
    EARTH: "https://zenodo.org/record/3968936/files/natural-earth-dataset.tar.gz",
    PIEMONTE: "http://geodati.fmach.it/gfoss_geodata/libro_gfoss/"
    "grassdata_piemonte_utm32n_wgs84_grass7.tar.gz",
}
"""Where to get what is not made; the addresses are those of GRASS's own dialog for sample data."""
PERMANENT = "PERMANENT"


def hold_map(location: str, name: str) -> None:
    """Refuse a task that needs a map which is not here."""
    folder = brought_locations().get(location)
    if folder is not None:
        there = any((folder / PERMANENT / element / name).exists() for element in ("vector", "cellhd"))
    else:
        there = name in MADE.get(location, frozenset())
    if not there:
        raise CannotError(lacking(f"the map {name!r} of the location {location!r}", location))


def lacking(what: str, location: str) -> str:
    """What is missing of a location, and where it is to be had."""
    known = FOUND_AT.get(location)
    place = f"it is at {known}" if known else "ScienceBoard's image has it"
    return f"needs {what}, which is not here: {place}; unpack it in a folder, and name that in {VARIABLE}."


def brought() -> Path | None:
    """The folder of locations that the user brings."""
    named = os.environ.get(VARIABLE)
    return Path(named).expanduser().resolve() if named else None


def brought_locations() -> dict[str, Path]:
    """The locations in it, by name."""
    folder = brought()
    found = sorted(folder.iterdir()) if folder is not None and folder.is_dir() else ()
    return {one.name: one for one in found if (one / PERMANENT / "DEFAULT_WIND").is_file()}
