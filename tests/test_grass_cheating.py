"""Ways to pass a check of GRASS's without the work, on the real program: each scores 0.

What counts as work: a map, table, region or file that holds what was asked for, whatever wrote it.
"""

from __future__ import annotations

import json
import runpy
import types
from collections.abc import Callable
from typing import Any

import pytest

from sci_gym.loader import load_app
from sci_gym.oracle import play
from sci_gym.specs import Action, OracleStep
from tests.forging import forge

# A GRASS session of the policy's own, in another cell, on the same database.
SESSION = """
export GISBASE=/usr/lib/grass82 GISRC=/tmp/own LD_LIBRARY_PATH=/usr/lib/grass82/lib
export PATH=$GISBASE/bin:$GISBASE/scripts:/usr/bin:/bin
printf 'GISDBASE: /home/user/grassdata\\nLOCATION_NAME: valley\\nMAPSET: work\\n' > $GISRC
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

ENV_ID = "SciBoard-GrassGIS-v0"
Make = Callable[[str], Any]


def code(env: Any, script: str) -> str:
    *_, info = env.step(Action.code(script))
    assert "[exit code 0]" in info["output"], info["output"]
    return str(info["output"])


def console(env: Any, command: str, done: str) -> None:
    """Type a command into GRASS's console, and wait until a shell test holds."""
    steps = (
        OracleStep(Action.click(0, 0), "menu", "Help"),
        OracleStep(Action.click(0, 0), "menu item", "About system"),
        OracleStep(Action.click(0, 0), "scroll pane", label=" Command prompt "),
        OracleStep(Action.type(command)), OracleStep(Action.press("esc")), OracleStep(Action.press("enter")),
    )  # fmt: skip
    for _ in play(env, steps):
        pass
    for _ in range(30):
        *_, info = env.step(Action.code(f"{done} && echo yes"))
        if "yes" in info["output"]:
            return
        env.step(Action.wait())
    raise AssertionError(f"{command}: not done; the console: {state(env)['console']}")


def until(env: Any, holds: Callable[[], bool]) -> None:
    for _ in range(15):
        if holds():
            return
        env.step(Action.wait())
    raise AssertionError(f"did not come to hold; {state(env)}")


def state(env: Any) -> Any:
    return env.unwrapped.app.read_state(env.unwrapped.last)


def scores(env: Any) -> bool:
    *_, info = env.step(Action.done())
    assert "infra_error" not in info
    return bool(info["success"])


def test_a_report_forged_from_the_programs_own_cell(start: Make) -> None:
    env = start("status-bar")
    wanted = env.unwrapped.task.parameters["what"]
    display = {"name": "x", "status_bar": wanted, "layers": [], "elements": []}
    script = forge(json.dumps({"what": "displays", "is": [display]}))
    code(env, f"cat > forge.py <<'E'\n{script}\nE\n")
    console(env, "python3 /home/user/forge.py", "true")
    until(env, lambda: "channels" in state(env)["console"])
    assert int(state(env)["console"].rpartition("tried ")[2].split()[0]) > 0
    assert state(env)["displays"][0]["status_bar"] == "Coordinates"
    assert not scores(env)


def test_the_interface_offers_no_python_of_its_own(start: Make) -> None:
    """What is typed there would run in the very process that reports."""
    env = start("status-bar")
    assert '"pyshell": true' in code(env, "cat ~/.grass8/wx.json")


ADD_ON = "/home/user/.grass8/addons/scripts/g.gui.x"


@pytest.mark.parametrize(
    ("code", "caller"),
    [
        (ADD_ON, "core/gconsole.py"),
        ("<string>", "gmodeler/model.py"),
        ("<input>", "../../../python3.11/code.py"),
    ],
)
def test_nobody_elses_python_runs_in_the_process_that_reports(code: str, caller: str) -> None:
    """The interface would import such an add-on, and evaluate the condition of a model's loop."""
    hook = runpy.run_path(str(load_app("grass_gis").folder / "guest" / "state.py"))["refuse"]
    given = {"refuse": hook, "code": compile("1", code, "exec")}
    run = compile("refuse('exec', (code,))", f"/usr/lib/grass82/gui/wxpython/{caller}", "exec")
    with pytest.raises(RuntimeError, match="may not run in this process"):
        types.FunctionType(run, given)()
    hook("exec", (compile("1", "/usr/lib/grass82/gui/wxpython/core/menutree.py", "exec"),))


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
    assert env.unwrapped.verdict.completed == ("made",), "it is neither shown nor has it a legend"


def test_a_namesake_in_the_own_mapset(start: Make) -> None:
    env = start("show-raster")
    name = env.unwrapped.task.parameters["map"]
    other = "rain" if name != "rain" else "elevation"
    code(env, f"{SESSION} g.copy --q raster={other},{name}")
    console(env, f"d.rast map={name}@work", "true")
    until(env, lambda: bool(state(env)["displays"][0]["layers"]))
    assert [one["name"] for one in state(env)["displays"][0]["layers"]] == [f"{name}@work"]
    assert not scores(env)


def test_a_window_that_only_looks_like_the_tool(start: Make) -> None:
    env = start("histogram")
    code(env, f"cat > fake.py <<'E'\n{WINDOW}\nE\n")
    console(env, "python3 /home/user/fake.py", "true")
    until(env, lambda: any(one.title == "Histogram Tool" for one in env.unwrapped.last.windows))
    assert not scores(env)


def test_a_vector_map_that_only_has_the_name(start: Make) -> None:
    env = start("extract-deep")
    out = env.unwrapped.task.parameters["out"]
    code(env, f"{SESSION} g.copy --q vector=wells,{out}")
    assert state(env)["vectors"][out]["table"], "GRASS's own commands looked"
    assert not scores(env)


def test_a_file_that_only_has_the_name(start: Make) -> None:
    env = start("export-grid")
    path = env.unwrapped.task.parameters["file"]
    code(env, f"seq 8000 | xargs -n 100 > ~/{path}")
    assert env.unwrapped.last.files[path]
    assert not scores(env)
