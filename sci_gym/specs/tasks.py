"""What is asked and how it is judged: tasks, graphs, checks, evidence, verdicts."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sci_gym.specs.actions import Action, Kind
from sci_gym.specs.inspections import Inspection


@dataclass(frozen=True, slots=True)
class Evidence:
    """What predicates judge: the programs' state, and how the policy ended the episode.

    Attributes:
        state: app name to that app's state, as its `read_state` gives it; the app documents the keys.
        files: probed files by path; None where there is none.
        stop: how the episode ended: ANS, DONE, FAIL, or None while it runs.
        answer: the text of ANS, else None.
    """

    state: Mapping[str, Mapping[str, Any]]
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    stop: Kind | None = None
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A predicate by name, with arguments: `Check("kalgebra.variable", {"name": "p", "equals": "2*3"})`."""

    predicate: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Node:
    """One subtask of a task graph (OmniBench, section 3).

    Attributes:
        id: unique in the graph.
        goal: the subtask in words.
        after: ids of the subtasks that must be complete before this one is evaluated.
        application: the program it is done in; coherency counts neighbours in the same one.
        checks: all must hold.
    """

    id: str
    goal: str
    after: tuple[str, ...]
    application: str
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class TaskGraph:
    """A directed acyclic graph of subtasks, in the order of the task file."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Verb:
    """A set-up verb of an app, with its arguments: `Verb("kalgebra.tab", {"name": "2D Graph"})`."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reading:
    """A word of a text that a program shows, such as a console's, found as a reader would.

    Attributes:
        state: app and key of the text in its state, such as "grass_gis.console".
        after: what stands before the word, when it stands there last.
    """

    state: str
    after: str


@dataclass(frozen=True, slots=True)
class OracleStep:
    """One step of an oracle: an action, perhaps at an accessible object that is found when it is played.

    Attributes:
        action: the action; its point is filled in from `target`.
        role: role name of the object to act at, None when the action needs no object.
        name: accessible name of that object, None for any.
        nth: which of the matches in tree order, from 0; negative counts from the last.
        label: the matches count from the object of this name on, such as the label above a field.
        until: repeat the action, which is a WAIT, until this holds.
        read: the action's text is the word that this finds.
    """

    action: Action
    role: str | None = None
    name: str | None = None
    nth: int = 0
    label: str | None = None
    until: Check | None = None
    read: Reading | None = None


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A task with its parameters filled in: data only, nothing in it is ever executed on the host.

    Attributes:
        id: file stem of the template, such as "calculator-sum".
        app: name of the app it belongs to.
        difficulty: "easy", "medium" or "hard".
        instruction: what the policy is told.
        parameters: the values drawn from the seed.
        setup: verbs that prepare the program before the first observation.
        graph: the subtasks; their checks judge the episode.
        infeasible: the right end is FAIL.
        question: the right end is ANS.
        max_steps: the step limit.
        stagnation_steps: truncate after so many steps without a subtask completed (OmniEval); 0 never.
        files: guest files that the checks read, relative to the home.
        inspections: commands in the guest whose output the checks rest on.
        oracles: solutions by name, at least the one called "gui"; host side only.
        source: where it came from, for messages.
    """

    id: str
    app: str
    difficulty: str
    instruction: str
    parameters: Mapping[str, Any]
    setup: tuple[Verb, ...]
    graph: TaskGraph
    infeasible: bool
    question: bool
    max_steps: int
    stagnation_steps: int
    files: tuple[str, ...]
    inspections: tuple[Inspection, ...]
    oracles: Mapping[str, tuple[OracleStep, ...]]
    source: str

    @property
    def apps(self) -> frozenset[str]:
        """The names of the apps that set-up and checks speak of."""
        checks = (check.predicate for node in self.graph.nodes for check in node.checks)
        return frozenset(name.partition(".")[0] for name in (*checks, *(verb.name for verb in self.setup)))

    @property
    def oracle(self) -> tuple[OracleStep, ...]:
        """The first solution; empty when there is none."""
        return next(iter(self.oracles.values()), ())


class Status(enum.StrEnum):
    """Of a node of a running task graph (OmniEval)."""

    WAITING = "Waiting"
    EVALUATING = "Evaluating"
    COMPLETED = "Completed"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How an episode stands.

    Attributes:
        success: the task is done, and was ended in the right way.
        coverage_rate: depth-weighted share of completed subtasks, 0 to 1 (OmniEval).
        logical_consistency: coherency of the completion order over the best possible, 0 to 1 (OmniEval).
        status: of each node.
        completed: node ids in the order of completion.
    """

    success: bool
    coverage_rate: float
    logical_consistency: float
    status: Mapping[str, Status]
    completed: tuple[str, ...]
