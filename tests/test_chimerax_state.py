"""ChimeraX's state and predicates, without the program: on reports as it makes them, and on any others."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sci_gym.envs.chimerax import molecules
from sci_gym.envs.chimerax.predicates import PREDICATES
from sci_gym.envs.chimerax.state import read
from sci_gym.errors import ConfigurationError
from sci_gym.specs import Evidence

TAN, RED = "#d2b48cff", "#ff0000ff"
IDENTITY = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 60]]
WATER_AND_SUCH = 101


def report(structure: str, **changes: Any) -> Iterator[str]:
    """The lines of a scene with one structure; changes are functions of an atom's or residue's row."""
    atoms = molecules.shipped(structure)
    keys = list(dict.fromkeys((one["chain"], one["residue"], one["residue_name"]) for one in atoms))
    plain = [(*key, key[1] < WATER_AND_SUCH, TAN, 0, int(key[1] < WATER_AND_SUCH)) for key in keys]
    residues = [changes.get("residue", list)(row) for row in plain]
    rows = []
    for one in atoms:
        place = keys.index((one["chain"], one["residue"], one["residue_name"]))
        row = [one["name"], one["name"][0], place, one["at"], False, 2, TAN, False]
        rows.append(changes.get("atom", lambda row, one: row)(row, one))
    model = {"id": "1", "name": f"{structure}.pdb", "kind": "AtomicStructure", "shown": True, "parts": 1}
    models = [{**model, "residues": residues}, *changes.get("models", [])]
    view = {"camera": "mono", "place": changes.get("place", IDENTITY), "field_of_view": 30.0}
    yield json.dumps({"what": "atoms 1 0", "is": rows})
    yield json.dumps({"what": "models 0", "is": models})
    yield json.dumps({"what": "view", "is": view})
    yield json.dumps({"what": "main", "is": {"interface": "gui", "models": len(models), "parts": 1}})


def holds(lines: Iterator[str] | list[str], name: str, **arguments: Any) -> bool:
    return PREDICATES[name](Evidence(state={"chimerax": read(lines)}), **arguments)


def colored(chain: str, color: str) -> Any:
    return lambda row: [*row[:4], color if row[0] == chain else row[4], *row[5:]]


def changed(of: str, **fields: Any) -> Any:
    """A change of the atoms of an address."""
    columns = {"shown": 4, "style": 5, "color": 6, "selected": 7}

    def change(row: list[Any], one: dict[str, Any]) -> list[Any]:
        if molecules.picked([one], of):
            for name, value in fields.items():
                row[columns[name]] = value
        return row

    return change


def test_colors_are_of_the_right_chain_and_of_no_other() -> None:
    wanted = {"of": "/B", "color": "#ff0000"}
    assert not holds(report("duo"), "cartoon_color", **wanted)
    assert holds(report("duo", residue=colored("B", RED)), "cartoon_color", **wanted)
    assert not holds(report("duo", residue=colored("A", RED)), "cartoon_color", **wanted)
    everywhere = [*report("duo", residue=lambda row: [*row[:4], RED, *row[5:]])]
    assert not holds(everywhere, "cartoon_color", **wanted)


def test_a_style_counts_where_atoms_are_shown() -> None:
    wanted = {"of": "/B", "equals": "sphere"}
    assert holds(report("duo", atom=changed("/B", shown=True, style=0)), "style", **wanted)
    assert not holds(report("duo", atom=changed("/B", style=0)), "style", **wanted)
    assert not holds(report("duo", atom=changed("", shown=True, style=0)), "style", **wanted)


def test_a_selection_is_exact() -> None:
    assert holds(report("duo", atom=changed(":LEU", selected=True)), "selected", of=":LEU")
    assert not holds(report("duo", atom=changed(":LEU,ALA", selected=True)), "selected", of=":LEU")
    assert not holds(report("duo", atom=changed(":5", selected=True)), "selected", of=":LEU")
    assert not holds(report("duo"), "selected", of=":XYZ")


def test_a_zone_is_of_whole_residues_by_distance() -> None:
    atoms = list(molecules.shipped("duo"))
    center = [one["at"] for one in molecules.picked(atoms, ":GOL")]
    close = {one["residue"] for one in atoms if min(math.dist(one["at"], at) for at in center) <= 6}
    address = ":" + ",".join(map(str, sorted(close - {101})))
    for more in ("", ",101"):
        lines = report("duo", atom=changed(address + more, selected=True))
        assert holds(lines, "selected_near", of=":GOL", within=6)
    assert not holds(
        report("duo", atom=changed(address, selected=True)), "selected_near", of=":GOL", within=4
    )
    lone = address.split(",")[0]
    assert not holds(report("duo", atom=changed(lone, selected=True)), "selected_near", of=":GOL", within=6)


def test_focus_is_where_the_camera_looks() -> None:
    center = [-9.5, 8.5, -1.0]
    away = [[1, 0, 0, center[0]], [0, 1, 0, center[1]], [0, 0, 1, center[2] + 12]]
    sideways = [[0, 0, 1, center[0] + 12], [0, 1, 0, center[1]], [-1, 0, 0, center[2]]]
    for place in (away, sideways):
        assert holds(report("duo", place=place), "focused", of=":ZN", fills=0.0)
        assert not holds(report("duo", place=place), "focused", of=":GOL", fills=0.0)
    assert not holds(report("duo"), "focused", of=":GOL")


def test_superposition_is_by_places_and_not_by_names() -> None:
    evidence = [*report("helix")]
    assert holds(evidence, "in_place", model="1", structure="helix")
    assert not holds(evidence, "in_place", model="1", structure="variant")
    assert not holds(evidence, "superposed", moving="#2/A@CA", onto="#1/A@CA", within=1.0)
    assert holds(evidence, "superposed", moving="#1/A@CA", onto="#1/A@CA", within=1.0)


def test_what_is_kept_and_saved_is_the_structure() -> None:
    text = (molecules.STRUCTURES / "duo.pdb").read_text()
    whole = Evidence(state={}, files={"x.pdb": text.encode()})
    moved = Evidence(state={}, files={"x.pdb": text.replace("-9.500", "-9.900").encode()})
    assert PREDICATES["pdb_file"](whole, path="x.pdb", structure="duo")
    assert not PREDICATES["pdb_file"](moved, path="x.pdb", structure="duo")
    assert not PREDICATES["pdb_file"](whole, path="x.pdb", structure="duo", of="/A")
    assert not PREDICATES["pdb_file"](whole, path="y.pdb", structure="duo")
    assert holds(report("duo"), "holds_only", structure="duo", of="")
    assert not holds(report("duo"), "holds_only", structure="duo", of=":1-102")


def test_labels_tell_name_and_number() -> None:
    def labels(*rows: list[Any]) -> list[dict[str, Any]]:
        return [{"id": "1.1", "name": "labels", "kind": "ObjectLabels", "shown": True, "labels": list(rows)}]

    right = ["1", "A", 13, "", "/A TRP 13", True]
    assert holds(report("duo", models=labels(right)), "labeled", of=":TRP")
    assert not holds(report("duo", models=labels([*right[:5], False])), "labeled", of=":TRP")
    assert not holds(report("duo", models=labels([*right[:4], "TRP", True])), "labeled", of=":TRP")
    assert not holds(
        report("duo", models=labels(right, ["1", "A", 1, "", "MET 1", True])), "labeled", of=":TRP"
    )


def test_lines_of_closed_models_do_not_count() -> None:
    *lines, _ = report("duo")
    lines.append(json.dumps({"what": "main", "is": {"interface": "gui", "models": 0, "parts": 0}}))
    assert read(lines)["models"] == {}


def test_no_address_is_a_fault_of_the_task() -> None:
    with pytest.raises(ConfigurationError, match="no address"):
        holds(report("duo"), "selected", of="chain A")


WILD = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
LINES = st.builds(
    lambda what, value: json.dumps({"what": what, "is": value}),
    st.sampled_from(
        [
            "main",
            "models 0",
            "atoms 1 0",
            "view",
            "tools",
            "alignments",
            "dump models",
            "dump model 0",
            "dump selected",
        ]
    ),
    WILD,
)


@settings(max_examples=200, deadline=None)
@given(st.lists(LINES | st.text(max_size=20), max_size=8))
def test_any_report_gives_a_state(lines: list[str]) -> None:
    state = read(lines)
    assert set(state) == {"running", "interface", "models", "view", "tools", "dump", "alignments"}
