"""How ScienceBoard's tasks for GRASS GIS are played: their calls as verbs and checks of the stock program.

What is read in place of their fork's answers stands in `ADAPTER.sources`.
"""

from __future__ import annotations

import copy
import json
import posixpath
import re
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field

from sci_gym.app import App, Desktop, Requirement
from sci_gym.envs.grass_gis import verbs
from sci_gym.envs.grass_gis.app import FOLDER, script
from sci_gym.envs.grass_gis.locations import (
    FOUND_AT,
    MADE,
    PERMANENT,
    START,
    brought,
    brought_locations,
    hold_map,
    lacking,
)
from sci_gym.envs.grass_gis.state import DUMPED
from sci_gym.scienceboard import (
    HOME,
    Adapter,
    CannotError,
    Judged,
    Lambda,
    LambdaFailedError,
    LambdaRefusedError,
    Source,
    TaskFile,
    command_words,
    judged,
)
from sci_gym.specs import Action, Check, Evidence, Inspection, Verb

_DATABASE = f"{HOME}/grassdata"
_SCRIPT = FOLDER / "guest" / "command.py"
_NAME = re.compile(r"\w[\w.-]*")
_MODULE = re.compile(r"[a-z][a-z0-9]*(?:\.[a-z0-9]+)+")
_MAP = re.compile(r"\b(\w+)@PERMANENT\b")
_OPTION = re.compile(r"[a-z_][a-z0-9_]*")
_WATCHES = ("vector", "sqlite", "cellhd")
_KINDS = ("raster", "vector")
_SAME = "lambda left, right: left == right"


@dataclass(frozen=True, slots=True)
class Session:
    """The location and mapset that a task works in."""

    location: str
    mapset: str


def launch(task: TaskFile, *, command: str | list[str], shell: bool = False) -> list[Verb]:
    """GRASS, which runs already, in the session that the command names."""
    session = _launched(command)
    _hold_data(task)
    stands = session == Session(START, PERMANENT)
    return [] if stands else map(
        task, grassdb=_DATABASE, location=session.location, mapset=session.mapset
    )  # fmt: skip


def map(task: TaskFile, *, grassdb: str, location: str, mapset: str) -> list[Verb]:
    """Work in a mapset."""
    _session(grassdb, location, mapset)
    return [Verb("scienceboard_map", {"location": location, "mapset": mapset})]


def layer(task: TaskFile, *, query: dict[str, str]) -> list[Verb]:
    """Show a map of the mapset that is worked in."""
    name, kind = query.get("name", ""), query.get("type", "")
    if set(query) - {"name", "type"} or not _NAME.fullmatch(name) or kind not in ("", *_KINDS):
        raise CannotError(f"looks for a layer by {query!r}; only a name and the type raster or vector are.")
    session = _sessions(task)[-1]
    hold_map(session.location, name)
    return [Verb("scienceboard_layer", {"name": name, "kind": kind, **_place(session)})]


def scale(task: TaskFile, *, scale: Annotated[float, Field(gt=0)]) -> list[Verb]:
    """Draw the map display at 1 to a number."""
    return [Verb("scienceboard_scale", {"scale": scale})]


def info(task: TaskFile, *, key: str, value: Any, pred: str = _SAME) -> Judged:
    """A condition on the interface's own data."""
    for part in sorted(_lambda("key", key, 1).parts - {"windows", *DUMPED}):
        raise CannotError(f"asks for {part!r} of the interface, which the stock program does not tell.")
    _lambda("pred", pred, 2)
    return judged("grass_gis.scienceboard_info", key=key, value=value, pred=pred)


def db(
    task: TaskFile, *, cmd: str, kwargs: dict[str, str | int | float], key: str, value: Any, pred: str = _SAME
) -> Judged:
    """A condition on what a command of GRASS's prints."""
    if not _MODULE.fullmatch(cmd) or not all(_OPTION.fullmatch(name) for name in kwargs):
        raise CannotError(f"runs {cmd!r} with {sorted(kwargs)!r}, which is no command of GRASS's.")
    session = _sessions(task)[-1]
    words = [f"-{text}" if name == "flags" else f"{name}={text}" for name, text in kwargs.items()]
    inspection = Inspection(
        name=f"grass_gis.command {session.location} {' '.join([cmd, *words])}",
        argv=("/usr/bin/python3", "-I", "-", session.location, cmd, *words),
        stdin=_SCRIPT.read_bytes(),
        watches=tuple(f"grassdata/{session.location}/{session.mapset}/{one}" for one in _WATCHES),
    )
    _lambda("key", key, 1), _lambda("pred", pred, 2)
    command = inspection.name.partition(" ")[2]
    arguments = {"command": command, "key": key, "value": value, "pred": pred}
    check = Check("grass_gis.scienceboard_db", arguments)
    return Judged((check,), inspections=(inspection,))


def show_layer(desktop: Desktop, *, name: str, kind: str, location: str, mapset: str) -> None:
    """Show a map; where it may be a raster or a vector, it is what there is."""
    if not kind:
        rasters = f"grassdata/{location}/{mapset}/cellhd/{name}"
        told = desktop.act(Action.code(f"test -e {rasters} && echo raster || echo vector", "shell"))
        kind = told.output.split()[0]
    verbs.layer(desktop, map=f"{name}@{mapset}", type=kind)


def set_scale(desktop: Desktop, *, scale: float) -> None:
    """Draw the map display at a scale."""
    verbs.scale(desktop, denominator=scale)


def scienceboard_info(evidence: Evidence, *, key: str, value: Any, pred: str) -> bool:
    """A condition holds of the interface's own data."""
    return _holds(evidence.state.get("grass_gis", {}).get("dump"), key, value, pred)


def scienceboard_db(evidence: Evidence, *, command: str, key: str, value: Any, pred: str) -> bool:
    """A condition holds of what a command printed."""
    return _holds(evidence.state.get("grass_gis", {}).get("commands", {}).get(command), key, value, pred)


def on_published_data(app: App) -> App:
    """GRASS on the locations that ScienceBoard's tasks speak of."""
    twin, folder = copy.copy(app), brought()
    (program,) = app.programs
    argv = ("/usr/bin/python3", "-I", "-c", script("published.py"), str(folder or ""))
    started = replace(program, argv=argv, env={**program.env, "SCI_GYM_GRASS_DUMP": "1"})
    shown = [
        Requirement(str(place / PERMANENT / "DEFAULT_WIND"), "", f"the location {name}", str(folder))
        for name, place in brought_locations().items()
    ]
    vars(twin).update(programs=(started,), requirements=(*app.requirements, *shown))
    return twin


ADAPTER = Adapter(
    program="GrassGIS",
    executables=frozenset({"grass"}),
    setup={"launch": launch, "map": map, "layer": layer, "scale": scale},
    checks={"info": info, "db": db},
    verbs={
        "scienceboard_map": verbs.work_in,
        "scienceboard_layer": show_layer,
        "scienceboard_scale": set_scale,
    },
    predicates={check.__name__: check for check in (scienceboard_info, scienceboard_db)},
    sources=(
        Source("POST /init/map", "the dialog of Settings, GRASS working environment", True),
        Source("POST /init/layer", "the toolbar's dialog of the map's type, with the map's name", False,
               "theirs is a double click in the data catalog, and has no properties dialog yet"),
        Source("POST /init/scale", "the status bar's field", True),
        Source("GET /dump: layers, windows", "the attributes of the layer tree's maps and items, in its own "
               "process", True),
        Source("GET /dump: toolbars, statusbar, region", "those of the first map display, likewise", True),
        Source("GET /dump: output", "the end of the console's text, 40,000 characters", True),
        Source("POST /gcmd", "the command, in a session of its own, on the maps as they are stored", True,
               "in the location that the task works in, whichever the policy has gone to"),
        Source("POST /gcmd v.db.select format=json: info.columns",
               "what v.info -c tells of the same map, in the form of GRASS 8.3 and later", True),
        Source("location world_latlong_wgs84", "GRASS's demo location", True),
        Source("location natural_earth_dataset", "the countries of Natural Earth 1:110m, of GRASS's demo "
               "location, with two points added as their manual says; the land as a raster", False,
               "theirs is 1:10m, with many more maps; tasks that need those or ask are refused"),
    ),
    played_on=on_published_data,
)  # fmt: skip


def _launched(command: str | list[str]) -> Session:
    words = command_words(command)
    if words == ["grass", "--gui"]:
        return Session(START, PERMANENT)
    if len(words) != 3 or posixpath.basename(words[0]) != "grass" or words[1] != "--gui":
        raise CannotError(f"launches {words!r}; only `grass --gui DATABASE/LOCATION/MAPSET` is.")
    database, *place = words[2].rstrip("/").rsplit("/", 2)
    if len(place) != 2:
        raise CannotError(f"starts in {words[2]!r}, which is no DATABASE/LOCATION/MAPSET.")
    return _session(database, place[0], place[1])


def _session(database: str, location: str, mapset: str) -> Session:
    """A session in our database.

    Raises:
        CannotError: it is in another, or these are no names.
    """
    if posixpath.normpath(database) != _DATABASE:
        raise CannotError(f"works in the database {database!r}; here it is {_DATABASE}.")
    if not (_NAME.fullmatch(location) and _NAME.fullmatch(mapset)):
        raise CannotError(f"works in {location!r} and {mapset!r}, which are no names.")
    return Session(location, mapset)


def _sessions(task: TaskFile) -> list[Session]:
    """Where the task works, one after the other."""
    found = [Session(START, PERMANENT)]
    for item in task.document.initialize:
        if item.func == "launch":
            found.append(_launched(item.fields["command"]))
        elif item.func == "map":
            found.append(Session(str(item.fields.get("location")), str(item.fields.get("mapset"))))
    return found


def _place(session: Session) -> dict[str, str]:
    return {"location": session.location, "mapset": session.mapset}


def _hold_data(task: TaskFile) -> None:
    """Refuse a task whose data are not here: a location, or of a made one a map, or what answers it."""
    document, here = task.document, brought_locations()
    named = [session.location for session in _sessions(task)]
    named += [name for name in FOUND_AT if name in document.instruction]
    for location in named:
        if location not in here and location not in MADE:
            raise CannotError(lacking(f"the location {location!r}", location))
    asks = any(item.type == "stop" and item.fields.get("value") == "ANS" for item in document.evaluate)
    if asks and named[-1] not in here:
        raise CannotError(lacking(f"what stands in all maps of {named[-1]!r}", named[-1]))
    if named[-1] not in here:
        for name in _MAP.findall(json.dumps([item.fields for item in document.evaluate])):
            hold_map(named[-1], name)


def _lambda(name: str, text: str, parameters: int) -> Lambda:
    try:
        found = Lambda(text)
    except LambdaRefusedError as exc:
        raise CannotError(f"{name}: {exc}") from exc
    if found.parameters != parameters:
        raise CannotError(f"{name}: {text!r} takes {found.parameters} values, not {parameters}.")
    return found


def _holds(data: Any, key: str, value: Any, pred: str) -> bool:
    """Whether a condition holds of what a key finds in data; not where something is missing."""
    if data in (None, {}):
        return False
    try:
        return bool(Lambda(pred)(Lambda(key)(data), value))
    except LambdaFailedError:
        return False
