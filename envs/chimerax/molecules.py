"""Parts of molecules in a state, by address, and what can be computed of them."""

from __future__ import annotations

import colorsys
import functools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sci_gym.errors import ConfigurationError

STRUCTURES = Path(__file__).resolve().parent / "structures"
_ADDRESS = re.compile(r"(?:#([\d.]+))?(?:/([A-Za-z,]+))?(?::([\w,-]+))?(?:@([\w,]+))?")
Atom = Mapping[str, Any]
Place = np.ndarray[Any, np.dtype[np.float64]]


def structures(state: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The atomic structures by id."""
    return {name: model for name, model in state.get("models", {}).items() if "residues" in model}


def atoms(state: Mapping[str, Any], of: str = "") -> list[Atom]:
    """Atoms by address, a part of ChimeraX's own: "#2/A:5-9,ALA@CA,CB", "/B", ":GOL"; "" are all.

    Raises:
        ConfigurationError: it is no address.
    """
    return [one for one in _atoms(state) if _matcher(of)(one)]


def residues(state: Mapping[str, Any], of: str = "") -> list[Mapping[str, Any]]:
    """Residues of polymers by address, in their order."""
    listed = [
        {**residue, "model": name, "residue": residue["number"], "residue_name": residue["name"]}
        for name, model in structures(state).items()
        for residue in model["residues"]
        if residue["polymer"]
    ]
    return [one for one in listed if _matcher(of)(one)]


def identity(atom: Atom) -> tuple[Any, ...]:
    """What tells an atom from others."""
    return atom["model"], atom["chain"], atom["residue"], atom["name"]


def places(picked: Sequence[Atom]) -> Place:
    """Where atoms are in the scene, in angstroms, of shape [N, 3]."""
    return np.array([one["at"] for one in picked], dtype=float).reshape(-1, 3)


def _atoms(state: Mapping[str, Any]) -> Iterable[Atom]:
    for name, model in structures(state).items():
        for atom in model["atoms"]:
            residue = model["residues"][atom["residue"]]
            yield {
                **atom,
                "model": name,
                "chain": residue["chain"],
                "residue": residue["number"],
                "residue_name": residue["name"],
                "polymer": residue["polymer"],
                "visible": bool(model.get("shown")) and atom["shown"],
            }


@functools.cache
def _matcher(of: str) -> Any:
    found = _ADDRESS.fullmatch(of)
    if found is None:
        raise ConfigurationError(f"chimerax: {of!r} is no address such as #1/A:5-9@CA")
    model, chain, residue, names = found.groups()

    def matches(one: Mapping[str, Any]) -> bool:
        return bool(
            (model is None or one["model"] == model)
            and (chain is None or one["chain"] in chain.split(","))
            and (residue is None or any(_is_residue(one, item) for item in residue.split(",")))
            and (names is None or one["name"] in names.split(","))
        )

    return matches


def _is_residue(one: Mapping[str, Any], item: str) -> bool:
    if not item[0].isdigit():
        return bool(one["residue_name"] == item)
    low, _, high = item.partition("-")
    return bool(int(low) <= one["residue"] <= int(high or low))


def same_color(told: object, wanted: str, tolerance: int = 12) -> bool:
    """Whether "#rrggbbaa" is a colour "#rrggbb" or "#rrggbbaa", each part within a tolerance."""
    parts, wants = _parts(told), _parts(wanted)
    shared = min(len(parts), len(wants))
    pairs = zip(parts[:shared], wants[:shared], strict=True)
    return shared >= 3 and all(abs(a - b) <= tolerance for a, b in pairs)


def hue_degrees(color: object) -> float:
    """The hue of a colour, 0 for what is none."""
    parts = [*_parts(color), 0, 0, 0][:3]
    return 360 * colorsys.rgb_to_hsv(*(part / 255 for part in parts))[0]


def redness(color: object) -> float:
    """How much more red than blue, -1 to 1."""
    red, _, blue = [*_parts(color), 0, 0, 0][:3]
    return (red - blue) / 255


def _parts(color: object) -> list[int]:
    text = str(color).removeprefix("#")
    try:
        return [int(text[start : start + 2], 16) for start in range(0, len(text), 2)]
    except ValueError:
        return []


def in_view(view: Mapping[str, Any], points: Place) -> Place:
    """Points as the camera sees them: (x, y) in halves of the picture's width, of shape [N, 2].

    Points beside the picture are outside -1 to 1 in x; empty where the camera is not known or behind it.
    """
    try:
        place = np.array(view["place"], dtype=float).reshape(3, 4)
        seen = (points - place[:, 3]) @ place[:, :3]
        if view["camera"] == "ortho":
            half = np.full(len(points), float(view["field_width"]) / 2)
        else:
            half = -seen[:, 2] * math.tan(math.radians(float(view["field_of_view"])) / 2)
    except (KeyError, TypeError, ValueError):
        return np.empty((0, 2))
    if not len(points) or (half <= 0).any():
        return np.empty((0, 2))
    return np.asarray(seen[:, :2] / half[:, None], dtype=float)


def parse_pdb(text: str) -> list[dict[str, Any]]:
    """Atoms of a file in PDB format; lines that are none are left out."""
    found = []
    for line in text.splitlines():
        if line[:6] in ("ATOM  ", "HETATM"):
            try:
                at = [float(line[start : start + 8]) for start in (30, 38, 46)]
                number, b_factor = int(line[22:26]), float(line[60:66])
            except ValueError:
                continue
            names = {"name": line[12:16].strip(), "residue_name": line[17:20].strip(), "chain": line[21]}
            found.append({**names, "residue": number, "at": at, "b_factor": b_factor, "model": "1"})
    return found


@functools.cache
def shipped(name: str) -> tuple[dict[str, Any], ...]:
    """Atoms of a structure of this folder.

    Raises:
        ConfigurationError: there is none of that name.
    """
    path = STRUCTURES / f"{name}.pdb"
    if not path.is_file():
        raise ConfigurationError(f"chimerax: no structure {name!r} in {STRUCTURES}")
    return tuple(parse_pdb(path.read_text()))


def picked(listed: Iterable[dict[str, Any]], of: str) -> list[dict[str, Any]]:
    """Atoms of a file by address."""
    return [one for one in listed if _matcher(of)(one)]
