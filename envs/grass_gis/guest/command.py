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


def main(location, name, *words):
    """Run the command, which is one of GRASS's own."""
    known = any((GISBASE / folder / name).is_file() for folder in ("bin", "scripts"))
    if not known or not (DATABASE / location / "PERMANENT").is_dir():
        print("{}")
        return
    enter(location)
    done = subprocess.run([name, *words], capture_output=True, check=False)
    text = done.stdout.decode("utf-8", "replace")[:MAX_CHARS]
    if done.returncode:
        print("{}")
    else:
        json.dump({"printed": json.loads(text) if "format=json" in words else text}, sys.stdout)


main(*sys.argv[1:])
