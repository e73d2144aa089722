"""What a task can ask of ChimeraX: named conditions on the state that `ChimeraX.read_state` gives.

Molecules are compared by what they are and where, wherever the camera is. `of` is an address, see
`molecules.atoms`; no condition holds of an address that nothing has, nor of a program that is gone.

Raises, all of them: `ConfigurationError` for what is no address.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from sci_gym.envs.chimerax import molecules
from sci_gym.envs.chimerax.molecules import atoms, identity, places, residues, same_color
from sci_gym.envs.chimerax.state import state_of
from sci_gym.evaluation import parse_number
from sci_gym.specs import Evidence

STYLES = {"sphere": 0, "ball": 1, "stick": 2}
LIGHTS = {  # preset: shadows, maps of multishadow, and least and most ambient light
    "simple": (False, False, 0.3, 0.5),
    "soft": (False, True, 1.0, 2.0),
    "full": (True, True, 0.5, 1.5),
    "flat": (False, False, 1.0, 2.0),
}
_BOND_A = 3.6
_HUE_SLACK = 8.0


def style(evidence: Evidence, *, of: str, equals: Literal["sphere", "stick", "ball"]) -> bool:
    """These atoms are shown in a style, and no other atoms of polymers are."""
    state = state_of(evidence.state)
    wanted = {identity(one) for one in atoms(state, of)}
    drawn = [one for one in atoms(state) if one["visible"] and one["style"] == STYLES[equals]]
    polymers = {identity(one) for one in drawn if one["polymer"]}
    return bool(wanted) and wanted <= {identity(one) for one in drawn} and polymers <= wanted


def atoms_shown(evidence: Evidence, *, of: str, only: bool = False) -> bool:
    """These atoms are shown; only: and no others."""
    state = state_of(evidence.state)
    wanted = {identity(one) for one in atoms(state, of)}
    shown = {identity(one) for one in atoms(state) if one["visible"]}
    return bool(wanted) and (shown == wanted if only else wanted <= shown)


def atoms_hidden(evidence: Evidence, *, of: str) -> bool:
    """None of these atoms is shown, but they are there."""
    found = atoms(state_of(evidence.state), of)
    return bool(found) and not any(one["visible"] for one in found)


def atoms_color(evidence: Evidence, *, of: str, color: str) -> bool:
    """These atoms, and no others, have a colour."""
    state = state_of(evidence.state)
    wanted = {identity(one) for one in atoms(state, of)}
    colored = {identity(one) for one in atoms(state) if same_color(one["color"], color)}
    return bool(wanted) and colored == wanted


def cartoon(evidence: Evidence, *, of: str, shown: bool) -> bool:
    """The cartoon of all these residues is shown, or of none."""
    found = residues(state_of(evidence.state), of)
    return bool(found) and all(one["cartoon"] is shown for one in found)


def cartoon_color(evidence: Evidence, *, of: str, color: str) -> bool:
    """The cartoon of these residues, and of no others, is shown and has a colour."""
    state = state_of(evidence.state)
    wanted = [(one["model"], one["chain"], one["number"]) for one in residues(state, of)]
    colored = [
        (one["model"], one["chain"], one["number"])
        for one in residues(state)
        if one["cartoon"] and same_color(one["color"], color)
    ]
    return bool(wanted) and colored == wanted


def rainbow(evidence: Evidence, *, of: str) -> bool:
    """The cartoon runs through the hues, from blue at the first of these residues to red at the last."""
    found = residues(state_of(evidence.state), of)
    hues = [molecules.hue_degrees(one["color"]) for one in found if one["cartoon"]]
    if len(hues) < 3 or len(hues) != len(found):
        return False
    falls = all(later <= earlier + _HUE_SLACK for earlier, later in itertools.pairwise(hues))
    return falls and 200 <= hues[0] <= 260 and hues[-1] <= 20


def by_b_factor(evidence: Evidence, *, of: str, structure: str) -> bool:
    """The redder a residue's cartoon, the higher its B-factor in a structure of this folder."""
    found = residues(state_of(evidence.state), of)
    known = {(one["chain"], one["residue"]): one["b_factor"] for one in molecules.shipped(structure)}
    rows = sorted((known.get((one["chain"], one["number"]), 0.0), one["color"]) for one in found)
    red = [molecules.redness(color) for _, color in rows]
    rises = all(b >= a - 0.05 for a, b in itertools.pairwise(red))
    return len(red) > 2 and rises and red[0] < -0.4 and red[-1] > 0.4


def selected(evidence: Evidence, *, of: str) -> bool:
    """These atoms are selected, and no others."""
    state = state_of(evidence.state)
    wanted = {identity(one) for one in atoms(state, of)}
    return bool(wanted) and {identity(one) for one in atoms(state) if one["selected"]} == wanted


def selected_near(evidence: Evidence, *, of: str, within: float) -> bool:
    """Selected is each residue of which an atom is within so many angstroms; that of `of` itself may be."""
    state = state_of(evidence.state)
    center, everything = atoms(state, of), atoms(state)
    if not center:
        return False
    itself = {identity(one)[:3] for one in center}
    away = places(everything)[:, None, :] - places(center)[None, :, :]
    near = np.sqrt((away**2).sum(axis=2)).min(axis=1) <= within
    wanted = {identity(one)[:3] for one, close in zip(everything, near, strict=True) if close} - itself
    picked = [one for one in everything if one["selected"] and identity(one)[:3] not in itself]
    whole = [one for one in everything if identity(one)[:3] in wanted]
    return bool(wanted) and {identity(one) for one in picked} == {identity(one) for one in whole}


def surface(
    evidence: Evidence,
    *,
    chain: str,
    shown: bool = True,
    style: str = "",
    transparency: float | None = None,
    color: str = "",
) -> bool:
    """A chain, and no other, has a surface that is shown; transparency in percent; "" and None are any."""
    drawn = [one for one in _models(evidence, "shows") if one.get("shown") and _amount(one["shows"])]
    chains = {key.rpartition("/")[2] for one in drawn for key in one["shows"]}
    if not shown:
        return bool(molecules.structures(state_of(evidence.state))) and chain not in chains
    if chains != {chain}:
        return False
    tones = [tone for one in drawn for tone, share in one.get("colors", {}).items() if _is_much(share)]
    clear = [1 - int(tone[7:9] or "ff", 16) / 255 for tone in tones]
    return (
        (not style or all(one.get("style") == style for one in drawn))
        and (not color or all(same_color(tone[:7], color) for tone in tones))
        and (transparency is None or all(abs(100 * one - transparency) < 3 for one in clear))
    )


def labeled(evidence: Evidence, *, of: str) -> bool:
    """Each of these residues, and no other, has a visible label, which shows its name and number."""
    state = state_of(evidence.state)
    wanted = {identity(one)[:3] for one in atoms(state, of)}
    told = [one for model in _models(evidence, "labels") for one in model["labels"] if one["visible"]]
    found = {(one["model"], one["chain"], one["number"]) for one in told}
    named = {identity(one)[:3]: (one["residue_name"], str(one["residue"])) for one in atoms(state, of)}
    whole = all(
        tuple(one["text"].split()[-2:]) == named.get((one["model"], one["chain"], one["number"]))
        for one in told
    )
    return bool(wanted) and found == wanted and whole


def measured(evidence: Evidence, *, first: str, second: str) -> bool:
    """A distance between two atoms is shown, which ChimeraX draws where both of them are."""
    state = state_of(evidence.state)
    ends = [{identity(one) for one in atoms(state, of) if one["visible"]} for of in (first, second)]
    if any(len(end) != 1 for end in ends):
        return False
    groups = [
        one for one in _models(evidence, "bonds") if one.get("name") == "distances" and one.get("shown")
    ]
    pairs = [{tuple(bond["first"]), tuple(bond["second"])} for one in groups for bond in one["bonds"]]
    return ends[0] | ends[1] in pairs


def hydrogen_bonds(evidence: Evidence, *, helix: str) -> bool:
    """Hydrogen bonds are shown, those of a helix among them: from each N to the O four residues before."""
    state = state_of(evidence.state)
    groups = [one for one in _models(evidence, "bonds") if "hydrogen" in str(one.get("name"))]
    bonds = [bond for one in groups if one.get("shown") for bond in one["bonds"] if bond["shown"]]
    pairs = [{tuple(bond["first"]), tuple(bond["second"])} for bond in bonds]
    found = atoms(state, helix)
    givers = {one["residue"]: one for one in found if one["name"] == "N"}
    takers = {one["residue"] + 4: one for one in found if one["name"] == "O"}
    turns = [(givers[number], takers[number]) for number in sorted(givers.keys() & takers.keys())]
    near = [(a, b) for a, b in turns if _apart(a, b) < 3.1]
    return (
        len(near) > 3
        and all({identity(a), identity(b)} in pairs for a, b in near)
        and all(bond["length"] <= _BOND_A for bond in bonds)
    )


def superposed(evidence: Evidence, *, moving: str, onto: str, within: float) -> bool:
    """Atoms of one structure lie on those of another, by residue and name: RMSD below so many angstroms."""
    state = state_of(evidence.state)
    targets = {(one["residue"], one["name"]): one for one in atoms(state, onto)}
    pairs = [(one, targets.get((one["residue"], one["name"]))) for one in atoms(state, moving)]
    whole = [(a, b) for a, b in pairs if b is not None]
    if len(whole) < 3 or len(whole) != len(targets):
        return False
    away = places([a for a, _ in whole]) - places([b for _, b in whole])
    return bool(np.sqrt((away**2).sum(axis=1).mean()) < within)


def holds_only(evidence: Evidence, *, structure: str, of: str) -> bool:
    """The only open structure has these atoms of one of this folder, where they were, and no others."""
    state = state_of(evidence.state)
    if len(molecules.structures(state)) != 1:
        return False
    return _same_atoms(atoms(state), molecules.picked(molecules.shipped(structure), of))


def in_place(evidence: Evidence, *, model: str, structure: str) -> bool:
    """A model has the atoms of a structure of this folder, where they are there."""
    found = atoms(state_of(evidence.state), f"#{model}")
    return _same_atoms(found, molecules.shipped(structure))


def gone(evidence: Evidence, *, of: str, left: str) -> bool:
    """None of these atoms is there any more, while others are left."""
    state = state_of(evidence.state)
    return not atoms(state, of) and bool(atoms(state, left))


def is_open(evidence: Evidence, *, structure: str, count: int = 1) -> bool:
    """So many open structures have the atoms of one of this folder, wherever they are."""
    state = state_of(evidence.state)
    wanted = sorted(one["name"] for one in molecules.shipped(structure))
    found = molecules.structures(state).values()
    return sum(sorted(one["name"] for one in model["atoms"]) == wanted for model in found) == count


def shown(evidence: Evidence, *, model: str, shown: bool) -> bool:
    """A model is there, and shown or not, by its id."""
    models = state_of(evidence.state).get("models", {})
    return model in models and models[model].get("shown") is shown


def background(evidence: Evidence, *, color: str) -> bool:
    """The scene's background has a colour."""
    return same_color(_view(evidence).get("background", "")[:7], color)


def silhouettes(evidence: Evidence, *, on: bool) -> bool:
    """Outlines are drawn or not."""
    return _view(evidence).get("silhouettes") is on


def lighting(evidence: Evidence, *, preset: Literal["simple", "soft", "full", "flat"]) -> bool:
    """The lights are those of a preset."""
    view = _view(evidence)
    casts, many, least, most = LIGHTS[preset]
    if not view:
        return False
    key = view.get("key_light", 0) > 0
    keyed = key is (preset in ("simple", "full"))
    ambient = least <= view.get("ambient_light", 0) <= most
    return keyed and ambient and view.get("shadows") is casts and (view.get("multishadow", 0) > 0) is many


def camera(evidence: Evidence, *, kind: str) -> bool:
    """The camera is of a kind, such as "mono" or "ortho"."""
    return bool(_view(evidence).get("camera") == kind)


def focused(evidence: Evidence, *, of: str, fills: float = 0.3) -> bool:
    """These atoms are in the middle of the picture, and fill at least so much of its width or height."""
    seen = molecules.in_view(_view(evidence), places(atoms(state_of(evidence.state), of)))
    if not len(seen):
        return False
    middle, size = (seen.max(axis=0) + seen.min(axis=0)) / 2, (seen.max(axis=0) - seen.min(axis=0)) / 2
    return bool(np.abs(middle).max() < 0.25 and size.max() >= fills and np.abs(seen).max() <= 1.1)


def sequence_shown(evidence: Evidence, *, model: str, chain: str) -> bool:
    """A viewer of sequences is open, with a sequence that belongs to a chain."""
    state = state_of(evidence.state)
    viewed = any(one.get("tool") == "Sequence Viewer" for one in state.get("tools", []))
    rows = [row for one in state.get("alignments", []) for row in one["sequences"]]
    return viewed and any([model, chain] in row["chains"] for row in rows)


def pdb_file(evidence: Evidence, *, path: str, structure: str, of: str = "") -> bool:
    """A file of the home holds these atoms of a structure of this folder, and no others."""
    data = evidence.files.get(path)
    if data is None:
        return False
    found = molecules.parse_pdb(data.decode("utf-8", "replace"))
    return _same_atoms(found, molecules.picked(molecules.shipped(structure), of))


def answer_distance(evidence: Evidence, *, first: str, second: str, tolerance: float = 0.02) -> bool:
    """The answer is how far two atoms are apart, in angstroms."""
    state = state_of(evidence.state)
    ends = [atoms(state, of) for of in (first, second)]
    number = parse_number(evidence.answer or "")
    if number is None or any(len(end) != 1 for end in ends):
        return False
    return abs(number - _apart(ends[0][0], ends[1][0])) <= tolerance


def _view(evidence: Evidence) -> Mapping[str, Any]:
    view: Mapping[str, Any] = state_of(evidence.state).get("view", {})
    return view


def _models(evidence: Evidence, key: str) -> list[Mapping[str, Any]]:
    """Models that tell something."""
    return [one for one in state_of(evidence.state).get("models", {}).values() if key in one]


def _amount(counts: Mapping[str, Any]) -> int:
    return sum(count for count in counts.values() if isinstance(count, int))


def _is_much(share: object) -> bool:
    return isinstance(share, float | int) and share > 0.02


def _apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    return float(np.linalg.norm(np.subtract(one["at"], other["at"])))


def _same_atoms(found: Any, wanted: Any) -> bool:
    """Whether both have the same atoms, each at the same place."""
    keys = [
        {(one["chain"], one["residue"], one["residue_name"], one["name"]): one["at"] for one in listed}
        for listed in (found, wanted)
    ]
    if not keys[1] or keys[0].keys() != keys[1].keys() or len(keys[0]) != len(found):
        return False
    return all(np.allclose(at, keys[1][key], atol=0.02) for key, at in keys[0].items())


PREDICATES: Mapping[str, Callable[..., bool]] = {
    one.__name__: one
    for one in (
        answer_distance, atoms_color, atoms_hidden, atoms_shown, background, by_b_factor, camera,
        cartoon, cartoon_color, focused, gone, holds_only, hydrogen_bonds, in_place, is_open, labeled,
        lighting, measured, pdb_file, rainbow, selected, selected_near, sequence_shown, shown,
        silhouettes, style, superposed, surface,
    )
}  # fmt: skip
"""By name, as task files call them after `chimerax.`."""
