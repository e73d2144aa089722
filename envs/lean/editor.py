"""Kate, in which files are worked on where there is a screen; Lean's language server is behind it."""

from __future__ import annotations

import json
from pathlib import Path

from sci_gym.app import Desktop, ProgramSpec, Requirement
from sci_gym.specs import Action, Observation, Window

KATE = "kate"
REQUIREMENT = Requirement("/usr/bin/kate", "kate", "the editor, where Lean is on a desktop")
_SYNTAX = Path(__file__).with_name("guest") / "lean.xml"
QUIET_S = 0.3
"""Lean answers what was typed a while after the editor has drawn it."""
_PANEL = "LSP"
# It would else offer old sessions, take Enter for a completion, and indent what is indented.
_SETTINGS = """[General]
Show welcome view for new window=false
Startup Session=new
[Kate Plugins]
lspclientplugin=true
[KTextEditor Document]
Indentation Mode=none
[KTextEditor View]
Auto Completion=false
[lspclient]
AllowedServerCommandLines={lean} --server
"""
_START = """cd "$HOME"
mkdir -p .config/kate/lspclient .local/share/org.kde.syntax-highlighting/syntax
printf %s "$SETTINGS" > .config/katerc
printf %s "$SERVERS" > .config/kate/lspclient/settings.json
printf %s "$SYNTAX" > .local/share/org.kde.syntax-highlighting/syntax/lean.xml
unset SETTINGS SERVERS SYNTAX
exec /usr/bin/kate --new
"""


def editor(lean: str) -> ProgramSpec:
    """Kate, to which the command `lean` tells what it makes of a file while that is written."""
    served = {"command": [lean, "--server"], "highlightingModeRegex": "^Lean$", "url": ""}
    return ProgramSpec(
        name=KATE,
        argv=("/bin/sh", "-c", _START),
        env={
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            "SETTINGS": _SETTINGS.format(lean=lean),
            "SERVERS": json.dumps({"servers": {"lean": served}}),
            "SYNTAX": _SYNTAX.read_text(),
        },
        register_s=20.0,
    )


def is_ready(observation: Observation) -> bool:
    """Whether its window is on screen, menus and all."""
    return any(
        node.role == "menu item" and node.name == "LSP Client"
        for node in observation.tree.of_program(KATE).showing
    )


def open_file(desktop: Desktop, path: str) -> None:
    """Open a file in front, with what Lean says of it below."""
    desktop.act(Action.hotkey("ctrl", "o"))
    desktop.wait_for("Kate asks for a file", lambda seen: any(map(_asks, seen.windows)))
    desktop.act(Action.type(f"{path}\n"))
    seen = desktop.wait_for(f"Kate has {path} open", lambda seen: not any(map(_asks, seen.windows)))
    (panel,) = (node for node in seen.showing if node.role == "check box" and node.name == _PANEL)
    assert panel.box is not None, "what is clicked is on screen"
    desktop.act(Action.click(*panel.box.center))
    desktop.wait_for("Kate tells what Lean says", _tells)


def _asks(window: Window) -> bool:
    return window.program == KATE and window.title.startswith("Open File")


def _tells(seen: Observation) -> bool:
    return any(node.role == "table cell" and node.name.startswith("[Lean 4]") for node in seen.showing)
