"""Reports what ChimeraX holds and shows; loaded into its process by `start.py`.

It looks when the main loop has nothing left to do, and reports what has changed, a line of JSON for each
subject, on a socket that nothing else of the guest can open. What cannot be read is reported as null.
"""

import json
import os
import time

LONGEST_LINE = 60_000
ATOMS_A_LINE = 250
MOST_ATOMS = 20_000
AGAIN_S = 0.03
LOG_CHARS = 40_000
# ScienceBoard's tasks ask for values of the session by their paths in it, of which these are told.
DUMPS = os.environ.pop("SCI_GYM_CHIMERAX_DUMP", "") == "1"
OF_MODEL = (
    "_name", "_ring_drawing.name", "_ladder_params.stubs_only", "_pbond_drawing.name",
    "_pbond_drawing._opaque_color_count", "_pbond_drawing._colors",
    "_atoms_drawing._positions._shift_and_scale",
)  # fmt: skip
MARKS = ("_nucleotide_info", "_nucleotide_changes")
OF_VIEW = (
    "_background_rgba", "_render.lighting.ambient_light_intensity",
    "_render.lighting.multishadow_depth_bias", "_render.silhouette.depth_jump",
)  # fmt: skip
VIEW = "_atoms_drawing._draw_shape.bindings._opengl_context.window.view"


class Reporter:
    """The channel, and what was last said on it."""

    def __init__(self, descriptor):
        self._descriptor, self._said = descriptor, {}

    def say(self, what, value):
        """Report a subject if it is another than before."""
        line = json.dumps({"what": what, "is": value})
        if len(line) > LONGEST_LINE:
            line = json.dumps({"what": what, "is": None})
        if self._said.get(what) != line:
            self._said[what] = line
            os.write(self._descriptor, line.encode() + b"\n")


def watch(session, descriptor, interface):
    """Report from now on, whenever the main loop is about to sleep."""
    from Qt.QtCore import QAbstractEventDispatcher

    reporter, looked = Reporter(descriptor), [0.0]

    def look():
        now = time.monotonic()
        if now - looked[0] >= AGAIN_S:
            report(session, reporter, interface)
            looked[0] = time.monotonic()

    QAbstractEventDispatcher.instance().aboutToBlock.connect(look)


def report(session, reporter, interface):
    """Report every subject, the list of models last: it says which lines of atoms belong to the state."""
    models, listed = session.models.list(), []
    for model in models:
        parts = attempt(report_atoms, model, reporter) if hasattr(model, "num_residues") else 0
        listed.append({**(attempt(describe, model) or {}), "id": model.id_string, "parts": parts})
    reporter.say("view", attempt(view, session))
    reporter.say("tools", attempt(tools, session))
    reporter.say("alignments", attempt(alignments, session))
    if DUMPS:
        for what, value in (attempt(dump, session, models) or {}).items():
            reporter.say(f"dump {what}", value)
    for start in range(0, len(listed), 20):
        reporter.say(f"models {start // 20}", listed[start : start + 20])
    reporter.say("main", {"interface": interface, "models": len(listed), "parts": -(-len(listed) // 20)})


def dump(session, models):
    """What ScienceBoard's bundle writes, as far as its tasks ask: values by their paths, by subject."""
    told, view = {"selected": [], "log": {}}, session.main_view
    for place, model in enumerate(models):
        path = f"_state_containers.models._models.{model.id}"
        found = {f"{path}.{name}": plain(reach(model, name)) for name in OF_MODEL if has(model, name)}
        found.update({f"{path}.{name}": True for name in MARKS if getattr(model, name, None) is not None})
        if place == 0:
            bounds = view.drawing_bounds()
            found[f"{path}._redraw_needed.cached_drawing_bounds.xyz_min"] = plain(bounds and bounds.xyz_min)
            found.update(
                {f"{path}.{VIEW}.{name}": plain(reach(view, name)) for name in OF_VIEW if has(view, name)}
            )
        told[f"model {place}"] = found
        if hasattr(model, "num_residues"):
            chosen = model.atoms.filter(model.atoms.selected)
            told["selected"] += [
                [model.id_string, *address(one.residue), one.name, one.idatm_type] for one in chosen
            ]
    for tool in session.tools.list():
        if tool.tool_name == "Log":
            told["log"] = {"_state_containers.tools.log.page_source": tool.page_source[-LOG_CHARS:]}
    told["models"] = len(models)
    return told


def reach(thing, path):
    """An attribute of an attribute and so on; AttributeError where there is none."""
    for name in path.split("."):
        thing = getattr(thing, name)
    return thing


def has(thing, path):
    """Whether there is such an attribute, with a value."""
    try:
        return reach(thing, path) is not None
    except AttributeError:
        return False


def plain(value):
    """A value as JSON has it; an array as numpy writes it, on one line."""
    return value if isinstance(value, int | float | bool | str | None) else str(value).replace("\n", "")


def attempt(reader, *arguments):
    """What a reader gives; None while it is being changed, or where this version of the program differs."""
    try:
        return reader(*arguments)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, RuntimeError):
        return None


def describe(model):
    """A model of any kind."""
    found = {
        "name": model.name,
        "kind": type(model).__name__,
        "shown": bool(model.visible),
        "selected": bool(model.get_selected(include_children=False)),
        "color": hexadecimal(model.color) if model.color is not None else None,
        "place": rounded(model.scene_position.matrix),
    }
    for reader in (structure, bonds, labels, label_2d, surface):
        found.update(attempt(reader, model) or {})
    return found


def structure(model):
    """Residues of an atomic structure, with how their ribbons look."""
    residues = model.residues
    rows = zip(
        residues.chain_ids, residues.numbers, residues.names, residues.ribbon_displays,
        residues.ribbon_colors, residues.ss_types, residues.polymer_types,
    )  # fmt: skip
    chains = {chain.chain_id: chain.ungapped() for chain in model.chains}
    listed = [
        [str(chain), int(number), str(name), bool(shown), hexadecimal(color), int(ss), int(polymer)]
        for chain, number, name, shown, color, ss, polymer in rows
    ]
    return {"atoms": model.num_atoms, "residues": listed, "chains": chains}


def report_atoms(model, reporter):
    """Every atom: name, element, index of its residue, place in the scene, shown, style, colour, selected.

    A shown atom of the backbone may still be left out of the picture, for the cartoon that is drawn there.
    """
    atoms = model.atoms
    if len(atoms) > MOST_ATOMS:
        return 0
    index = model.residues.indices(atoms.residues)
    columns = (
        map(str, atoms.names),
        map(str, atoms.element_names),
        index.tolist(),
        atoms.scene_coords.round(3).tolist(),
        map(bool, atoms.displays),
        atoms.draw_modes.tolist(),
        map(hexadecimal, atoms.colors),
        map(bool, atoms.selected),
    )
    rows = list(zip(*columns))
    for start in range(0, len(rows), ATOMS_A_LINE):
        reporter.say(f"atoms {model.id_string} {start // ATOMS_A_LINE}", rows[start : start + ATOMS_A_LINE])
    return -(-len(rows) // ATOMS_A_LINE)


def bonds(model):
    """A group of pseudobonds, such as distances and hydrogen bonds: its ends, lengths and colours."""
    if not hasattr(model, "pseudobonds"):
        return {}
    found = []
    for bond in list(model.pseudobonds)[:500]:
        ends = [[atom.structure.id_string, *address(atom.residue), atom.name] for atom in bond.atoms]
        found.append([*ends, round(float(bond.length), 4), hexadecimal(bond.color), bool(bond.display)])
    return {"bonds": found, "dashes": int(model.dashes)}


def labels(model):
    """Labels of atoms and residues in the scene."""
    if type(model).__name__ != "ObjectLabels":
        return {}
    found = []
    for label in model.labels():
        thing = label.object
        residue = getattr(thing, "residue", thing)
        atom = thing.name if residue is not thing else ""
        found.append(
            [residue.structure.id_string, *address(residue), atom, str(label.text), bool(label.visible())]
        )
    return {"labels": found}


def label_2d(model):
    """A label on the screen."""
    if type(model).__name__ != "LabelModel":
        return {}
    label = model.label
    return {"text": label.text, "at": [round(label.xpos, 4), round(label.ypos, 4)], "size": label.size}


def surface(model):
    """A molecular surface: the atoms that it encloses and shows, how it is drawn, and its colours."""
    if not hasattr(model, "has_atom_patches"):
        return {}
    colors = model.vertex_colors
    counts = {}
    for color in [model.color] if colors is None else colors:
        counts[hexadecimal(color)] = counts.get(hexadecimal(color), 0) + 1
    most = sorted(counts, key=counts.get, reverse=True)[:12]
    return {
        "encloses": summary(model.atoms),
        "shows": summary(model.show_atoms),
        "style": str(model.display_style),
        "colors": {color: counts[color] / sum(counts.values()) for color in most},
    }


def summary(atoms):
    """How many atoms of which structure and chain."""
    found = {}
    for structure, chain in zip(atoms.structures, atoms.residues.chain_ids):
        key = f"{structure.id_string}/{chain}"
        found[key] = found.get(key, 0) + 1
    return found


def address(residue):
    """Chain and number of a residue."""
    return [str(residue.chain_id), int(residue.number)]


def view(session):
    """The scene: camera, background, lights, centre of rotation."""
    view, area = session.main_view, session.ui.main_window.graphics_window
    camera, light = view.camera, view.lighting
    return {
        "camera": camera.name,
        "place": rounded(camera.position.matrix),
        "field_of_view": round(float(getattr(camera, "field_of_view", 0.0)), 4),
        "field_width": round(float(getattr(camera, "field_width", 0.0)), 4),
        "background": hexadecimal([round(255 * part) for part in view.background_color]),
        "silhouettes": bool(view.silhouette.enabled),
        "shadows": bool(light.shadows),
        "multishadow": int(light.multishadow),
        "key_light": round(float(light.key_light_intensity), 4),
        "fill_light": round(float(light.fill_light_intensity), 4),
        "ambient_light": round(float(light.ambient_light_intensity), 4),
        "depth_cue": bool(light.depth_cue),
        "rotation_center": [round(float(part), 3) for part in view.center_of_rotation],
        "rotation_method": str(view.center_of_rotation_method),
        "window": list(view.window_size),
        "area": [area.width(), area.height()],
    }


def tools(session):
    """Tools with a window on screen."""
    found = []
    for tool in session.tools.list():
        window = getattr(tool, "tool_window", None)
        if window is not None and window.shown:
            found.append({"tool": tool.tool_name, "title": str(window.title)})
    return found


def alignments(session):
    """Sequence alignments: names, sequences, and the chains that belong to them."""
    found = []
    for one in session.alignments.alignments:
        rows = [[sequence.name, sequence.characters, owners(one, sequence)] for sequence in one.seqs]
        found.append({"name": str(one.ident), "sequences": rows})
    return found


def owners(alignment, sequence):
    """Chains that are associated with a sequence."""
    return [[chain.structure.id_string, str(chain.chain_id)] for chain in alignment.match_maps[sequence]]


def hexadecimal(color):
    """A colour as #rrggbbaa."""
    return "#" + "".join(f"{int(part):02x}" for part in color)


def rounded(matrix):
    """A 3 by 4 matrix as lists."""
    return [[round(float(number), 4) for number in row] for row in matrix]
