"""How ScienceBoard's tasks for ChimeraX are played: their calls as commands, their checks on what it holds.

What is read in place of their bundle's dump of the session stands in `ADAPTER.sources`.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from sci_gym.app import App, Desktop
from sci_gym.envs.chimerax.dump import found, hold_key, hold_lambda, same
from sci_gym.envs.chimerax.state import state_of
from sci_gym.installation import BroughtApp
from sci_gym.scienceboard import (
    Adapter,
    CannotError,
    Judged,
    LambdaFailedError,
    Pattern,
    PatternRefusedError,
    Source,
    TaskFile,
    command_words,
    home_path,
    judged,
)
from sci_gym.specs import Check, Evidence, Verb

VARIABLE = "SCI_GYM_STRUCTURES"
DUMP = "SCI_GYM_CHIMERAX_DUMP"
_ENTRY = re.compile(r"[0-9][A-Za-z0-9]{3}")
_UNIPROT = re.compile(r"[A-Z0-9]{6,10}")
_WORDS = re.compile(r"[\w ,.:#/@&~()-]+")
_SELECTED = re.compile(r"atom id (?:#!?([\d.]+))?/(\w*):(-?\d+)@(\S+) idatm_type (\S+)")
_RESIDUES = re.compile(r"rescolor /(\w+)")


def launch(task: TaskFile, *, command: str | list[str], shell: bool = False) -> list[Verb]:
    """ChimeraX, which runs already, with the structures that were cached in ScienceBoard's image."""
    program, *arguments = command_words(command)
    if posixpath.basename(program).lower() != "chimerax":
        raise CannotError(f"launches {program!r}, which SciBoard-ChimeraX-v0 does not start.")
    if arguments and not (arguments[0] == "--cmd" and arguments[1].startswith("remotecontrol rest start")):
        raise CannotError(f"launches ChimeraX with {arguments!r}; it is started without commands.")
    return [Verb("scienceboard_brought", {"name": name}) for name in dict.fromkeys(_needed(task))]


def clear_log(task: TaskFile) -> list[Verb]:
    """Empty the log."""
    return _command("log clear")


def open(task: TaskFile, *, name: str) -> list[Verb]:
    """Fetch an entry of the Protein Data Bank, which is cached."""
    if not _ENTRY.fullmatch(name):
        raise CannotError(f"opens {name!r}; only entries of the Protein Data Bank are, such as 3ppd.")
    return _command(f"open {name}")


def turn(task: TaskFile, *, axis: Literal["x", "y", "z"], angle: float) -> list[Verb]:
    """Turn the scene by an angle in degrees."""
    return _command(f"turn {axis} {angle:g}")


def color(task: TaskFile, *, style: str) -> list[Verb]:
    """Colour everything in a style."""
    if not _WORDS.fullmatch(style):
        raise CannotError(f"colours {style!r}, which is no style.")
    return _command("rainbow" if style == "rainbow" else f"color {style}")


def alphafold_match(task: TaskFile, *, name: str) -> list[Verb]:
    """Open AlphaFold's model of a protein."""
    if not _UNIPROT.fullmatch(name):
        raise CannotError(f"matches {name!r}, which is no identifier of UniProt's.")
    return _command(f"open ~/Downloads/{_predicted(name)}")


def download(task: TaskFile, *, url: str, path: str) -> list[Verb]:
    """A structure that the user brings, in place of one from the network."""
    return [Verb("scienceboard_placed", {"name": posixpath.basename(url), "path": home_path(path)})]


def states(
    task: TaskFile, *, key: str, value: Any = None, find: str | None = None, pattern: str | None = None
) -> Judged:
    """A value of the session: at a key, or found by lambdas; exact, or as a regular expression; or none."""
    absent = value is None and pattern is None
    for text, parameters in ((key, 1), (find or "", 2)):
        if text.startswith("lambda"):
            hold_lambda(text, parameters)
    if not key.startswith("lambda"):
        hold_key(key)
    if absent and find is not None:
        raise CannotError("asks that nothing is found by `find`, which ScienceBoard's evaluator cannot tell.")
    if pattern is not None:
        _pattern(pattern)
    arguments = {"key": key, "value": value, "find": find or "", "pattern": pattern or "", "absent": absent}
    return Judged((Check("chimerax.scienceboard_states", arguments),))


def info(task: TaskFile, *, key: str, value: list[str]) -> Judged:
    """The lines that the command `info` would write."""
    if key == "sel":
        if not all(_SELECTED.fullmatch(line) for line in value):
            raise CannotError("asks of the selection for more than atoms and their types.")
    elif not _RESIDUES.fullmatch(key):
        raise CannotError(f"asks for `info {key}`; only `info sel` and `info rescolor /CHAIN` are told.")
    return judged("chimerax.scienceboard_info", key=key, lines=value)


def file(task: TaskFile, *, key: str, value: str) -> Judged:
    """A file holds a text."""
    if value.startswith("lambda"):
        raise CannotError(f"compares a file with what {value!r} gives; only texts are compared.")
    path = home_path(key)
    return Judged((Check("file_contains", {"path": path, "text": value}),), files=(path,))


def put_brought(desktop: Desktop, *, name: str) -> None:
    """Lay a structure where ChimeraX keeps what it has fetched."""
    folder = "AlphaFold" if name.startswith("AF-") else "PDB"
    put_placed(desktop, name=name, path=f"Downloads/ChimeraX/{folder}/{name}")


def put_placed(desktop: Desktop, *, name: str, path: str) -> None:
    """Write a structure that the user brings below the home."""
    desktop.put_file(path, (_brought() / name).read_bytes())


def scienceboard_states(
    evidence: Evidence, *, key: str, value: Any, find: str, pattern: str, absent: bool
) -> bool:
    """The session's dump has a value where a key or lambdas find it."""
    dump = state_of(evidence.state).get("dump")
    if not isinstance(dump, dict) or not dump:
        return False
    try:
        keys = found(dump, key, find)
    except LambdaFailedError:
        return False
    if absent:
        return not keys
    if not keys or keys[0] not in dump:
        return False
    given = dump[keys[0]]
    if pattern:
        return Pattern(pattern).found_in(given if isinstance(given, str) else json.dumps(given))
    return same(given, value)


def scienceboard_info(evidence: Evidence, *, key: str, lines: list[str]) -> bool:
    """`info` would write these lines and no others."""
    state = state_of(evidence.state)
    if key == "sel":
        return _same_selection(state, lines)
    chain = _RESIDUES.fullmatch(key)
    written = {
        f"#{model}/{one['chain']}:{one['number']} color {_hexadecimal(one['color'])}"
        for model, each in state.get("models", {}).items()
        for one in each.get("residues", ())
        if chain is not None and one["chain"] == chain[1]
    }
    return bool(written) and written == set(lines)


def hold(task: TaskFile, app: App) -> None:
    """Refuse a task whose structures the user did not bring."""
    for name in _needed(task):
        if not (_brought() / name).is_file():
            entry = name.removesuffix(".cif")
            known = f"https://alphafold.ebi.ac.uk/files/{name}"
            place = known if name.startswith("AF-") else f"https://files.rcsb.org/download/{entry}.cif"
            raise CannotError(
                f"needs the structure {name}, which ScienceBoard's image had cached: get {place}, and name "
                f"the folder that holds it in {VARIABLE}."
            )


def with_dump(app: App) -> App:
    """ChimeraX, telling of the session under the dump's names."""
    return app.started_with(**{DUMP: "1"}) if isinstance(app, BroughtApp) else app


ADAPTER = Adapter(
    program="ChimeraX",
    executables=frozenset({"chimerax"}),
    setup={
        "launch": launch, "clear_log": clear_log, "open": open, "turn": turn, "color": color,
        "alphafold_match": alphafold_match, "download": download,
    },
    checks={"states": states, "info": info, "file": file},
    verbs={"scienceboard_brought": put_brought, "scienceboard_placed": put_placed},
    predicates={check.__name__: check for check in (scienceboard_states, scienceboard_info)},
    played_on=with_dump,
    hold=hold,
    sources=(
        Source("remotecontrol rest", "the program's own commands, on a socket of the environment", True),
        Source("open", "the command, with the entry in ChimeraX's cache from the folder that the user names",
               True),
        Source("alphafold match", "the command open, on AlphaFold's model from the same folder", False,
               "theirs asks a service on the network and colours by confidence"),
        Source("states: ._name", "the name of each model", True),
        Source("states: ._redraw_needed.cached_drawing_bounds.xyz_min", "the bounds of what is drawn",
               False, "numbers are compared within 0.002, not as text"),
        Source("states: ._nucleotide_info, ._nucleotide_changes, ._ring_drawing.name, "
               "._ladder_params.stubs_only", "the model's attributes of these names", True),
        Source("states: ._pbond_drawing, ._atoms_drawing._positions", "the drawings' attributes", False,
               "numbers are compared within 0.002, not as text"),
        Source("states: view._background_rgba, ._render.lighting, ._render.silhouette", "the main view's",
               False, "numbers are compared within 0.002, not as text"),
        Source("states: page_source", "the end of the Log's page, 40,000 characters", True),
        Source("info sel", "selected atoms and their types", False,
               "compared by model, chain, number and name, however the version at hand writes them"),
        Source("info rescolor", "the colours of residues", True),
    ),
)  # fmt: skip


def _command(text: str) -> list[Verb]:
    return [Verb("chimerax.command", {"text": text})]


def _predicted(name: str) -> str:
    return f"ChimeraX/AlphaFold/{_model_file(name)}"


def _model_file(name: str) -> str:
    return f"AF-{name}-F1-model_v4.cif"


def _needed(task: TaskFile) -> Iterator[str]:
    """File names of the structures that a task opens, downloads, or asks the policy to fetch."""
    for item in task.document.initialize:
        name, url = item.fields.get("name"), item.fields.get("url")
        if item.func == "open" and isinstance(name, str):
            yield f"{name.lower()}.cif"
        elif item.func == "alphafold_match" and isinstance(name, str):
            yield _model_file(name)
        elif item.func == "download" and isinstance(url, str):
            yield posixpath.basename(url)
    for check in task.document.evaluate:
        value = check.fields.get("value")
        if check.type == "states" and isinstance(value, str) and _ENTRY.fullmatch(value):
            yield f"{value.lower()}.cif"


def _brought() -> Path:
    """The folder of structures that the user brings."""
    return Path(os.environ.get(VARIABLE) or os.devnull).expanduser()


def _pattern(text: str) -> None:
    try:
        Pattern(text)
    except PatternRefusedError as exc:
        raise CannotError(str(exc)) from exc


def _same_selection(state: Mapping[str, Any], lines: list[str]) -> bool:
    selected = state.get("dump", {}).get("selected")
    if not isinstance(selected, list):
        return False
    given = {tuple(str(part) for part in atom) for atom in selected}
    only = next(iter({atom[0] for atom in given}), "") if len({atom[0] for atom in given}) == 1 else ""
    met = [one.groups() for line in lines if (one := _SELECTED.fullmatch(line))]
    return given == {tuple(part if part is not None else only for part in one) for one in met}


def _hexadecimal(color: str) -> str:
    """A colour as ChimeraX writes it: without what says that it is opaque."""
    return color.removesuffix("ff") if len(color) == 9 else color
