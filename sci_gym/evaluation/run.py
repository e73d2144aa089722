"""The task graph's state machine."""

from __future__ import annotations

import copy
from collections.abc import Collection

from sci_gym.evaluation.graph import validate_graph
from sci_gym.evaluation.metrics import best_coherency, consistency, coverage_rate
from sci_gym.evaluation.signatures import PredicateSet
from sci_gym.specs import Evidence, Kind, Node, Status, TaskGraph, TaskSpec, Verdict


def right_stop(task: TaskSpec) -> Kind:
    """The way that a task has to be ended: ANS a question, FAIL an infeasible task, DONE any other."""
    if task.infeasible:
        return Kind.FAIL
    return Kind.ANS if task.question else Kind.DONE


class GraphRun:
    """One episode's walk through a task graph.

    A subtask is Waiting until its parents are complete, then Evaluating until its checks hold, then Completed
    for good. Call `update` with each step's evidence, the last one included; ask `verdict` whenever.
    """

    def __init__(self, graph: TaskGraph, predicates: PredicateSet, stop: Kind) -> None:
        """Start with nothing completed; `stop` is the way the task has to be ended (see `right_stop`).

        Raises:
            ConfigurationError: the graph or one of its checks is wrong.
        """
        validate_graph(graph)
        for check in (check for node in graph.nodes for check in node.checks):
            predicates.validate(check)
        self._graph = graph
        self._predicates = predicates
        self._stop = stop
        self._best = best_coherency(graph)
        self._completed: list[str] = []

    def copy(self) -> GraphRun:
        """A walk that goes on from here on its own."""
        twin = copy.copy(self)
        twin._completed = list(self._completed)
        return twin

    def update(self, evidence: Evidence) -> None:
        """Complete what the evidence completes, the children of what it completes included.

        Subtasks that complete on the same evidence do so in the task file's order, parents first.
        """
        unmet: set[str] = set()
        while node := self._next(unmet):
            if self._holds(node, evidence):
                self._completed.append(node.id)
            else:
                unmet.add(node.id)

    def verdict(self, evidence: Evidence) -> Verdict:
        """How the episode stands, given the evidence that was last passed to `update`.

        Success asks for the right stop, every subtask completed, and the final subtasks (those that no other
        comes after) holding on this very evidence, so that work that was undone does not count.
        """
        parents = {parent for node in self._graph.nodes for parent in node.after}
        final = [node for node in self._graph.nodes if node.id not in parents]
        return Verdict(
            success=evidence.stop is self._stop
            and len(self._completed) == len(self._graph.nodes)
            and all(self._holds(node, evidence) for node in final),
            coverage_rate=coverage_rate(self._graph, self._completed),
            logical_consistency=consistency(self._graph, self._completed, self._best),
            status={node.id: self._status(node) for node in self._graph.nodes},
            completed=tuple(self._completed),
        )

    def _next(self, unmet: Collection[str]) -> Node | None:
        ready = (node for node in self._graph.nodes if self._status(node) is Status.EVALUATING)
        return next((node for node in ready if node.id not in unmet), None)

    def _status(self, node: Node) -> Status:
        if node.id in self._completed:
            return Status.COMPLETED
        return Status.EVALUATING if set(node.after) <= set(self._completed) else Status.WAITING

    def _holds(self, node: Node, evidence: Evidence) -> bool:
        return all(self._predicates.holds(check, evidence) for check in node.checks)
