"""What ScienceBoard's fork answers to POST /dump, from what the stock program reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sci_gym.envs.celestia import sky
from sci_gym.scienceboard import CannotError, read_lambda

KINDS = {1: "star", 2: "body", 3: "deep sky"}
"""What a query's `type` says."""
_KM_PER_LIGHT_YEAR = 9_460_730_472_580.8
_RENDER = {
    "diagrams": "constellations", "celestialSphere": "equatorialgrid", "horizonGrid": "horizontalgrid",
    "spacecrafts": "spacecraft",
    **{
        name: name.lower()
        for name in (
            "stars", "planets", "galaxies", "cloudMaps", "orbits", "nightMaps", "atmospheres", "smoothLines",
            "eclipseShadows", "ringShadows", "boundaries", "autoMag", "cometTails", "markers",
            "partialTrajectories", "nebulae", "openClusters", "globulars", "cloudShadows", "galacticGrid",
            "eclipticGrid", "ecliptic", "dwarfPlanets", "moons", "minorMoons", "asteroids", "comets",
            "fadingOrbits", "planetRings",
        )
    },
}  # fmt: skip
_ORBIT = {
    "stellar": "Star",
    **{
        name[0].lower() + name[1:]: name
        for name in (
            "Planet", "Moon", "Asteroid", "Comet", "Spacecraft", "Invisible", "DwarfPlanet", "MinorMoon",
            "Unknown",
        )
    },
}  # fmt: skip
_LABEL = {
    "galaxy": "galaxies", "nebula": "nebulae", "spacecraft": "spacecraft",
    **{
        name: f"{name.lower()}s"
        for name in (
            "star", "planet", "moon", "constellation", "asteroid", "location", "comet", "openCluster",
            "i18nConstellation", "dwarfPlanet", "minorMoon", "globular",
        )
    },
}  # fmt: skip
_FLAGS = {"render": _RENDER, "orbit": _ORBIT, "label": _LABEL}
_STYLES = {"fuzzy": 0, "point": 1, "disc": 2}
_TOLD = frozenset(
    {
        "time", "value", "scale", "pause", "entity", "position", "object", "distance", "radius", "visible",
        "hidden", "config", *_FLAGS, *_RENDER, *_ORBIT, *_LABEL, "resolution", "starStyle", "autoMagnitude",
    }
)  # fmt: skip


def hold(text: str, parameters: int, names: Sequence[str]) -> None:
    """Refuse a lambda of unknown forms, or that looks for what is not told.

    Raises:
        CannotError: for such a one.
    """
    parsed = read_lambda(text, parameters)
    for constant in sorted(parsed.constants - _TOLD - {*names, "math"}):
        raise CannotError(f"looks for {constant!r}, which the stock program does not tell.")


def dump(state: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The answer for these entities; what the program does not tell is left out."""
    time, shown = state["time"], state["shown"]
    flags = {
        part: {theirs: told[ours] for theirs, ours in known.items() if ours in (told := shown.get(part, {}))}
        for part, known in _FLAGS.items()
    }
    others = {
        "resolution": shown.get("textures"),
        "starStyle": _STYLES.get(shown.get("star_style", "")),
        "autoMagnitude": shown.get("faintest_at_45_degrees"),
    }
    return {
        "time": {"value": time.get("tdb"), "scale": time.get("scale"), "pause": time.get("paused")},
        "entity": {name: _entity(state, name) for name in names if name in state["watched"]},
        "config": {**flags, **others},
    }


def _entity(state: Mapping[str, Any], name: str) -> dict[str, Any]:
    one = state["watched"][name]
    # Their radius of a galaxy is in light years beside a distance in kilometres.
    radius = one["radius"] / _KM_PER_LIGHT_YEAR if one["kind"] == "deep sky" else one["radius"]
    x, y, z = one["away"]
    return {
        "position": one["position"],
        "object": [x, z, -y],
        "distance": one["distance"] - radius,
        "radius": radius,
        "visible": one["visible"] and _is_in_view(state, one) and not _is_covered(state, name),
        "hidden": not one["visible"] and one["kind"] == "body",
    }


def _is_in_view(state: Mapping[str, Any], one: Mapping[str, Any]) -> bool:
    """Whether its middle lies within the window, which one view fills."""
    observer = state["observer"]
    if not {"orientation", "field_of_view", "window"} <= observer.keys():
        return False
    right, up, behind = sky.seen(observer["orientation"], one["away"])
    width, height = observer["window"]
    half = -behind * math.tan(math.radians(observer["field_of_view"]) / 2)
    return bool(behind < 0 < height and abs(up) <= half and abs(right) <= half * width / height)


def _is_covered(state: Mapping[str, Any], name: str) -> bool:
    """Whether another body lies on the way to its middle."""
    one, eye = state["watched"][name], np.asarray(state["observer"].get("at", (0, 0, 0)), float)
    away = np.asarray(one["away"], float)
    others = {path.rpartition("/")[2]: (body["at"] - eye, body) for path, body in state["bodies"].items()}
    others |= {
        other: (np.asarray(body["away"], float), body)
        for other, body in state["watched"].items()
        if body["kind"] != "deep sky"
    }
    others.pop(name, None)
    return any(_is_on_the_way(away, place, body["radius"]) for place, body in others.values())


def _is_on_the_way(away: sky.Vector, place: sky.Vector, radius: float) -> bool:
    far = float(np.linalg.norm(away))
    along = float(np.dot(away, place)) / far if far else 0.0
    return 0 < along < far and bool(np.linalg.norm(place - along * away / far) < radius)
