"""Prints what GRASS has stored, as one JSON object, by GRASS's own commands.

Runs as an inspection: the database is read only, and this is a session of its own in a mapset of its own,
whose location is made of links to the mapsets as they are.

Usage: look.py raster NAME, look.py vector NAME, or look.py mapset.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

GISBASE = "/usr/lib/grass82"
LOCATION = Path("/home/user/grassdata/valley")
HERE = Path("/tmp/db/valley")
MAX_CELLS = 40_000
MAX_MAPS = 200


def enter():
    """Make the session."""
    (HERE / "look").mkdir(parents=True)
    for mapset in ("PERMANENT", "work"):
        (HERE / mapset).symlink_to(LOCATION / mapset)
    window = (LOCATION / "PERMANENT" / "DEFAULT_WIND").read_text()
    (HERE / "look" / "WIND").write_text(window)
    (HERE / "look" / "SEARCH_PATH").write_text("look\nwork\nPERMANENT\n")
    (HERE / "look" / "colr2").symlink_to(LOCATION / "work" / "colr2")
    Path("/tmp/gisrc").write_text("GISDBASE: /tmp/db\nLOCATION_NAME: valley\nMAPSET: look\n")
    os.environ.update(
        GISBASE=GISBASE,
        GISRC="/tmp/gisrc",
        LD_LIBRARY_PATH=f"{GISBASE}/lib",
        PATH=f"{GISBASE}/bin:{GISBASE}/scripts:/usr/bin:/bin",
        LC_NUMERIC="C",
    )


def grass(*command):
    """What a command prints; None when it fails."""
    done = subprocess.run(command, capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def pairs(text):
    """The lines `key=value` of a text."""
    return dict(line.partition("=")[::2] for line in (text or "").splitlines() if "=" in line)


def raster(name):
    """A raster map on its own grid: region, kind of cells, values by row from the north, colours, labels."""
    info = pairs(grass("r.info", "-g", f"map={name}"))
    if not info or int(info["cells"]) > MAX_CELLS:
        return None
    sides = {
        side: info[long] for side, long in (("n", "north"), ("s", "south"), ("e", "east"), ("w", "west"))
    }
    window = (HERE / "look" / "WIND").read_text().splitlines()
    known = {line.partition(":")[0]: line.partition(":")[2].strip() for line in window}
    known.update(
        north=sides["n"],
        south=sides["s"],
        east=sides["e"],
        west=sides["w"],
        rows=info["rows"],
        cols=info["cols"],
    )
    known.update({"e-w resol": info["ewres"], "n-s resol": info["nsres"]})
    os.environ["GRASS_REGION"] = "".join(f"{key}: {value}; " for key, value in known.items())
    cells = (grass("r.out.ascii", "-h", f"input={name}", "precision=9") or "").split("\n")
    labels = grass("r.category", f"map={name}", "separator=pipe") or ""
    return {
        "region": {side: float(value) for side, value in sides.items()},
        "type": info["datatype"],
        "values": [
            [None if one == "*" else float(one) for one in row.split()] for row in cells if row.strip()
        ],
        "colors": (grass("r.colors.out", f"map={name}") or "").splitlines()[:400],
        "labels": dict(line.partition("|")[::2] for line in labels.splitlines()[:400]),
    }


def vector(name):
    """A vector map: what it is made of, in the standard format, and its table."""
    text = grass("v.out.ascii", f"input={name}", "format=standard", "layer=-1")
    if text is None:
        return None
    table = grass("v.db.select", f"map={name}", "format=json")
    return {"shapes": text.partition("VERTI:\n")[2], "table": json.loads(table)["records"] if table else []}


def mapset():
    """The maps of the mapset that is worked in, and its computational region."""
    work = LOCATION / "work"
    lines = (work / "WIND").read_text().splitlines()
    return {
        "rasters": listed(work / "cellhd"),
        "vectors": listed(work / "vector"),
        "region": {line.partition(":")[0].strip(): line.partition(":")[2].strip() for line in lines},
    }


def listed(folder):
    """Names in a folder, none if it is not there."""
    return sorted(os.listdir(folder))[:MAX_MAPS] if folder.is_dir() else []


def main():
    """Look."""
    kind, *names = sys.argv[1:]
    enter()
    json.dump({"raster": raster, "vector": vector, "mapset": mapset}[kind](*names), sys.stdout)


main()
