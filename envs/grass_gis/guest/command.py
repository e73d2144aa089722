"""Prints what a command of GRASS's prints of a location as it is stored: {"printed": TEXT OR JSON'S VALUE}.

Runs as an inspection: the database is read only, and this is a session of its own in a mapset of its own,
whose location is made of links to the mapsets as they are. Prints {} when the command fails.

Usage: command.py LOCATION NAME [WORD...].
"""

import json
import os
import subprocess
import sys
from pathlib import Path

GISBASE = Path("/usr/lib/grass82")
DATABASE = Path("/home/user/grassdata")
HERE = Path("/tmp/db")
MAX_CHARS = 500_000


def enter(location):
    """Make the session; its mapsets are those of the location, PERMANENT first."""
    mapsets = sorted(path.name for path in (DATABASE / location).iterdir() if (path / "WIND").is_file())
    own = HERE / location / "look"
    own.mkdir(parents=True)
    for mapset in mapsets:
        (HERE / location / mapset).symlink_to(DATABASE / location / mapset)
    (own / "WIND").write_text((DATABASE / location / "PERMANENT" / "DEFAULT_WIND").read_text())
    (own / "SEARCH_PATH").write_text("".join(f"{name}\n" for name in ("look", "PERMANENT", *mapsets)))
    Path("/tmp/gisrc").write_text(f"GISDBASE: {HERE}\nLOCATION_NAME: {location}\nMAPSET: look\n")
    os.environ.update(
        GISBASE=str(GISBASE),
        GISRC="/tmp/gisrc",
        LD_LIBRARY_PATH=f"{GISBASE}/lib",
        PATH=f"{GISBASE}/bin:{GISBASE}/scripts:/usr/bin:/bin",
        PYTHONPATH=f"{GISBASE}/etc/python",
        LC_NUMERIC="C",
    )


def output(*command):
    """What a command prints; None when it fails."""
    done = subprocess.run(command, capture_output=True, check=False)
    return None if done.returncode else done.stdout.decode("utf-8", "replace")[:MAX_CHARS]


def columns(words):
    """The columns of a map's table as v.db.select tells them in JSON from GRASS 8.3 on."""
    asked = [word for word in words if word.startswith(("map=", "layer="))]
    told = [line.partition("|") for line in (output("v.info", "-c", *asked) or "").splitlines()]
    return [
        {"name": name, "sql_type": kind, "is_number": kind in ("INTEGER", "DOUBLE PRECISION")}
        for kind, _, name in told
    ]


def main(location, name, *words):
    """Run the command, which is one of GRASS's own."""
    known = any((GISBASE / folder / name).is_file() for folder in ("bin", "scripts"))
    if not known or not (DATABASE / location / "PERMANENT").is_dir():
        print("{}")
        return
    enter(location)
    text = output(name, *words)
    if text is None:
        print("{}")
        return
    printed = json.loads(text) if "format=json" in words else text
    if name == "v.db.select" and printed is not text:
        printed.setdefault("info", {"columns": columns(words)})
    json.dump({"printed": printed}, sys.stdout)


main(*sys.argv[1:])
