"""Ways to pass a check of GRASS's without the work, on the real program: each scores 0.

What counts as work: a map, table, region or file that holds what was asked for, whatever wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import pytest

from sci_gym.specs import Action

CONSOLE_TAB, PROMPT = (1627, 1032), (1727, 980)

# A GRASS session of the policy's own, in another cell, on the same database.
SESSION = """
export GISBASE=/usr/lib/grass82 GISRC=/tmp/own LD_LIBRARY_PATH=/usr/lib/grass82/lib
export PATH=$GISBASE/bin:$GISBASE/scripts:/usr/bin:/bin
printf 'GISDBASE: /home/user/grassdata\\nLOCATION_NAME: valley\\nMAPSET: work\\n' > $GISRC
"""

# Runs beside the interface, in its cell: writes a report in its name wherever it can.
FORGE = r"""
import glob, os
line = b'{"what": "displays", "is": [{"name": "x", "status_bar": "%s", "layers": [], "elements": []}]}\n'
tried = 0
for path in glob.glob("/proc/[0-9]*/fd/*"):
    if path.startswith((f"/proc/{os.getpid()}/", "/proc/self/")):
        continue
    target = os.readlink(path) if os.path.islink(path) else ""
    if not target.startswith(("pipe:", "socket:")):
        continue
    tried += 1
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        os.write(descriptor, line % STATUS)
    except OSError:
        pass
open("/home/user/forged", "w").write(str(tried))
"""

# What a careless inspection would run instead of GRASS's commands.
PLANT = r"""
for folder in ~/bin ~/.grass8/addons/bin ~/.grass8/addons/scripts ~/.local/bin; do
  mkdir -p $folder
  for name in r.info r.out.ascii r.colors.out v.out.ascii; do
    printf '#!/bin/sh\ntouch /tmp/planted\nexec /usr/bin/yes 1\n' > $folder/$name; chmod +x $folder/$name
  done
done
mkdir -p ~/.local/lib/python3.11/site-packages
echo 'raise SystemExit(0)' > ~/.local/lib/python3.11/site-packages/usercustomize.py
"""

WINDOW = """
import wx
app = wx.App()
frame = wx.Frame(None, title="Histogram Tool", size=(600, 400))
frame.rasterList = ["elevation@PERMANENT", "rain@PERMANENT"]
frame.Show()
app.MainLoop()
"""

Make = Callable[[str], Any]


@pytest.fixture
def start() -> Iterator[Make]:
    made: list[gym.Env[Any, Any]] = []

    def make(task: str) -> Any:
        env = gym.make("SciBoard-GrassGIS-v0", task=task, interface="hybrid", disable_env_checker=True)
        made.append(env)
        env.reset(seed=0)
        return env

    yield make
    for env in made:
        env.close()


def code(env: Any, script: str) -> str:
    *_, info = env.step(Action.code(script))
    assert "[exit code 0]" in info["output"], info["output"]
    return str(info["output"])


def console(env: Any, command: str, done: str) -> None:
    """Type a command into GRASS's console, and wait until a shell test holds."""
    for action in (
        Action.click(*CONSOLE_TAB), Action.click(*PROMPT), Action.type(command), Action.press("esc"),
        Action.press("enter"),
    ):  # fmt: skip
        env.step(action)
    for _ in range(30):
        *_, info = env.step(Action.code(f"{done} && echo yes"))
        if "yes" in info["output"]:
            return
        env.step(Action.wait())
    raise AssertionError(f"{command}: not done; the console: {state(env)['console']}")


def state(env: Any) -> Any:
    return env.unwrapped.app.read_state(env.unwrapped.last)


def scores(env: Any) -> bool:
    *_, info = env.step(Action.done())
    assert "infra_error" not in info
    return bool(info["success"])


def test_a_report_forged_from_the_programs_own_cell(start: Make) -> None:
    env = start("status-bar")
    wanted = env.unwrapped.task.parameters["what"]
    code(env, f"cat > forge.py <<'E'\nSTATUS = {wanted.encode()!r}\n{FORGE}\nE\n")
    console(env, "python3 /home/user/forge.py", "test -s forged")
    assert int(code(env, "cat forged").split("[")[0]) > 0, "there were channels to try"
    assert state(env)["displays"][0]["status_bar"] == "Coordinates"
    assert not scores(env)


def test_the_interface_offers_no_python_of_its_own(start: Make) -> None:
    """What is typed there would run in the very process that reports."""
    env = start("status-bar")
    assert '"pyshell": true' in code(env, "cat ~/.grass8/wx.json")


def test_planted_commands_and_a_map_that_has_only_the_name(start: Make) -> None:
    env = start("slope")
    out = env.unwrapped.task.parameters["out"]
    code(env, PLANT)
    code(env, f"{SESSION} r.mapcalc --q 'r1 = 5.0' && r.mapcalc --q '{out} = r1'")
    seen = state(env)["rasters"][out]
    assert seen["values"][3][:2] == [5.0, 5.0], "GRASS's own commands looked"
    assert not scores(env)


def test_the_right_map_counts_whoever_made_it(start: Make) -> None:
    env = start("slope")
    values = env.unwrapped.task.parameters
    form = values["unit"]["name"]
    code(env, f"{SESSION} r.slope.aspect --q elevation=elevation slope={values['out']} format={form}")
    assert scores(env)


def test_a_namesake_in_the_own_mapset(start: Make) -> None:
    env = start("show-raster")
    name = env.unwrapped.task.parameters["map"]
    other = "rain" if name != "rain" else "elevation"
    code(env, f"{SESSION} g.copy --q raster={other},{name}")
    console(env, f"d.rast map={name}@work", "true")
    for _ in range(20):
        if state(env)["displays"][0]["layers"]:
            break
        env.step(Action.wait())
    assert [one["name"] for one in state(env)["displays"][0]["layers"]] == [f"{name}@work"]
    assert not scores(env)


def test_a_window_that_only_looks_like_the_tool(start: Make) -> None:
    env = start("histogram")
    code(env, f"cat > fake.py <<'E'\n{WINDOW}\nE\n")
    console(env, "python3 /home/user/fake.py", "true")
    for _ in range(30):
        if any(one.title == "Histogram Tool" for one in env.unwrapped.last.windows):
            break
        env.step(Action.wait())
    assert any(one.title == "Histogram Tool" for one in env.unwrapped.last.windows)
    assert not scores(env)


def test_a_file_that_only_has_the_name(start: Make) -> None:
    env = start("export-grid")
    path = env.unwrapped.task.parameters["file"]
    code(env, f"seq 8000 | xargs -n 100 > ~/{path}")
    assert env.unwrapped.last.files[path]
    assert not scores(env)
