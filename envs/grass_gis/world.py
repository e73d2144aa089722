"""The made-up valley that every episode starts with, as plain functions: 100 by 80 cells of 50 m.

Both sides load this file: the guest makes GRASS's maps of it (`guest/start.py`), and predicates compute what
a map must hold. So it imports nothing but the standard library.
"""

from __future__ import annotations

import math

ROWS, COLUMNS, CELL_M = 80, 100, 50.0
WEST, SOUTH = 600_000.0, 5_000_000.0
EAST, NORTH = WEST + COLUMNS * CELL_M, SOUTH + ROWS * CELL_M
MAPSET = "work"
LOCATION = "valley"
WINDOW = f"""proj:       1
zone:       33
north:      {NORTH:.0f}
south:      {SOUTH:.0f}
east:       {EAST:.0f}
west:       {WEST:.0f}
cols:       {COLUMNS}
rows:       {ROWS}
e-w resol:  {CELL_M:.0f}
n-s resol:  {CELL_M:.0f}
top:        1.000000000000000
bottom:     0.000000000000000
cols3:      {COLUMNS}
rows3:      {ROWS}
depths:     1
e-w resol3: {CELL_M:.0f}
n-s resol3: {CELL_M:.0f}
t-b resol:  1
"""
"""The region of the whole valley, as GRASS writes it down."""
LOCATION_FILES = {
    "DEFAULT_WIND": WINDOW,
    "MYNAME": "The valley\n",
    "PROJ_INFO": "name: UTM Zone 33N (WGS84)\ndatum: wgs84\nellps: wgs84\n"
    "proj: utm\nzone: 33\nno_defs: defined\n",
    "PROJ_UNITS": "unit: meter\nunits: meters\nmeters: 1\n",
}
"""What makes a mapset PERMANENT that of a location; its WIND is `WINDOW`, too."""
LAND_USE = {1: "forest", 2: "meadow", 3: "field", 4: "village", 5: "water"}

WELLS = (
    # cat, easting, northing, name, depth in m, yield in l/s
    (1, 600_525.0, 5_003_475.0, "Alder", 42, 3.5),
    (2, 601_275.0, 5_002_825.0, "Birch", 18, 1.2),
    (3, 602_625.0, 5_003_225.0, "Cedar", 65, 7.8),
    (4, 603_775.0, 5_002_475.0, "Elm", 27, 2.4),
    (5, 604_425.0, 5_003_675.0, "Fir", 88, 9.1),
    (6, 600_875.0, 5_001_225.0, "Hazel", 33, 4.6),
    (7, 602_125.0, 5_000_775.0, "Juniper", 51, 5.3),
    (8, 603_325.0, 5_001_425.0, "Larch", 12, 0.9),
    (9, 604_675.0, 5_000_525.0, "Maple", 74, 6.7),
)
PARCELS = (
    # cat, west, south, east, north, owner, crop
    (1, 600_400.0, 5_000_400.0, 601_400.0, 5_001_600.0, "Novak", "wheat"),
    (2, 601_400.0, 5_000_400.0, 602_800.0, 5_001_600.0, "Weber", "barley"),
    (3, 602_800.0, 5_000_400.0, 604_200.0, 5_001_600.0, "Rossi", "maize"),
    (4, 600_400.0, 5_001_600.0, 602_000.0, 5_002_600.0, "Horvat", "wheat"),
    (5, 602_000.0, 5_001_600.0, 603_200.0, 5_002_600.0, "Novak", "clover"),
    (6, 603_200.0, 5_001_600.0, 604_200.0, 5_002_600.0, "Weber", "maize"),
)
ROADS = (
    # cat, name, points
    (1, "Valley Road", ((600_000.0, 5_001_900.0), (602_300.0, 5_002_150.0), (605_000.0, 5_001_700.0))),
    (2, "Mill Lane", ((602_300.0, 5_002_150.0), (602_500.0, 5_003_300.0), (603_000.0, 5_004_000.0))),
    (3, "Ridge Track", ((601_000.0, 5_000_000.0), (601_300.0, 5_000_900.0), (602_300.0, 5_002_150.0))),
)


def center(row: int, column: int) -> tuple[float, float]:
    """Easting and northing of a cell's middle, in m; row 0 is the northernmost."""
    return WEST + (column + 0.5) * CELL_M, NORTH - (row + 0.5) * CELL_M


def elevation(row: int, column: int) -> float:
    """Height in m, to the centimetre: a valley that falls to the east, between two ridges."""
    x, y = column / COLUMNS, row / ROWS
    bed = 0.55 + 0.08 * math.sin(5.0 * x)
    height = 320.0 - 90.0 * x + 420.0 * (y - bed) ** 2
    height += 14.0 * math.sin(9.0 * x) * math.cos(7.0 * y) + 4.0 * math.sin(31.0 * x + 17.0 * y)
    return round(height, 2)


def rain(row: int, column: int) -> int:
    """Rain of a year in mm."""
    return round(620 + 1.5 * row + 90 * math.sin(column / 17.0))


def land_use(row: int, column: int) -> int:
    """A key of `LAND_USE`."""
    height = elevation(row, column)
    if height < 258:
        return 5
    if height > 345:
        return 1
    if (row // 10 + column // 12) % 5 == 2:
        return 4 if 30 <= row < 60 else 2
    return 3 if (row // 8 + column // 15) % 2 else 2


def grid(value: object) -> str:
    """The text that r.in.ascii reads, of a function of row and column."""
    head = f"north: {NORTH}\nsouth: {SOUTH}\neast: {EAST}\nwest: {WEST}\nrows: {ROWS}\ncols: {COLUMNS}\n"
    assert callable(value)
    rows = (" ".join(str(value(row, column)) for column in range(COLUMNS)) for row in range(ROWS))
    return head + "\n".join(rows) + "\n"
