"""A stand-in for the sample location of the Piemonte: maps of the names and columns that tasks speak of.

Nothing in it is true of the Piemonte. With it, tasks whose checks do not look at the data can be set up and
played; `python -m tests.piemonte FOLDER` makes it in a folder, for SCI_GYM_GRASSDATA.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sci_gym.envs.grass_gis.locations import PIEMONTE

_MAPS = """set -e
g.region n=5100000 s=4900000 e=500000 w=320000 res=1000
g.region -s n=5100000 s=4900000 e=500000 w=320000 res=1000
v.mkgrid map=boundary_region grid=2,4
v.db.addcolumn map=boundary_region columns="NOME varchar(40), ISTAT integer"
v.db.update map=boundary_region column=NOME value=A
v.db.update map=boundary_region column=ISTAT value=1
for name in firestations hospitals schools; do
    v.random output=$name npoints=6 seed=1
    v.db.addtable map=$name columns="name varchar(40), wheelchair varchar(10)"
done
for name in roadsmajor railroads; do
    printf 'L 2 1\\n 330000 4910000\\n 490000 5090000\\n 1 1\\n' |
        v.in.ascii -n input=- output=$name format=standard
done
r.mapcalc expression="lakes = if(row() > 5, 1, null())"
"""


def make(folder: Path) -> Path:
    """Make the location below a folder, which is returned.

    Raises:
        subprocess.CalledProcessError: a command of GRASS's failed; its output tells.
    """
    location = folder / PIEMONTE
    folder.mkdir(parents=True, exist_ok=True)
    for command in (
        ["grass", "-c", "EPSG:32632", str(location), "-e"],
        ["grass", str(location / "PERMANENT"), "--exec", "bash", "-c", _MAPS],
    ):
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    return folder


if __name__ == "__main__":
    sys.stdout.write(f"{make(Path(sys.argv[1]))}\n")
