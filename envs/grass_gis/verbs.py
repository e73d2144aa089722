"""Set-up verbs: they prepare GRASS through its own windows, until its state shows the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sci_gym.app import Desktop
from sci_gym.envs.grass_gis import world
from sci_gym.envs.grass_gis.state import read
from sci_gym.specs import Action, Observation

PROGRAM = "grass"
_ENVIRONMENT = ("Settings", "GRASS working environment")
_BUTTONS = {"raster": "Add raster map", "vector": "Add vector map"}


def observed(observation: Observation) -> dict[str, Any]:
    """The program's state in an observation."""
    program = observation.program(PROGRAM)
    return read(program.state if program is not None else (), observation.inspections)


def layer(desktop: Desktop, *, map: str, type: str = "raster") -> None:
    """Add a map of the valley to the layers, on top."""
    before = len(_layers(observed(desktop.observe())))
    _click(desktop, "push button", _BUTTONS[type])
    desktop.wait_for("GRASS: the layer's dialog", lambda seen: bool(observed(seen)["windows"]))
    _click(desktop, "text", "")
    desktop.act(Action.type(map))
    _click(desktop, "push button", "OK")
    desktop.wait_for(f"GRASS: the layer {map}", lambda seen: _has_layer(observed(seen), map, before))


def region(
    desktop: Desktop, *, north: float, south: float, east: float, west: float, resolution: float
) -> None:
    """Set the computational region, in m, by its dialog."""
    wanted = {"north": north, "south": south, "east": east, "west": west, "n-s resol": resolution}
    _menu(desktop, "Settings", "Computational region", "Set region   [g.region]")
    _click(desktop, "page tab", "Bounds")
    for name, value in {"n": north, "s": south, "e": east, "w": west}.items():
        _fill(desktop, f"({name}=value)", f"{value:g}" if value < 1e5 else f"{value:.3f}")
    _click(desktop, "page tab", "Resolution")
    _fill(desktop, "(res=value)", f"{resolution:g}")
    _click(desktop, "push button", "Run")
    desktop.wait_for("GRASS: the region is set", lambda seen: _is_region(observed(seen), wanted))
    desktop.act(Action.hotkey("alt", "f4"))
    desktop.wait_for("GRASS: the dialog is closed", lambda seen: not observed(seen)["windows"])


def location(desktop: Desktop, *, name: str) -> None:
    """Make a location like the valley, but without maps, and work in its mapset PERMANENT."""
    for file, text in {**world.LOCATION_FILES, "WIND": world.WINDOW}.items():
        desktop.put_file(f"grassdata/{name}/PERMANENT/{file}", text.encode())
    work_in(desktop, location=name, mapset="PERMANENT")


def work_in(desktop: Desktop, *, location: str, mapset: str) -> None:
    """Change to a mapset of a location, both of which are there."""
    place = f"{location}/{mapset}"
    if observed(desktop.observe())["session"] == place:
        return
    _menu(desktop, *_ENVIRONMENT, "Change location and mapset")
    _fill(desktop, None, f"{location}\t", nth=-2)  # its labels follow its fields
    if mapset != "PERMANENT":
        _fill(desktop, None, f"{mapset}\t", nth=-1)
    _click(desktop, "push button", "OK")
    _await_session(desktop, place)


def mapset(desktop: Desktop, *, name: str) -> None:
    """Make a mapset without maps in the location that is worked in, and work there."""
    place = observed(desktop.observe())["session"].partition("/")[0]
    _menu(desktop, *_ENVIRONMENT, "Create new mapset")
    _fill(desktop, "Name for the new mapset:", name)
    _click(desktop, "push button", "OK")
    desktop.wait_for(f"GRASS: it tells of {name}", lambda seen: _shows(seen, f"Current mapset is <{name}>."))
    _click(desktop, "push button", "OK")
    _await_session(desktop, f"{place}/{name}")


def scale(desktop: Desktop, *, denominator: float) -> None:
    """Draw the map display at 1 to `denominator`; its status bar shows the scale from then on."""
    _click(desktop, "push button", "Map Display Settings")
    _click(desktop, "page tab", "Status bar")
    _click(desktop, "radio button", "Map scale")
    desktop.wait_for("GRASS: the status bar shows the scale", lambda seen: _bar(seen) == "Map scale")
    _click(desktop, "push button", "Close")
    desktop.wait_for("GRASS: the settings are closed", lambda seen: not observed(seen)["windows"])
    _fill(desktop, "2D view", f"1:{denominator:g}\n", nth=1)
    desktop.wait_for(f"GRASS: the scale is 1:{denominator:g}", lambda seen: _is_scale(seen, denominator))


def _is_scale(seen: Observation, denominator: float) -> bool:
    return any(abs(one["scale"] / denominator - 1) < 0.01 for one in observed(seen)["displays"])


def _bar(seen: Observation) -> str:
    return "".join(one["status_bar"] for one in observed(seen)["displays"])


def _shows(seen: Observation, name: str) -> bool:
    return any(one.name == name for one in seen.tree.of_program(PROGRAM).showing)


def _await_session(desktop: Desktop, place: str) -> None:
    def stands(state: Mapping[str, Any]) -> bool:
        ready = bool(state["displays"] and state["catalog"]) and not state["windows"]
        return ready and bool(state["session"] == place)

    desktop.wait_for(f"GRASS: it works in {place}", lambda seen: stands(observed(seen)))


def _is_region(state: Mapping[str, Any], wanted: Mapping[str, float]) -> bool:
    return all(abs(state["region"].get(side, 0.0) - at) < 1e-3 for side, at in wanted.items())


def _layers(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [one for display in state["displays"] for one in display["layers"]]


def _has_layer(state: Mapping[str, Any], map: str, before: int) -> bool:
    names = [one["name"] for one in _layers(state) if one["visible"]]
    shown = any(map in (name, name.partition("@")[0]) for name in names)
    return shown and len(_layers(state)) > before and not state["windows"]


def _menu(desktop: Desktop, *path: str) -> None:
    """Choose an entry of a menu's submenu, and wait for its dialog."""
    top, *inner, entry = path
    _click(desktop, "menu", top)
    for name in inner:
        desktop.act(Action.move_to(*_place(desktop, "menu", name)))  # a click would open and close it
    _click(desktop, "menu item", entry)
    desktop.wait_for(f"GRASS: the dialog of {entry}", lambda seen: bool(observed(seen)["windows"]))


def _fill(desktop: Desktop, label: str | None, text: str, nth: int = 0) -> None:
    """Type into the field, or a later one, below a label; without one negative counts from the last."""
    desktop.act(Action.click(*_place(desktop, "text", "", label, nth)))
    desktop.act(Action.hotkey("ctrl", "a"))
    desktop.act(Action.type(text))


def _click(desktop: Desktop, role: str, name: str) -> Observation:
    """Click a widget once it is on screen."""
    return desktop.act(Action.click(*_place(desktop, role, name)))


def _place(
    desktop: Desktop, role: str, name: str, label: str | None = None, nth: int = -1
) -> tuple[int, int]:
    """Where a widget is, once it is on screen: one of those below a label, or of all; -1 is the last."""

    def places(seen: Observation) -> list[tuple[int, int]]:
        shown = list(seen.tree.of_program(PROGRAM).showing)
        starts = [place for place, one in enumerate(shown) if label in (None, one.name)]
        below = shown[starts[0] :] if starts else []
        return [one.box.center for one in below if (one.role, one.name) == (role, name) and one.box]

    least = nth + 1 if nth >= 0 else -nth
    what = f"GRASS: {role} {name!r} is on screen"
    return places(desktop.wait_for(what, lambda seen: len(places(seen)) >= least))[nth]


VERBS: Mapping[str, Callable[..., None]] = {
    verb.__name__: verb for verb in (layer, region, location, mapset, scale)
}
"""By name, as task files call them after `grass_gis.`."""
