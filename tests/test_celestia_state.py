"""Celestia's state and predicates, without the program: on reports as it makes them, and on any others."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sci_gym.envs.celestia import sky
from sci_gym.envs.celestia.installation import INSTALLATION
from sci_gym.envs.celestia.predicates import PREDICATES
from sci_gym.envs.celestia.state import read
from sci_gym.errors import ConfigurationError
from sci_gym.specs import Evidence

AU = sky.KM_PER_AU
RADII = {"Sol": 696_000, "Sol/Earth": 6378, "Sol/Earth/Moon": 1737.5, "Sol/Venus": 6051.8, "Sol/Mars": 3396}
NOON = 2_451_545.0


def report(**subjects: Any) -> list[str]:
    """The lines of a program; each subject is what it tells of that."""
    told = {"time": {"tdb": NOON, "utc": NOON, "scale": 1.0, "paused": True}, "main": {"done": 0}, **subjects}
    return [json.dumps({"what": what, "is": value}) for what, value in told.items()]


def bodies(**places: list[float]) -> dict[str, Any]:
    """The bodies at these places, in AU; the names are the last parts of their paths."""
    paths = {path.rpartition("/")[2]: path for path in RADII}
    return {
        paths[name]: {"at": [AU * part for part in place], "radius": RADII[paths[name]]}
        for name, place in {"Sol": [0, 0, 0], **places}.items()
    }


def holds(lines: list[str], name: str, answer: str | None = None, **arguments: Any) -> bool:
    return PREDICATES[name](Evidence(state={"celestia": read(lines)}, answer=answer), **arguments)


def test_a_julian_day_is_of_a_date() -> None:
    assert sky.julian_day("2000-01-01 12:00:00") == NOON
    assert sky.julian_day("2012-06-06") == pytest.approx(2_456_084.5)
    with pytest.raises(ConfigurationError, match="no date and time"):
        sky.julian_day("noon")


def test_times_are_compared_in_utc() -> None:
    assert holds(report(), "time_is", utc="2000-01-01 12:00:30", within_s=60)
    assert not holds(report(), "time_is", utc="2000-01-01 12:02:00", within_s=60)
    assert holds(report(), "time_between", start="2000-01-01", end="2000-01-02")
    assert not holds([], "time_between", start="1000-01-01", end="3000-01-01")


@pytest.mark.parametrize(
    ("off", "penumbra", "umbra"),
    [(0.0, True, True), (0.9 * 6378, True, True), (9000, True, False), (20000, False, False)],
)  # fmt: skip
def test_a_shadow_falls_behind_what_casts_it(off: float, penumbra: bool, umbra: bool) -> None:
    """The Moon at its mean distance: its umbra ends before Earth, its penumbra is 3500 km wide there."""
    moon = [1 - 384_400 / AU, off / AU, 0]
    lines = report(bodies=bodies(Earth=[1, 0, 0], Moon=moon))
    eclipse = {"path": "Sol/Earth", "by": "Sol/Earth/Moon"}
    assert holds(lines, "eclipsed", **eclipse) is penumbra
    assert holds(lines, "eclipsed", **eclipse, wholly=True) is umbra
    behind = report(bodies=bodies(Earth=[1, 0, 0], Moon=[2 - moon[0], moon[1], 0]))
    assert not holds(behind, "eclipsed", **eclipse)


def test_a_transit_is_before_the_sun_and_not_behind_it() -> None:
    transit = {"of": "Sol/Venus", "seen_from": "Sol/Earth"}
    assert holds(report(bodies=bodies(Earth=[1, 0, 0], Venus=[0.72, 0.001, 0])), "transit", **transit)
    assert not holds(report(bodies=bodies(Earth=[1, 0, 0], Venus=[-0.72, 0.001, 0])), "transit", **transit)
    assert not holds(report(bodies=bodies(Earth=[1, 0, 0], Venus=[0.72, 0.01, 0])), "transit", **transit)


def test_angles_are_seen_from_where_one_stands() -> None:
    lines = report(
        bodies=bodies(Earth=[1, 0, 0], Venus=[2, 0, 0], Mars=[3, 2 * math.tan(math.radians(1)), 0])
    )
    wanted = {"first": "Sol/Venus", "second": "Sol/Mars", "seen_from": "Sol/Earth"}
    assert holds(lines, "close_together", **wanted, within=1.01)
    assert not holds(lines, "close_together", **wanted, within=0.99)


def test_answers_are_held_to_the_ephemeris() -> None:
    lines = report(bodies=bodies(Earth=[1, 0, 0], Venus=[0, 0.72, 0], Mars=[1.5, 0, 0]))
    distance = {"first": "Sol/Earth", "second": "Sol/Mars", "unit": "AU"}
    assert holds(lines, "answer_distance", "0.503", **distance)
    assert not holds(lines, "answer_distance", "0.52", **distance)
    assert not holds(lines, "answer_distance", "near", **distance)
    nearest = {"to": "Sol/Earth", "among": ["Sol/Venus", "Sol/Mars"]}
    assert holds(lines, "answer_nearest", " mars ", **nearest)
    assert not holds(lines, "answer_nearest", "Venus", **nearest)


TITAN = {
    "type": "moon", "name": "Titan", "path": "Sol/Saturn/Titan", "distance": 12_575.0, "radius": 2575.0,
    "longitude": 179.8, "latitude": -20.1,
}  # fmt: skip


def test_a_place_is_over_what_is_selected_and_reached() -> None:
    lines = report(selection=TITAN, observer={"travelling": False})
    assert holds(lines, "selected", path="Sol/Saturn/Titan")
    assert holds(lines, "arrived", path="Sol/Saturn/Titan", altitude=10_000)
    assert not holds(lines, "arrived", path="Sol/Saturn/Titan", altitude=12_500)
    assert not holds(
        report(selection=TITAN, observer={"travelling": True}), "near", path="Sol/Saturn/Titan", radii=20
    )
    assert holds(lines, "above", path="Sol/Saturn/Titan", longitude=-179.8, latitude=-20)
    assert not holds(lines, "above", path="Sol/Saturn/Titan", longitude=170, latitude=-20)
    assert not holds(lines, "above", path="Sol/Saturn", longitude=180, latitude=-20)


def test_what_is_known_is_of_what_is_selected() -> None:
    radius = {"path": "Sol/Saturn/Titan", "field": "radius"}
    assert holds(report(selection=TITAN), "answer_known", "2575", **radius)
    assert not holds(report(selection=TITAN), "answer_known", "2475", **radius)
    vega = {"type": "star", "name": "Vega", "path": "Vega", "stellarClass": "A0 V"}
    spectrum = {"path": "Vega", "field": "stellarClass"}
    assert holds(report(selection=vega), "answer_known", "a0v", **spectrum)
    assert not holds(report(selection=vega), "answer_known", "", **spectrum)


def test_the_view_is_along_the_line_of_sight() -> None:
    """The quaternion 1, 0, 0, 0 looks along -z of Celestia's axes, which is y of the ecliptic."""
    observer = {"at": [0, 0, 0], "orientation": [1, 0, 0, 0], "field_of_view": 40.0}
    ahead = report(observer=observer, bodies=bodies(Mars=[0, 1.5, 0.05]))
    assert holds(ahead, "centered", path="Sol/Mars")
    assert not holds(report(observer=observer, bodies=bodies(Mars=[0, -1.5, 0])), "centered", path="Sol/Mars")
    assert not holds(report(observer=observer, bodies=bodies(Mars=[1.5, 0, 0])), "centered", path="Sol/Mars")


def test_flags_are_set_or_not() -> None:
    lines = report(shown={"render": {"orbits": True, "grid": False}, "faintest": 5.6})
    assert holds(lines, "shows", what="render", on=["orbits"], off=["grid"])
    assert not holds(lines, "shows", what="render", on=["orbits", "grid"])
    assert not holds(lines, "shows", what="render", off=["what Celestia does not have"])
    assert holds(lines, "faintest", magnitude=5.6)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*RADII, "at", "radius", "utc"]), inner)
    ),
    max_leaves=12,
)
SUBJECTS = st.sampled_from(["time", "bodies", "observer", "selection", "shown", "main", "refused"])
LINES = st.lists(
    st.builds(lambda what, value: json.dumps({"what": what, "is": value}), SUBJECTS, JSON) | st.text()
)
ARGUMENTS: dict[str, dict[str, Any]] = {
    "time_is": {"utc": "2000-01-01"}, "time_between": {"start": "2000-01-01", "end": "2000-01-02"},
    "time_rate": {"scale": 2.0}, "paused": {"yes": True}, "selected": {"path": "Sol/Mars"},
    "arrived": {"path": "Sol/Mars", "altitude": 10}, "near": {"path": "Sol/Mars", "radii": 10},
    "above": {"path": "Sol/Mars", "longitude": 1, "latitude": 2}, "centered": {"path": "Sol/Mars"},
    "follows": {"path": "Sol/Mars"}, "tracked": {"path": "Sol/Mars"}, "views": {"count": 2},
    "shows": {"what": "render", "on": ["orbits"]}, "faintest": {"magnitude": 5},
    "star_style": {"style": "psf"}, "textures": {"level": 2},
    "close_together": {"first": "Sol/Mars", "second": "Sol/Venus", "seen_from": "Sol/Earth", "within": 1},
    "eclipsed": {"path": "Sol/Earth", "by": "Sol/Earth/Moon"},
    "transit": {"of": "Sol/Venus", "seen_from": "Sol/Earth"},
    "answer_distance": {"first": "Sol/Earth", "second": "Sol/Mars", "unit": "AU"},
    "answer_nearest": {"to": "Sol/Earth", "among": ["Sol/Mars"]},
    "answer_known": {"path": "Sol/Mars", "field": "radius"},
}  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(LINES)
def test_any_report_is_a_state_and_every_predicate_answers(lines: list[str]) -> None:
    assert set(ARGUMENTS) == set(PREDICATES)
    for name, arguments in ARGUMENTS.items():
        assert holds(lines, name, "1", **arguments) in (True, False)


def test_nothing_holds_where_no_program_runs() -> None:
    assert not any(holds([], name, "1", **arguments) for name, arguments in ARGUMENTS.items())


def test_an_installation_tells_its_version(tmp_path: Any) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libcelestia.so.1.7.0").touch()
    assert INSTALLATION.version(tmp_path) == "1.7.0"
    assert INSTALLATION.version(tmp_path / "lib") == ""
