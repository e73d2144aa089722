"""Makes the valley's maps with GRASS's own commands, and becomes GRASS's stock graphical interface on them.

Runs in the guest, where `app` makes the modules `world` and `session` known to it.
"""

import itertools

from session import DATABASE, begin, enter, grass, show
from world import (
    LAND_USE, LOCATION, LOCATION_FILES, MAPSET, PARCELS, ROADS, WELLS, WINDOW, elevation, grid, land_use,
    rain,
)  # fmt: skip


def lay_out() -> None:
    """Make the location by hand, as g.proj would."""
    for mapset in ("PERMANENT", MAPSET):
        folder = DATABASE / LOCATION / mapset
        folder.mkdir(parents=True)
        (folder / "WIND").write_text(WINDOW)
        (folder / "VAR").write_text(
            "DB_DRIVER: sqlite\nDB_DATABASE: $GISDBASE/$LOCATION_NAME/$MAPSET/sqlite/sqlite.db\n"
        )
    for name, text in LOCATION_FILES.items():
        (DATABASE / LOCATION / "PERMANENT" / name).write_text(text)


def make_rasters() -> None:
    """The maps of PERMANENT."""
    grass("r.in.ascii", "input=-", "output=elevation", "type=DCELL", text=grid(elevation))
    grass("r.in.ascii", "input=-", "output=rain", "type=CELL", text=grid(rain))
    grass("r.in.ascii", "input=-", "output=landuse", "type=CELL", text=grid(land_use))
    labels = "".join(f"{number}|{name}\n" for number, name in LAND_USE.items())
    grass("r.category", "map=landuse", "separator=pipe", "rules=-", text=labels)
    grass("r.colors", "map=elevation", "color=elevation")


def make_vectors() -> None:
    """The maps of the mapset that is worked in, with their tables."""
    wells = "".join("|".join(map(str, well[1:3] + well[:1] + well[3:])) + "\n" for well in WELLS)
    columns = (
        "x double precision, y double precision, cat int, name varchar(20), depth int, yield double precision"
    )
    grass("v.in.ascii", "input=-", "output=wells", "cat=3", f"columns={columns}", text=wells)
    lines = "".join(
        f"L {len(points)} 1\n" + "".join(f" {x} {y}\n" for x, y in points) + f" 1 {cat}\n"
        for cat, _, points in ROADS
    )
    grass("v.in.ascii", "-n", "format=standard", "input=-", "output=roads", text=lines)
    add_table("roads", ("name",), [(cat, name) for cat, name, _ in ROADS])
    grass("v.in.ascii", "-n", "format=standard", "input=-", "output=parcels", text=parcel_lines())
    add_table("parcels", ("owner", "crop"), [(one[0], one[5], one[6]) for one in PARCELS])


def parcel_lines() -> str:
    """Boundaries and centroids of the parcels, in the standard format; shared boundaries come once."""
    corners = {corner for one in PARCELS for corner in corners_of(one)}
    edges = set()
    for one in PARCELS:
        ring = corners_of(one)
        for start, end in zip(ring, [*ring[1:], ring[0]]):
            between = sorted(point for point in corners if lies_on(point, start, end))
            edges.update(itertools.pairwise(between))
    text = "".join(f"B 2\n {x} {y}\n {u} {v}\n" for (x, y), (u, v) in sorted(edges))
    for cat, west, south, east, north, _, _ in PARCELS:
        text += f"C 1 1\n {(west + east) / 2} {(south + north) / 2}\n 1 {cat}\n"
    return text


def corners_of(parcel: tuple) -> list:
    """The corners of a parcel, around it."""
    _, west, south, east, north, _, _ = parcel
    return [(west, south), (west, north), (east, north), (east, south)]


def lies_on(point: tuple, start: tuple, end: tuple) -> bool:
    """Whether a point is on an edge that runs north or east."""
    inside = [min(a, b) <= c <= max(a, b) for a, b, c in zip(start, end, point)]
    return all(inside)


def add_table(name: str, columns: tuple, rows: list) -> None:
    """Give a vector map a table of its own."""
    listed = ", ".join(f"{column} varchar(20)" for column in columns)
    sql = f"CREATE TABLE {name} (cat integer, {listed});\n"
    sql += "".join(f"INSERT INTO {name} VALUES ({', '.join(map(repr, row))});\n" for row in rows)
    sql += f"CREATE UNIQUE INDEX {name}_cat ON {name} (cat);\n"
    grass("db.execute", "input=-", text=sql)
    database = "$GISDBASE/$LOCATION_NAME/$MAPSET/sqlite/sqlite.db"
    grass("v.db.connect", f"map={name}", "driver=sqlite", f"database={database}", f"table={name}", "key=cat")


def main() -> None:
    """Make the world once, and become the interface."""
    begin()
    lay_out()
    enter(LOCATION, "PERMANENT")
    make_rasters()
    enter(LOCATION, MAPSET)
    make_vectors()
    show()


main()
