"""Builds a LaTeX document of the home in private as ScienceBoard does, and prints whether it can be.

Run in the guest, by the distribution's Python, with the home read only and a /tmp of its own. Arguments: a
folder of the home, the document's name without ".tex", and "bibtex" where its references are to be made.
What is printed: {"built": true} when each of the programs ends well, else {"built": false}.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HOME = Path("/home/user")
MAX_BYTES, MAX_FILES = 2**24, 200
RUN_S = 20
TEX = ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode"]
ENV = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "TEXMFVAR": "/tmp/texmf",
    "openin_any": "p",  # nothing outside the folder is read or written by name
    "openout_any": "p",
}


def copy(source, target):
    """Copy the regular files of a folder, as far as they are few and not large."""
    files = [path for path in sorted(source.rglob("*")) if path.is_file() and not path.is_symlink()]
    room = MAX_BYTES
    for path in files[:MAX_FILES]:
        room -= path.stat().st_size
        if room >= 0:
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(path), str(place))


def runs(command, folder):
    """Whether a command ends well."""
    try:
        done = subprocess.run(
            command, cwd=str(folder), env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, timeout=RUN_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def main(folder, name, *programs):
    """Print whether the document can be built."""
    tex = [*TEX, name + ".tex"]
    commands = [tex, ["bibtex", name], tex, tex] if "bibtex" in programs else [tex]
    with tempfile.TemporaryDirectory() as scratch:
        copy(HOME / folder, Path(scratch))
        json.dump({"built": all(runs(command, scratch) for command in commands)}, sys.stdout)


main(*sys.argv[1:])
