"""From a task file and those who play it to a task."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from sci_gym.app import App
from sci_gym.composition import Composition
from sci_gym.errors import ConfigurationError
from sci_gym.evaluation import PredicateSet, Signatures
from sci_gym.scienceboard import generic
from sci_gym.scienceboard.adapter import Adapter, CannotError, Judged, judged
from sci_gym.scienceboard.document import Item, TaskFile
from sci_gym.scienceboard.places import KeyPath, place_name
from sci_gym.specs import Check, Inspection, Kind, Node, TaskGraph, TaskSpec, Verb

STOP = "stop"
_STOPS = (Kind.ANS, Kind.DONE, Kind.FAIL)
_EASY_STEPS, _MEDIUM_STEPS = 5, 10
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Player:
    """An app that plays ScienceBoard's tasks of a program; the app knows their verbs and predicates."""

    app: App
    adapter: Adapter

    @classmethod
    def of(cls, app: App, adapter: Adapter) -> Player:
        """An app with its adapter."""
        return cls(extended(app, adapter), adapter)


@dataclass(frozen=True, slots=True)
class _Call:
    """An item of `initialize` or `evaluate`: who plays it, and under which name and place.

    Attributes:
        player: the one of the program that it is for.
        place: in the file.
        item: as it is for that program: "chimerax_open" is ChimeraX's "open".
        key: the field that names it.
    """

    player: Player
    place: KeyPath
    item: Item
    key: str

    @property
    def name(self) -> str:
        """What is called."""
        return str(getattr(self.item, self.key))


def extended(app: App, adapter: Adapter) -> App:
    """An app that knows the verbs and predicates of ScienceBoard's tasks beside its own."""
    twin = copy.copy(adapter.played_on(app))
    vars(twin)["verbs"] = {**app.verbs, **generic.VERBS, **adapter.verbs}
    vars(twin)["predicates"] = {**app.predicates, **adapter.predicates}
    return twin


def build(file: TaskFile, players: Sequence[Player], task_id: str) -> TaskSpec:
    """The task of a file.

    Args:
        file: what was read.
        players: of the file's own program, then of those that it launches beside it.
        task_id: the task's id.

    Raises:
        TaskFileError: a call or a field is wrong, or not known.
        CannotError: the file asks for what the stock programs or sci_gym cannot give.
    """
    document, own = file.document, players[0]
    if document.sort != "VM":
        raise CannotError(f"is of sort {document.sort!r}; only those on a desktop, of sort 'VM', are played.")
    setup = _calls(players, "initialize", "func", document.initialize)
    asked = _calls(players, "evaluate", "type", document.evaluate)
    shares = {player.app.name: _share(file, players, player, [*setup, *asked]) for player in players}
    for player in players:
        player.adapter.hold(shares[player.app.name], player.app)
    stop = _stop(file)
    items = [_judged(file, shares, call) for call in asked]
    _validate(players, [check for item in items for check in item.checks])
    return TaskSpec(
        id=task_id,
        app=own.app.name,
        difficulty=_difficulty(document.steps),
        instruction=document.instruction,
        parameters={},
        setup=tuple(verb for call in setup for verb in _set_up(file, shares, call, own)),
        graph=_graph(asked, items),
        infeasible=stop is Kind.FAIL,
        question=stop is Kind.ANS,
        max_steps=document.steps,
        stagnation_steps=0,
        files=tuple(dict.fromkeys(path for item in items for path in item.files)),
        inspections=_inspections(asked, items),
        oracles={},
        source=str(file.path),
    )


def _calls(players: Sequence[Player], field: str, key: str, items: Sequence[Item]) -> list[_Call]:
    return [_call(players, (field, place), item, key) for place, item in enumerate(items)]


def _call(players: Sequence[Player], place: KeyPath, item: Item, key: str) -> _Call:
    """Whose an item is: the program's that it launches or whose name it begins with, else the file's own."""
    own, *others = players
    name = str(getattr(item, key))
    for player in others:
        prefix = f"{player.adapter.program.lower()}_"
        if name.startswith(prefix):
            return _Call(player, place, item.model_copy(update={key: name.removeprefix(prefix)}), key)
        if key == "func" and player.adapter.program in launched(item, (player,)):
            return _Call(player, place, item, key)
    return _Call(own, place, item, key)


def launched(item: Item, players: Iterable[Player]) -> list[str]:
    """Which of these programs an item of `initialize` launches."""
    if getattr(item, "func", "") != "launch":
        return []
    try:
        name = generic.program_of(item.fields.get("command"))
    except CannotError:  # what is wrong with it is told where it is called
        return []
    return [player.adapter.program for player in players if name in player.adapter.executables]


def _share(file: TaskFile, players: Sequence[Player], player: Player, calls: Sequence[_Call]) -> TaskFile:
    """The file as if it was for one of its programs alone."""
    if len(players) == 1:
        return file
    changes = {
        field: [call.item for call in calls if call.player is player and call.place[0] == field]
        for field in ("initialize", "evaluate")
    }
    return replace(file, document=file.document.model_copy(update=changes))


def _set_up(file: TaskFile, shares: Mapping[str, TaskFile], call: _Call, own: Player) -> list[Verb]:
    app = call.player.app
    verbs = list(_called(file, shares, call, generic.setup_functions(call.player.adapter)))
    if call.name == "launch" and call.player is not own:
        verbs.insert(0, Verb("scienceboard_launched", {}))
    return [Verb(_full(app, verb.name), verb.arguments) for verb in verbs]


def _full(app: App, name: str) -> str:
    """A verb's name with the app's before it."""
    return name if "." in name else f"{app.name}.{name}"


def _graph(calls: Sequence[_Call], items: Sequence[Judged]) -> TaskGraph:
    """A node for each item of `evaluate`; none comes after another."""
    nodes = []
    for place, (call, found) in enumerate(zip(calls, items, strict=True)):
        goal = f"evaluate[{place}]: {call.name}"
        nodes.append(Node(f"{call.name}-{place + 1}", goal, (), call.player.app.name, found.checks))
    return TaskGraph(tuple(nodes))


def _inspections(calls: Sequence[_Call], items: Sequence[Judged]) -> tuple[Inspection, ...]:
    """What the items rest on, each once."""
    found: dict[str, Inspection] = {}
    for call, item in zip(calls, items, strict=True):
        own = [call.player.app.inspections[one.name](**one.arguments) for one in item.asked]
        found |= {one.name: one for one in (*own, *item.inspections)}
    return tuple(found.values())


def _judged(file: TaskFile, shares: Mapping[str, TaskFile], call: _Call) -> Judged:
    if call.name == STOP:
        return _stop_judged(file, call)
    return _called(file, shares, call, call.player.adapter.checks)


def _called(
    file: TaskFile,
    shares: Mapping[str, TaskFile],
    call: _Call,
    functions: Mapping[str, Callable[..., _Result]],
) -> _Result:
    """What an adapter's function makes of a call; its fields are checked first."""
    name, fields = call.name, call.item.fields
    for field, error in Signatures(call.key, functions).faults(name, fields):
        raise file.wrong((*call.place, field or call.key), str(error))
    try:
        return functions[name](shares[call.player.app.name], **fields)
    except CannotError as exc:
        raise CannotError(f"{place_name(call.place)} ({name}): {exc}") from exc
    except ConfigurationError as exc:
        raise file.wrong(call.place, f"{name}: {exc}") from exc


def _stop(file: TaskFile) -> Kind:
    """How the episode must end; where no item says so, with DONE."""
    named = []
    for place, item in enumerate(file.document.evaluate):
        if item.type == STOP:
            value = item.fields.get("value")
            if value not in _STOPS:
                raise file.wrong(("evaluate", place, "value"), f"must be one of {_STOPS}, not {value!r}.")
            named.append(Kind(value))
    if len(set(named)) > 1:
        raise file.wrong(("evaluate",), "asks for two ways to end the episode.")
    return named[0] if named else Kind.DONE


def _stop_judged(file: TaskFile, call: _Call) -> Judged:
    stop = Kind(call.item.fields["value"])
    if stop is not Kind.ANS:
        return judged("stopped", kind=str(stop))
    words = call.item.fields.get("args")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise file.wrong((*call.place, "args"), f"must be a list of words, not {words!r}.")
    return judged("answer_text", equals=" ".join(words), ignore_case=False)


def _validate(players: Sequence[Player], checks: Sequence[Check]) -> None:
    own, *others = (player.app for player in players)
    predicates = PredicateSet.of(Composition.around(own, others))
    for check in checks:
        predicates.validate(check)


def _difficulty(steps: int) -> str:
    """By the step limit, which ScienceBoard gives by difficulty."""
    return "easy" if steps <= _EASY_STEPS else "medium" if steps <= _MEDIUM_STEPS else "hard"
