"""What a task can ask of Celestia: named conditions on the state that `Celestia.read_state` gives.

Objects are named by their paths, such as "Sol/Earth/Moon"; times are UTC, such as "2026-08-12 17:30:00". What
is true of the sky is reckoned from the program's own ephemeris at the simulated time.

Raises, all of them: `ConfigurationError` for what is no time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from sci_gym.envs.celestia import sky
from sci_gym.envs.celestia.state import state_of
from sci_gym.evaluation import parse_number
from sci_gym.specs import Evidence

Unit = Literal["km", "AU"]
_KM = {"km": 1.0, "AU": sky.KM_PER_AU}


def time_is(evidence: Evidence, *, utc: str, within_s: float = 60.0) -> bool:
    """The simulated time is this one, or at most so many seconds from it."""
    now = _time(evidence).get("utc")
    return now is not None and abs(now - sky.julian_day(utc)) * 86_400 <= within_s


def time_between(evidence: Evidence, *, start: str, end: str) -> bool:
    """The simulated time is in a span."""
    now = _time(evidence).get("utc")
    return now is not None and sky.julian_day(start) <= now <= sky.julian_day(end)


def time_rate(evidence: Evidence, *, scale: float) -> bool:
    """Simulated time flows so many times as fast as real time; negative is backwards."""
    told = _time(evidence).get("scale")
    return told is not None and abs(told - scale) <= 1e-6 * abs(scale)


def paused(evidence: Evidence, *, yes: bool) -> bool:
    """Simulated time stands still, or not."""
    return _time(evidence).get("paused") is yes


def selected(evidence: Evidence, *, path: str) -> bool:
    """An object is selected."""
    return bool(_selection(evidence).get("path") == path)


def arrived(
    evidence: Evidence, *, path: str, altitude: float, unit: Unit = "km", tolerance_rel: float = 0.02
) -> bool:
    """The observer is at rest at a height over the surface of the object that is selected."""
    found = _selection(evidence)
    if found.get("path") != path or _observer(evidence).get("travelling") is not False:
        return False
    height, wanted = found.get("distance", 0.0) - found.get("radius", 0.0), altitude * _KM[unit]
    return bool(abs(height - wanted) <= tolerance_rel * wanted)


def near(evidence: Evidence, *, path: str, radii: float) -> bool:
    """The observer is at rest within so many radii of the middle of the object that is selected."""
    found = _selection(evidence)
    if found.get("path") != path or _observer(evidence).get("travelling") is not False:
        return False
    return bool(0 < found.get("distance", 0.0) <= radii * found.get("radius", 0.0))


def above(evidence: Evidence, *, path: str, longitude: float, latitude: float, within: float = 1.0) -> bool:
    """The observer is over a longitude and latitude (degrees) of the object that is selected."""
    found = _selection(evidence)
    if found.get("path") != path or not {"longitude", "latitude"} <= found.keys():
        return False
    turned = (found["longitude"] - longitude + 180) % 360 - 180
    return bool(
        abs(turned) * np.cos(np.radians(latitude)) <= within and abs(found["latitude"] - latitude) <= within
    )


def centered(evidence: Evidence, *, path: str, within: float = 0.1) -> bool:
    """A body is in the middle of the view: off the line of sight by so much of the field of view at most."""
    observer, body = _observer(evidence), sky.place(state_of(evidence.state), path)
    if body is None or not {"at", "orientation", "field_of_view"} <= observer.keys():
        return False
    off = sky.angle_degrees(body - observer["at"], sky.line_of_sight(observer["orientation"]))
    return off is not None and off <= within * observer["field_of_view"]


def follows(evidence: Evidence, *, path: str, frame: str = "ecliptic") -> bool:
    """The observer's frame is bound to an object: "ecliptic" follows it, "bodyfixed" turns with it, ..."""
    observer = _observer(evidence)
    return observer.get("reference") == path and observer.get("frame") == frame


def tracked(evidence: Evidence, *, path: str) -> bool:
    """The view is kept on an object."""
    return bool(_observer(evidence).get("tracked") == path)


def views(evidence: Evidence, *, count: int) -> bool:
    """The window shows so many views."""
    return bool(_observer(evidence).get("views") == count)


def shows(
    evidence: Evidence,
    *,
    what: Literal["render", "label", "orbit", "location"],
    on: list[str] | None = None,
    off: list[str] | None = None,
) -> bool:
    """Flags by Celestia's own names, such as "constellations": these are set, and those are not."""
    flags = _shown(evidence).get(what, {})
    return all(flags.get(one) is True for one in on or ()) and all(
        flags.get(one) is False for one in off or ()
    )


def faintest(evidence: Evidence, *, magnitude: float, within: float = 0.05) -> bool:
    """Stars are shown down to a magnitude."""
    limit = _shown(evidence).get("faintest")
    return limit is not None and abs(limit - magnitude) <= within


def star_style(evidence: Evidence, *, style: Literal["fuzzy", "point", "disc", "psf"]) -> bool:
    """Stars are drawn in a style."""
    return bool(_shown(evidence).get("star_style") == style)


def textures(evidence: Evidence, *, level: Literal[0, 1, 2]) -> bool:
    """Textures are of low, medium or high resolution."""
    return bool(_shown(evidence).get("textures") == level)


def close_together(evidence: Evidence, *, first: str, second: str, seen_from: str, within: float) -> bool:
    """Two bodies are at most so many degrees apart in another's sky."""
    angle = sky.separation_degrees(state_of(evidence.state), first, second, seen_from)
    return angle is not None and angle <= within


def eclipsed(evidence: Evidence, *, path: str, by: str, wholly: bool = False) -> bool:
    """The shadow of one body falls on another; wholly: not its penumbra alone."""
    return sky.is_eclipsed(state_of(evidence.state), path, by, wholly=wholly)


def transit(evidence: Evidence, *, of: str, seen_from: str) -> bool:
    """A body stands before the Sun in another's sky."""
    return sky.is_in_front(state_of(evidence.state), of, "Sol", seen_from)


def answer_distance(
    evidence: Evidence, *, first: str, second: str, unit: Unit, tolerance_rel: float = 0.01
) -> bool:
    """The answer is how far two bodies are apart at the simulated time."""
    apart, number = sky.apart_km(state_of(evidence.state), first, second), parse_number(evidence.answer or "")
    return apart is not None and number is not None and _near(number, apart / _KM[unit], tolerance_rel)


def answer_nearest(evidence: Evidence, *, to: str, among: list[str]) -> bool:
    """The answer names the one of these bodies that is nearest to another at the simulated time."""
    distances = {path: sky.apart_km(state_of(evidence.state), path, to) for path in among}
    known = {path: far for path, far in distances.items() if far is not None}
    given = (evidence.answer or "").strip().casefold()
    return (
        len(known) == len(among) > 0 and given == _name(min(known, key=lambda path: known[path])).casefold()
    )


def answer_known(
    evidence: Evidence, *, path: str, field: str, factor: float = 1.0, tolerance_rel: float = 0.01
) -> bool:
    """The answer is what Celestia knows of the selected object, times a factor; see `state.SELECTION`."""
    found, answer = _selection(evidence), evidence.answer or ""
    known = found.get(field)
    if found.get("path") != path or known is None:
        return False
    if isinstance(known, str):
        return _letters(answer) == _letters(known) != ""
    number = parse_number(answer)
    return number is not None and _near(number, float(known) * factor, tolerance_rel)


def _time(evidence: Evidence) -> Mapping[str, Any]:
    return _part(evidence, "time")


def _observer(evidence: Evidence) -> Mapping[str, Any]:
    return _part(evidence, "observer")


def _selection(evidence: Evidence) -> Mapping[str, Any]:
    return _part(evidence, "selection")


def _shown(evidence: Evidence) -> Mapping[str, Any]:
    return _part(evidence, "shown")


def _part(evidence: Evidence, name: str) -> Mapping[str, Any]:
    part: Mapping[str, Any] = state_of(evidence.state).get(name, {})
    return part


def _near(number: float, wanted: float, tolerance_rel: float) -> bool:
    return abs(number - wanted) <= tolerance_rel * abs(wanted)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _letters(text: str) -> str:
    return re.sub(r"\s+", "", text).casefold()


PREDICATES: Mapping[str, Callable[..., bool]] = {
    predicate.__name__: predicate
    for predicate in (
        time_is, time_between, time_rate, paused, selected, arrived, near, above, centered, follows, tracked,
        views, shows, faintest, star_style, textures, close_together, eclipsed, transit, answer_distance,
        answer_nearest, answer_known,
    )
}  # fmt: skip
"""By name, as task files call them after `celestia.`."""
