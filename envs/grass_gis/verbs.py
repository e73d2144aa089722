"""Set-up verbs: they prepare GRASS through its own windows, until its state shows the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sci_gym.app import Desktop
from sci_gym.envs.grass_gis.state import read
from sci_gym.errors import DeadlineError
from sci_gym.specs import Action, Observation

PROGRAM = "grass"
_BUTTONS = {"raster": "Add raster map", "vector": "Add vector map"}


def observed(observation: Observation) -> dict[str, Any]:
    """The program's state in an observation."""
    programs = [program for program in observation.programs if program.name == PROGRAM]
    return read(programs[-1].state if programs else (), observation.inspections)


def layer(desktop: Desktop, *, map: str, type: str = "raster") -> None:
    """Add a map of the valley to the layers, on top."""
    before = len(_layers(observed(desktop.observe())))
    _click(desktop, "push button", _BUTTONS[type])
    desktop.wait_for("GRASS: the layer's dialog", lambda seen: bool(observed(seen)["windows"]))
    _click(desktop, "text", "")
    desktop.act(Action.type(map))
    _click(desktop, "push button", "OK")
    desktop.wait_for(f"GRASS: the layer {map}", lambda seen: _has_layer(observed(seen), map, before))


def _layers(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [one for display in state["displays"] for one in display["layers"]]


def _has_layer(state: Mapping[str, Any], map: str, before: int) -> bool:
    shown = [one for one in _layers(state) if one["name"].partition("@")[0] == map and one["visible"]]
    return bool(shown) and len(_layers(state)) > before and not state["windows"]


def _click(desktop: Desktop, role: str, name: str) -> Observation:
    """Click a widget once it is on screen."""

    def places(seen: Observation) -> list[tuple[int, int]]:
        shown = seen.tree.of_program(PROGRAM).showing
        return [one.box.center for one in shown if (one.role, one.name) == (role, name) and one.box]

    seen = desktop.wait_for(f"GRASS: {role} {name!r} is on screen", lambda seen: bool(places(seen)))
    if not places(seen):
        raise DeadlineError(PROGRAM, f"{role} {name!r} has no place on screen.")
    return desktop.act(Action.click(*places(seen)[-1]))


VERBS: Mapping[str, Callable[..., None]] = {verb.__name__: verb for verb in (layer,)}
"""By name, as task files call them after `grass_gis.`."""
