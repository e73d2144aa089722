"""A session of GRASS's in the guest: its folders, its variables, its commands, its stock graphical interface.

`app` makes this text the module `session` of what starts the program.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

GISBASE = "/usr/lib/grass82"
HOME = pathlib.Path(os.environ["HOME"])
DATABASE = HOME / "grassdata"
SETTINGS = HOME / ".grass8"
SESSION = pathlib.Path("/tmp/grass8-user-1")
WX = {
    "manager": {"hideTabs": {"search": False, "pyshell": True}},
    "general": {"singleWindow": {"enabled": True}},
}


def begin() -> None:
    """Make the folders; a launch that is tried again begins anew."""
    shutil.rmtree(DATABASE, ignore_errors=True)
    DATABASE.mkdir()
    SETTINGS.mkdir(exist_ok=True)
    (SETTINGS / "wx.json").write_text(json.dumps(WX))
    SESSION.mkdir(mode=0o700, exist_ok=True)
    os.environ.update(variables())


def enter(location: str, mapset: str) -> None:
    """Make a mapset the session's."""
    rc = f"GISDBASE: {DATABASE}\nLOCATION_NAME: {location}\nMAPSET: {mapset}\nGUI: wxpython\n"
    (SESSION / "gisrc").write_text(rc)
    (SETTINGS / "rc").write_text(rc)


def grass(*command: str, text: str = "") -> None:
    """Run a GRASS command."""
    subprocess.run([*command, "--quiet"], input=text.encode(), check=True, stdout=subprocess.DEVNULL)


def show() -> None:
    """Become the interface."""
    arguments = sys.argv[1:]
    os.execv("/usr/bin/python3", ["python3", f"{GISBASE}/gui/wxpython/wxgui.py", *arguments])


def variables() -> dict:
    """The variables of a GRASS session."""
    env = dict(os.environ)
    path = [f"{GISBASE}/bin", f"{GISBASE}/scripts", "/usr/bin", "/bin"]
    python = [one for one in env.get("PYTHONPATH", "").split(":") if one] + [f"{GISBASE}/etc/python"]
    env.update(
        GISBASE=GISBASE,
        GISRC=str(SESSION / "gisrc"),
        GRASS_VERSION="8.2.1",
        GIS_LOCK="1",
        TMPDIR=str(SESSION),
        PATH=":".join(path),
        LD_LIBRARY_PATH=f"{GISBASE}/lib",
        PYTHONPATH=":".join(python),
        GRASS_PYTHON="/usr/bin/python3",
        GRASS_ADDON_BASE=str(SETTINGS / "addons"),
        GRASS_PROJSHARE="/usr/share/proj",
        GRASS_PAGER="cat",
        GRASS_GNUPLOT="gnuplot -persist",
        GRASS_HTML_BROWSER="true",
        LC_NUMERIC="C",
    )
    return env
