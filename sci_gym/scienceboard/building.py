"""From a task file and an app's adapter to a task."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from sci_gym.app import App
from sci_gym.errors import ConfigurationError
from sci_gym.evaluation import PredicateSet, Signatures
from sci_gym.scienceboard import generic
from sci_gym.scienceboard.adapter import Adapter, CannotError, Judged, judged
from sci_gym.scienceboard.document import CheckItem, Item, TaskFile
from sci_gym.scienceboard.places import KeyPath
from sci_gym.specs import Check, Inspection, Kind, Node, TaskGraph, TaskSpec, Verb

STOP = "stop"
_STOPS = (Kind.ANS, Kind.DONE, Kind.FAIL)
_EASY_STEPS, _MEDIUM_STEPS = 5, 10
_Result = TypeVar("_Result")


def extended(app: App, adapter: Adapter) -> App:
    """An app that knows the verbs and predicates of ScienceBoard's tasks beside its own."""
    twin = copy.copy(adapter.played_on(app))
    vars(twin)["verbs"] = {**app.verbs, **generic.VERBS, **adapter.verbs}
    vars(twin)["predicates"] = {**app.predicates, **adapter.predicates}
    return twin


def build(file: TaskFile, adapter: Adapter, app: App, task_id: str) -> TaskSpec:
    """The task of a file.

    Args:
        file: what was read.
        adapter: the app's.
        app: what `extended` gave.
        task_id: the task's id.

    Raises:
        TaskFileError: a call or a field is wrong, or not known.
        CannotError: the file asks for what the stock program or sci_gym cannot give.
    """
    document = file.document
    if document.sort != "VM":
        raise CannotError(f"is of sort {document.sort!r}; only those on a desktop, of sort 'VM', are played.")
    adapter.hold(file, app)
    stop = _stop(file)
    items = [_judged(file, place, item, adapter) for place, item in enumerate(document.evaluate)]
    _validate(app, [check for item in items for check in item.checks])
    return TaskSpec(
        id=task_id,
        app=app.name,
        difficulty=_difficulty(document.steps),
        instruction=document.instruction,
        parameters={},
        setup=_setup(file, adapter, app),
        graph=_graph(file, items, app),
        infeasible=stop is Kind.FAIL,
        question=stop is Kind.ANS,
        max_steps=document.steps,
        stagnation_steps=0,
        files=tuple(dict.fromkeys(path for item in items for path in item.files)),
        inspections=_inspections(items, app),
        oracles={},
        source=str(file.path),
    )


def _setup(file: TaskFile, adapter: Adapter, app: App) -> tuple[Verb, ...]:
    functions = generic.setup_functions(adapter)
    verbs: list[Verb] = []
    for place, item in enumerate(file.document.initialize):
        verbs += _called(file, ("initialize", place), "func", item.func, item, functions)
    return tuple(Verb(_full(app, verb.name), verb.arguments) for verb in verbs)


def _full(app: App, name: str) -> str:
    """A verb's name with the app's before it."""
    return name if "." in name else f"{app.name}.{name}"


def _graph(file: TaskFile, items: Sequence[Judged], app: App) -> TaskGraph:
    """A node for each item of `evaluate`; none comes after another."""
    nodes = []
    for place, (item, found) in enumerate(zip(file.document.evaluate, items, strict=True)):
        goal = f"evaluate[{place}]: {item.type}"
        nodes.append(Node(f"{item.type}-{place + 1}", goal, (), app.name, found.checks))
    return TaskGraph(tuple(nodes))


def _inspections(items: Sequence[Judged], app: App) -> tuple[Inspection, ...]:
    """What the items rest on, each once."""
    found: dict[str, Inspection] = {}
    for item in items:
        own = [app.inspections[one.name](**one.arguments) for one in item.asked]
        found |= {one.name: one for one in (*own, *item.inspections)}
    return tuple(found.values())


def _judged(file: TaskFile, place: int, item: CheckItem, adapter: Adapter) -> Judged:
    if item.type == STOP:
        return _stop_judged(file, place, item)
    return _called(file, ("evaluate", place), "type", item.type, item, adapter.checks)


def _called(
    file: TaskFile, place: KeyPath, key: str, name: str, item: Item,
    functions: Mapping[str, Callable[..., _Result]],
) -> _Result:  # fmt: skip
    """What an adapter's function makes of a call; its fields are checked first."""
    for field, error in Signatures(key, functions).faults(name, item.fields):
        raise file.wrong((*place, field or key), str(error))
    try:
        return functions[name](file, **item.fields)
    except CannotError as exc:
        raise CannotError(f"{'.'.join(map(str, place))} ({name}): {exc}") from exc
    except ConfigurationError as exc:
        raise file.wrong(place, f"{name}: {exc}") from exc


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


def _stop_judged(file: TaskFile, place: int, item: CheckItem) -> Judged:
    stop = Kind(item.fields["value"])
    if stop is not Kind.ANS:
        return judged("stopped", kind=str(stop))
    words = item.fields.get("args")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise file.wrong(("evaluate", place, "args"), f"must be a list of words, not {words!r}.")
    return judged("answer_text", equals=" ".join(words), ignore_case=False)


def _validate(app: App, checks: Sequence[Check]) -> None:
    predicates = PredicateSet.of(app)
    for check in checks:
        predicates.validate(check)


def _difficulty(steps: int) -> str:
    """By the step limit, which ScienceBoard gives by difficulty."""
    return "easy" if steps <= _EASY_STEPS else "medium" if steps <= _MEDIUM_STEPS else "hard"
