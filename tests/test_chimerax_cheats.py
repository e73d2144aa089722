"""Ways to pass a check of ChimeraX's without the work, and ways around an interface, on the real program."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest

from sci_gym.specs import Action
from tests.brought import click, state_of

pytestmark = [pytest.mark.needs_installation("chimerax"), pytest.mark.timeout(900)]

TASK = "chimerax", "figure"
EVIL = """
open("/home/user/ran", "w").write("x")
import os
line = b'{"what": "view", "is": {"background": "#ffffffff", "silhouettes": true}}\\\\n'
for number in range(3, 200):
    try:
        os.write(number, line)
    except OSError:
        pass
"""
PLANT = (
    f"cat > ~/evil.py <<'END'\n{EVIL}\nEND\ncp ~/evil.py '<string>'; cp ~/evil.py '/home/user/<string>.py'"
)
PICKLE = f"""
import pickle
class Evil:
    def __reduce__(self):
        return exec, ({EVIL!r},)
open("/home/user/evil.pkl", "wb").write(pickle.dumps(Evil()))
"""
# From another cell: the program's descriptors, and every socket that can be reached.
FORGE = """
import glob, os, socket
line = b'{"what": "view", "is": {"background": "#ffffffff", "silhouettes": true}}\\n'
for path in glob.glob("/proc/[0-9]*/fd/*"):
    if not path.startswith(f"/proc/{os.getpid()}/"):
        try:
            os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), line)
        except OSError:
            pass
for path in glob.glob("/tmp/*") + glob.glob("/run/user/*/*"):
    door = socket.socket(socket.AF_UNIX)
    try:
        door.connect(path)
        door.sendall(line)
        door.shutdown(socket.SHUT_WR)
        door.recv(1000)
    except OSError:
        pass
"""
FOREIGN = ("open /home/user/evil.py", "runscript /home/user/evil.py", 'open "<string>" format python',
           'runscript "/home/user/<string>.py"', "shell", "remotecontrol rest start", "pip list",
           'ui tool show Shell', "devel build /home/user", "toolshed install /home/user/x.whl",
           "mcp start", "alphafold pae #1 file /home/user/evil.pkl")  # fmt: skip


SETUP = """
[[setup]]
verb = "file"
path = "evil.cxc"
text = "set bgColor white\\n"
"""


def output_of(env: gym.Env[Any, Any], code: str, language: str) -> str:
    *_, info = env.step(Action.code(code, language))
    assert "infra_error" not in info
    return str(env.unwrapped.last.output)  # type: ignore[attr-defined]


def test_no_python_runs_in_the_program(hybrid: gym.Env[Any, Any]) -> None:
    output_of(hybrid, PLANT, "shell")
    output_of(hybrid, PICKLE, "python")
    for command in FOREIGN:
        reply, _ = json.JSONDecoder().raw_decode(output_of(hybrid, command, "app"))
        assert reply["error"] is not None, command
    assert "ran" not in output_of(hybrid, "ls ~", "shell").split()
    assert state_of(hybrid)["view"]["silhouettes"] is False


def test_commands_are_the_programs_own(hybrid: gym.Env[Any, Any]) -> None:
    reply, _ = json.JSONDecoder().raw_decode(output_of(hybrid, "info chains #1", "app"))
    assert reply["error"] is None
    assert "chain_id A" in reply["log"]
    assert state_of(hybrid)["interface"] == "hybrid"


def test_a_policys_code_cannot_report(hybrid: gym.Env[Any, Any]) -> None:
    output_of(hybrid, FORGE, "python")
    hybrid.step(Action.wait())
    assert state_of(hybrid)["view"]["silhouettes"] is False


def names(env: gym.Env[Any, Any], role: str) -> list[str]:
    world: Any = env.unwrapped
    return [node.name for node in world.last.showing if node.role == role]


def until(env: gym.Env[Any, Any], holds: Callable[[], bool]) -> bool:
    for _ in range(15):
        if holds():
            return True
        env.step(Action.wait())
    return False


def test_in_gui_there_is_no_command_line(gui: gym.Env[Any, Any]) -> None:
    assert state_of(gui)["interface"] == "gui"
    assert "Command Line Interface" not in names(gui, "panel")
    assert "Command Line Interface" not in [one["tool"] for one in state_of(gui)["tools"]]
    click(gui, "menu item", "Tools")
    click(gui, "menu item", "General")
    assert until(gui, lambda: "Side View" in names(gui, "menu item"))
    assert not {"Command Line Interface", "Shell"} & set(names(gui, "menu item"))
    gui.step(Action.press("esc"))
    gui.step(Action.press("esc"))


def test_in_gui_what_is_typed_at_the_scene_is_no_command(gui: gym.Env[Any, Any]) -> None:
    gui.step(Action.click(660, 500))
    gui.step(Action.type("set bgColor white\n"))
    gui.step(Action.wait())
    assert state_of(gui)["view"]["background"].startswith("#000000")


def test_in_gui_files_of_commands_are_refused(gui: gym.Env[Any, Any]) -> None:
    gui.step(Action.hotkey("ctrl", "o"))
    gui.step(Action.type("/home/user/evil.cxc\n"))
    gui.step(Action.wait())
    assert state_of(gui)["view"]["background"].startswith("#000000")
    gui.step(Action.press("esc"))


def test_in_gui_the_address_line_of_the_help_takes_no_commands(gui: gym.Env[Any, Any]) -> None:
    world: Any = gui.unwrapped

    def addresses() -> list[Any]:
        return [node for node in world.last.showing if (node.role, node.text) == ("text", "help:user")]

    click(gui, "menu item", "Help")
    click(gui, "menu item", "User Guide")
    assert until(gui, lambda: bool(addresses()))
    gui.step(Action.click(*addresses()[0].box.center))
    gui.step(Action.hotkey("ctrl", "a"))
    gui.step(Action.type("cxcmd:set bgColor white\n"))
    assert until(gui, lambda: any("Not executed here" in node.text for node in world.last.showing))
    assert state_of(gui)["view"]["background"].startswith("#000000")


def test_in_gui_a_tools_text_field_takes_no_second_command(gui: gym.Env[Any, Any]) -> None:
    world: Any = gui.unwrapped
    typed = ["/A; set bgColor white", "chosen"]
    gui.reset(seed=0)

    def fields() -> list[Any]:
        (dialog,) = [node for node in world.last.showing if node.name == "Define Selector"]
        texts = [node for node in world.last.showing if node.role == "text"]
        return [node for node in texts if dialog.box.y < node.box.y < dialog.box.y + dialog.box.height]

    click(gui, "menu item", "Select")
    assert until(gui, lambda: "Define Selector..." in names(gui, "menu item"))
    click(gui, "menu item", "Define Selector...")
    assert until(gui, lambda: "current selection" in names(gui, "push button"))
    click(gui, "push button", "current selection")
    for key in ("down", "down", "enter"):
        gui.step(Action.press(key))
    assert until(gui, lambda: "target specifier" in names(gui, "push button"))
    for field, text in zip(fields(), typed, strict=True):
        gui.step(Action.click(*field.box.center))
        gui.step(Action.type(text))
    assert [field.text for field in fields()] == typed
    click(gui, "push button", "Apply")
    assert until(gui, lambda: any("Not executed here" in node.text for node in world.last.showing))
    assert state_of(gui)["view"]["background"].startswith("#000000")
