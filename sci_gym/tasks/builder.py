"""Turns a document and one draw of its parameters into the parts of a task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from sci_gym.app import App
from sci_gym.errors import ConfigurationError
from sci_gym.evaluation import GENERIC_PREDICATES, PredicateSet, Signatures, graph_faults
from sci_gym.specs import Check, Inspection, Kind, Node, OracleStep, Reading, TaskGraph, Verb
from sci_gym.tasks.document import Call, CheckCall, Document, NodeTable
from sci_gym.tasks.filling import Filler
from sci_gym.tasks.locator import FieldError, KeyPath
from sci_gym.tasks.oracle import OracleTable, ReadTable
from sci_gym.tasks.parameters import Pick, draw
from sci_gym.tasks.tables import parse

MAIN_ORACLE = "gui"
_FILE_PREDICATES = ("file_exists", "file_contains")


class Vocabulary:
    """The predicates, verbs and inspections that an app's task files can name."""

    def __init__(self, app: App) -> None:
        """Read the signatures of the app's functions."""
        self.app = app.name
        self.predicates = PredicateSet.of(app).signatures
        self.verbs = Signatures(
            "verb", {f"{part.name}.{name}": one for part in app.parts for name, one in part.verbs.items()}
        )
        self.makers = {
            f"{part.name}.{name}": one for part in app.parts for name, one in part.inspections.items()
        }
        self.inspections = Signatures("inspection", self.makers, skip=0)

    def full(self, name: str) -> str:
        """The name with the app's before it, unless it has a dot or is a generic predicate's."""
        return name if "." in name or name in GENERIC_PREDICATES else f"{self.app}.{name}"


class Builder:
    """Fills a document in with one draw of its parameters, and checks all that it names."""

    def __init__(self, document: Document, vocabulary: Vocabulary, pick: Pick) -> None:
        """Draw the parameters."""
        self._document = document
        self._vocabulary = vocabulary
        self.values: dict[str, Any] = {}
        for name, parameter in document.parameters.items():
            self.values[name] = draw(parameter, pick, self.values, ("parameters", name))
        self._filler = Filler(self.values)
        self.files: tuple[str, ...] = tuple(self._filler.text(document.files, ("files",)))

    def faults(self, pick: Pick) -> Iterator[FieldError]:
        """What is wrong with the task's parts, the first fault of each."""
        for part in (partial(self.instruction, pick), self.setup, self.inspections, self.graph, self.oracles):
            try:
                part()
            except FieldError as error:
                yield error

    def instruction(self, pick: Pick) -> str:
        """One of the wordings; all are filled in, so that a fault in any is found."""
        wordings = [self._filler.text(self._document.instruction, ("instruction",))]
        wordings += self._filler.text(self._document.paraphrases, ("paraphrases",))
        return str(wordings[pick(len(wordings))])

    def setup(self) -> tuple[Verb, ...]:
        """The set-up verbs."""
        found = []
        for place, call in enumerate(self._document.setup):
            path: KeyPath = ("setup", place)
            name = self._vocabulary.full(call.verb)
            found.append(Verb(name, self._arguments(call, name, self._vocabulary.verbs, path, "verb")))
        return tuple(found)

    def graph(self) -> TaskGraph:
        """The task graph."""
        graph = TaskGraph(tuple(self._node(table, place) for place, table in enumerate(self._document.node)))
        for place, field, message in graph_faults(graph):
            raise FieldError(("node", place, field), message)
        return graph

    def inspections(self) -> tuple[Inspection, ...]:
        """What is inspected."""
        found: dict[str, Inspection] = {}
        for place, call in enumerate(self._document.inspect):
            path: KeyPath = ("inspect", place)
            name = self._vocabulary.full(call.inspection)
            arguments = self._arguments(call, name, self._vocabulary.inspections, path, "inspection")
            try:
                made = self._vocabulary.makers[name](**arguments)
            except ConfigurationError as error:
                raise FieldError(path, str(error)) from error
            if made.name in found:
                raise FieldError(path, f"{made.name!r} is inspected twice.")
            found[made.name] = made
        return tuple(found.values())

    def oracles(self) -> dict[str, tuple[OracleStep, ...]]:
        """The steps of each solution, the main one first."""
        if MAIN_ORACLE in self._document.oracles:
            raise FieldError(("oracles", MAIN_ORACLE), "the main solution's steps are [[oracle]].")
        found = {}
        if self._document.oracle:
            found[MAIN_ORACLE] = self._steps(self._document.oracle, ("oracle",))
        for name, raws in self._document.oracles.items():
            found[name] = self._steps(raws, ("oracles", name))
        return found

    def _steps(self, raws: list[dict[str, Any]], above: KeyPath) -> tuple[OracleStep, ...]:
        return tuple(self._step(raw, (*above, place)) for place, raw in enumerate(raws))

    def _step(self, raw: Mapping[str, Any], path: KeyPath) -> OracleStep:
        table = {key: value for key, value in raw.items() if key not in ("until", "read")}
        if "read" in raw:
            return self._reading_step(table, raw["read"], path)
        step = parse(OracleTable, self._filler.typed(table, path), path).step(path)
        if "until" not in raw:
            return step
        where: KeyPath = (*path, "until")
        if step.action.kind is not Kind.WAIT:
            raise FieldError(where, f"{table['do']} does not take 'until'; only wait does.")
        return replace(step, until=self._check(parse(CheckCall, raw["until"], where), where))

    def _reading_step(self, table: Mapping[str, Any], raw: Any, path: KeyPath) -> OracleStep:
        if table["do"] not in ("answer", "type") or "text" in table:
            raise FieldError((*path, "read"), "is what answer or type take in place of 'text'.")
        where: KeyPath = (*path, "read")
        found = parse(ReadTable, self._filler.text(raw, where), where)
        step = parse(OracleTable, {**table, "text": ""}, path).step(path)
        return replace(step, read=Reading(self._vocabulary.full(found.state), found.after))

    def _node(self, table: NodeTable, place: int) -> Node:
        path: KeyPath = ("node", place)
        checks = tuple(self._check(call, (*path, "check", number)) for number, call in enumerate(table.check))
        goal = self._filler.text(table.goal, (*path, "goal"))
        return Node(table.id, goal, tuple(table.after), table.application or self._vocabulary.app, checks)

    def _check(self, call: CheckCall, path: KeyPath) -> Check:
        name = self._vocabulary.full(call.predicate)
        check = Check(name, self._arguments(call, name, self._vocabulary.predicates, path, "predicate"))
        if name in _FILE_PREDICATES and check.arguments["path"] not in self.files:
            raise FieldError((*path, "path"), f"{check.arguments['path']!r} is not read; add it to files.")
        return check

    def _arguments(
        self, call: Call, name: str, signatures: Signatures, path: KeyPath, name_key: str
    ) -> Mapping[str, Any]:
        text = signatures.text_arguments(name)
        filled = {
            key: (self._filler.typed_text if key in text else self._filler.typed)(value, (*path, key))
            for key, value in call.arguments.items()
        }
        for key, error in signatures.faults(name, filled):
            place = (*path, key) if key else (*path, name_key)
            raise FieldError(place, str(error))
        return filled
