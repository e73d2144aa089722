"""What maps of the valley must hold, computed here on the host from `world`; arrays are `[ROWS, COLUMNS]`."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from sci_gym.envs.grass_gis import world
from sci_gym.errors import UnknownNameError

Grid = npt.NDArray[np.float64]
"""float64 `[ROWS, COLUMNS]`, rows from the north, NaN where there is no data."""

MAPS: dict[str, Callable[[int, int], float]] = {
    "elevation": world.elevation,
    "rain": world.rain,
    "landuse": world.land_use,
}
"""Rasters that the valley comes with, all in the mapset PERMANENT."""


@functools.cache
def known(name: str) -> Grid:
    """A map that the valley comes with; do not change it."""
    if name not in MAPS:
        raise UnknownNameError("map", name, MAPS)
    values = [[MAPS[name](row, column) for column in range(world.COLUMNS)] for row in range(world.ROWS)]
    grid = np.array(values, dtype=np.float64)
    grid.setflags(write=False)
    return grid


@functools.cache
def slope() -> Grid:
    """Steepness of the ground in degrees (Horn 1981), NaN at the border, as r.slope.aspect gives it."""
    height = known("elevation")
    north, south = height[:-2], height[2:]
    east = (north[:, 2:] + 2 * height[1:-1, 2:] + south[:, 2:]) / 4
    west = (north[:, :-2] + 2 * height[1:-1, :-2] + south[:, :-2]) / 4
    upper = (north[:, :-2] + 2 * north[:, 1:-1] + north[:, 2:]) / 4
    lower = (south[:, :-2] + 2 * south[:, 1:-1] + south[:, 2:]) / 4
    rise = np.hypot((east - west) / (2 * world.CELL_M), (upper - lower) / (2 * world.CELL_M))
    return np.pad(np.degrees(np.arctan(rise)), 1, constant_values=np.nan)


def smoothed(name: str, size: int) -> Grid:
    """The mean over a square window of `size` cells a side, of those cells that lie in the region."""
    grid, reach = known(name), size // 2
    padded = np.pad(grid, reach, constant_values=np.nan)
    views = np.lib.stride_tricks.sliding_window_view(padded, (size, size))
    mean: Grid = np.nanmean(views, axis=(2, 3))
    return mean


def lake(easting: float, northing: float, level: float) -> Grid:
    """Depth of the water that stands at `level` m and is joined to a place; NaN elsewhere."""
    height = known("elevation")
    depth = np.full(height.shape, np.nan)
    row = int((world.NORTH - northing) / world.CELL_M)
    column = int((easting - world.WEST) / world.CELL_M)
    waiting = deque([(row, column)])
    while waiting:
        row, column = waiting.popleft()
        inside = 0 <= row < world.ROWS and 0 <= column < world.COLUMNS
        if not inside or not np.isnan(depth[row, column]) or height[row, column] >= level:
            continue
        depth[row, column] = level - height[row, column]
        waiting += [(row + down, column + right) for down in (-1, 0, 1) for right in (-1, 0, 1)]
    return depth
