"""What GRASS's state, predicates and references make of reports and maps, without the program."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sci_gym.envs.grass_gis import reference, world
from sci_gym.evaluation import PredicateSet
from sci_gym.loader import load_app
from sci_gym.specs import A11yTree, Check, Evidence, Inspected, Kind, Observation, Program
from sci_gym.tasks import load_templates

APP = load_app("grass_gis")
PREDICATES = PredicateSet.of(APP)
TEMPLATES = load_templates(APP)
TASKS = [template.instantiate(np.random.default_rng(0)) for template in TEMPLATES.values()]
WHOLE = {"n": world.NORTH, "s": world.SOUTH, "e": world.EAST, "w": world.WEST}
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def observation(lines: list[str], found: dict[str, Inspected] | None = None) -> Observation:
    program = Program(1, "grass", True, 0, 1, tuple(lines), "")
    blank = np.zeros((1, 1, 3), np.uint8)
    return Observation(blank, A11yTree(), (0, 0), (), (program,), {}, True, True, inspections=found or {})


def evidence(rasters: dict[str, Any] | None = None, **more: Any) -> Evidence:
    maps = {name: {"region": WHOLE, "values": values} for name, values in (rasters or {}).items()}
    return Evidence({"grass_gis": {"rasters": maps, **more}}, more.get("files", {}))


def holds(predicate: str, judged: Evidence, **arguments: Any) -> bool:
    return PREDICATES.holds(Check(f"grass_gis.{predicate}", arguments), judged)


def rows(grid: Any) -> list[list[float | None]]:
    return [[None if np.isnan(one) else float(one) for one in row] for row in grid]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["displays", "windows", "plots", "main"]), JSON), max_size=6),
    st.dictionaries(
        st.sampled_from(["grass_gis.raster r", "grass_gis.vector wells", "grass_gis.mapset", "other.x", ""]),
        st.builds(Inspected, JSON.map(lambda one: json.dumps(one).encode()) | st.binary(max_size=9)),
        max_size=4,
    ),
)  # fmt: skip
def test_any_report_gives_a_state_and_every_check_an_answer(
    told: list[tuple[str, Any]], found: dict[str, Inspected]
) -> None:
    lines = [json.dumps({"what": what, "is": value}) for what, value in told]
    state = APP.read_state(observation([*lines, "{", "[]", '{"what": 1}'], found))
    for check in (check for task in TASKS for node in task.graph.nodes for check in node.checks):
        assert PREDICATES.holds(check, Evidence({"grass_gis": state})) in (True, False)
        assert not PREDICATES.holds(check, Evidence({}))


def test_an_inspection_that_failed_says_nothing() -> None:
    good = json.dumps({"region": WHOLE, "values": []}).encode()
    for bad in ({"exit_code": 1}, {"timed_out": True}, {"truncated": True}, {"problem": "x"}):
        found = {"grass_gis.raster a": Inspected(good, **bad)}  # type: ignore[arg-type]
        assert not APP.read_state(observation([], found))["rasters"]
    assert APP.read_state(observation([], {"grass_gis.raster a": Inspected(good)}))["rasters"]


def test_maps_are_compared_by_what_they_hold() -> None:
    double = rows(2 * reference.known("elevation") + 5)
    asked = {"map": "out", "of": "elevation", "factor": 2.0, "offset": 5.0}
    assert holds("raster_sum", evidence({"out": double}), **asked)
    double[40][50] = (double[40][50] or 0) + 0.5
    assert not holds("raster_sum", evidence({"out": double}), **asked)
    assert not holds("raster_sum", evidence({"out": double[1:]}), **asked)
    assert not holds("raster_sum", evidence({"other": double}), **asked)


def test_no_data_and_zero_both_mark_what_does_not_qualify() -> None:
    high = reference.known("elevation") > 300
    asked = {"map": "out", "of": "elevation", "limit": 300.0}
    for grid in (high.astype(float), np.where(high, 1.0, np.nan)):
        assert holds("raster_above", evidence({"out": rows(grid)}), **asked)
    assert not holds("raster_above", evidence({"out": rows(np.ones_like(high, float))}), **asked)
    assert not holds("raster_above", evidence({"out": rows(2 * high)}), **asked)


def test_a_map_of_another_extent_is_another_map() -> None:
    whole = rows(reference.slope())
    judged = evidence({"out": whole})
    assert holds("raster_slope", judged, map="out")
    judged.state["grass_gis"]["rasters"]["out"]["region"] = {**WHOLE, "n": world.NORTH + 50}
    assert not holds("raster_slope", judged, map="out")


def test_a_lake_stays_within_its_shores() -> None:
    depth = reference.lake(604_425.0, 5_002_025.0, 250.0)
    wet = ~np.isnan(depth)
    assert wet.any()
    assert not wet.all()
    assert np.allclose(depth[wet], 250 - reference.known("elevation")[wet])
    assert (depth[wet] > 0).all()
    assert np.isnan(reference.lake(600_025.0, 5_003_975.0, 250.0)).all(), "a seed on dry ground fills nothing"


def test_wells_are_told_by_their_places() -> None:
    def judged(kept: list[str]) -> Evidence:
        chosen = [one for one in world.WELLS if one[3] in kept]
        text = "".join(f"P  1 1\n {one[1]:.0f} {one[2]:.0f}\n 1     {one[0]}\n" for one in chosen)
        return evidence(vectors={"wells": {"shapes": text, "table": []}})

    names = [one[3] for one in world.WELLS]
    assert holds("wells", judged(names), map="wells")
    assert holds("wells", judged(names[1:]), map="wells", without=names[0])
    assert not holds("wells", judged(names), map="wells", without=names[0])
    assert not holds("wells", judged(names[2:]), map="wells", without=names[0])
    assert holds("wells", judged(["Fir", "Maple"]), map="wells", names="Fir,Maple")


def test_layers_are_told_with_their_mapset() -> None:
    """A map of one's own that only has the right name is not the map that was asked for."""
    layer = {"name": "elevation@PERMANENT", "visible": True, "opacity": 1.0}
    display = {"layers": [layer], "elements": [], "status_bar": "Coordinates"}
    assert holds("layers", evidence(displays=[display]), names="elevation")
    assert not holds("layers", evidence(displays=[{**display, "layers": [layer, layer]}]), names="elevation")
    for other in ({"name": "elevation@work"}, {"visible": False}, {"opacity": 0.0}):
        assert not holds(
            "layers", evidence(displays=[{**display, "layers": [{**layer, **other}]}]), names="elevation"
        )


def test_a_display_shows_bounds_when_it_shows_little_else() -> None:
    asked = {"north": 5002000.0, "south": 5001000.0, "east": 603000.0, "west": 601000.0}
    wide = {"n": 5002000.0, "s": 5001000.0, "e": 604000.0, "w": 600000.0}
    for region, shown in ((wide, True), ({**wide, "s": 5001500.0}, False), (WHOLE, False), ({}, False),
                          ({**wide, "w": float("nan")}, False)):  # fmt: skip
        assert (
            holds("display_shows", evidence(displays=[{"region": region, "scale": 25100}]), **asked) is shown
        )


@pytest.mark.parametrize(("scale", "right"), [(25100.0, True), (26000.0, False), (float("nan"), False)])
def test_a_scale_is_right_within_a_hundredth(scale: float, right: bool) -> None:
    assert holds("scale", evidence(displays=[{"scale": scale}]), denominator=25000) is right


def test_a_session_is_a_mapset_of_a_location() -> None:
    lines = [json.dumps({"what": "main", "is": "archive/PERMANENT - GRASS GIS"})]
    judged = Evidence({"grass_gis": APP.read_state(observation(lines))})
    assert holds("session", judged, location="archive", mapset="PERMANENT")
    assert not holds("session", judged)


def test_a_tool_is_ready_once_it_has_read_about_its_maps() -> None:
    def judged(busy: object) -> Evidence:
        lines = [json.dumps({"what": what, "is": value}) for what, value in (("main", "x"), ("busy", busy))]
        return Evidence({"grass_gis": APP.read_state(observation(lines))})

    assert holds("tools_ready", judged(False))
    assert not holds("tools_ready", judged(True))


def test_what_smoothing_takes_away_is_the_rest() -> None:
    detail = rows(reference.known("rain") - reference.smoothed("rain", 5))
    assert holds("raster_detail", evidence({"out": detail}), map="out", of="rain", size=5)
    assert not holds("raster_detail", evidence({"out": detail}), map="out", of="rain", size=3)


@pytest.mark.parametrize(
    ("answer", "right"), [("243.5", True), ("243.25", True), ("250", False), ("", False)]
)
def test_a_lake_has_an_area(answer: str, right: bool) -> None:
    """GRASS's own r.lake tells 2435000 square meters."""
    judged = Evidence({}, {}, Kind.ANS, answer)
    assert holds("lake_answered", judged, east=604025.0, north=5002025.0, level=260.0) is right


@pytest.mark.parametrize("head", ["north: 5004000\nrows: 80\n", "ncols 100\nnrows 80\n"])
def test_an_exported_grid_is_read_whatever_its_head(head: str) -> None:
    grid = reference.known("rain")
    text = head + "\n".join(" ".join(f"{one:.0f}" for one in row) for row in grid)
    file = {"a.txt": text.encode()}
    assert holds("exported_grid", Evidence({}, file), path="a.txt", of="rain")
    assert not holds("exported_grid", Evidence({}, file), path="a.txt", of="elevation")
    assert not holds("exported_grid", Evidence({}, {"a.txt": b"rain"}), path="a.txt", of="rain")


def test_answers_of_questions_are_what_the_world_holds() -> None:
    templates = TEMPLATES
    for seed in range(12):
        draw = np.random.default_rng(seed)
        ask = templates["ask-statistics"].instantiate(draw).parameters["ask"]
        grid = reference.known(ask["map"])
        values = {"highest value": grid.max(), "lowest value": grid.min(), "arithmetic mean": grid.mean()}
        assert abs(values[ask["what"]] - ask["value"]) < 0.006
        use = templates["ask-area"].instantiate(draw).parameters["use"]
        (number,) = (key for key, name in world.LAND_USE.items() if name == use["name"])
        assert (reference.known("landuse") == number).sum() * 0.25 == use["hectares"]
        case = templates["ask-well"].instantiate(draw).parameters["case"]
        deep = [one for one in world.WELLS if one[4] > case["limit"]]
        assert min(deep, key=lambda one: one[5])[3] == case["name"]
        selected = templates["extract-deep"].instantiate(draw).parameters["deep"]
        assert [one[3] for one in world.WELLS if one[4] > selected["limit"]] == selected["names"].split(",")
