"""Lays out the data that ScienceBoard's tasks speak of, and becomes GRASS's stock graphical interface on it.

Runs in the guest, where `scienceboard` makes the module `session` known to it. Its one argument, "" for none,
is a folder with locations that a user brings; they come before those that are made here of GRASS's own demo
location, which has the countries of Natural Earth 1:110m.
"""

import pathlib
import shutil
import sys

from session import DATABASE, GISBASE, begin, enter, grass, show

WORLD, EARTH = "world_latlong_wgs84", "natural_earth_dataset"
# Their manual: "randomly add two points (one in the Mediterranean Sea)"; a task tells where the other one is.
POINTS = {256: (18.0, 35.0), 257: (-79.1050308691105, 8.348947891274)}


def made(name: str) -> None:
    """A location like the demo location."""
    shutil.copytree(f"{GISBASE}/demolocation", DATABASE / name)


def make_earth() -> None:
    """The countries, two points among them, and a raster of the land."""
    made(EARTH)
    enter(EARTH, "PERMANENT")
    grass("g.copy", "vector=country_boundaries,countries")
    grass("g.remove", "-f", "type=vector", "name=country_boundaries")
    grass("v.to.rast", "input=countries", "type=area", "output=natural_earth", "use=val", "value=1")
    points = "".join(f"P 1 1\n {x} {y}\n 1 {cat}\n" for cat, (x, y) in POINTS.items())
    grass("v.edit", "-n", "map=countries", "tool=add", "input=-", text=points)


def main(brought: str) -> None:
    """Lay out the locations, and become the interface."""
    begin()
    for folder in sorted(pathlib.Path(brought).iterdir()) if brought else ():
        if (folder / "PERMANENT").is_dir():
            shutil.copytree(folder, DATABASE / folder.name)
    if not (DATABASE / EARTH).exists():
        make_earth()
    if not (DATABASE / WORLD).exists():
        made(WORLD)
    enter(WORLD, "PERMANENT")
    show()


main(sys.argv.pop(1))
