"""OmniEval's measures: Coverage Rate and Logical Consistency."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from sci_gym.errors import ConfigurationError, UnknownNameError
from sci_gym.evaluation.graph import depths, topological
from sci_gym.specs import TaskGraph


def coverage_rate(graph: TaskGraph, completed: Collection[str]) -> float:
    """Coverage Rate (OmniEval): the share of completed subtasks, each weighted by its depth."""
    depth = depths(graph)
    return sum(depth[name] for name in set(completed)) / sum(depth.values())


def coherency(graph: TaskGraph, order: Sequence[str]) -> int:
    """How many neighbours in an order of subtasks are done in the same application."""
    application = {node.id: node.application for node in graph.nodes}
    return sum(application[one] == application[two] for one, two in pairwise(order))


def _runs_after(done: int, needs: Sequence[int], members: Sequence[Sequence[int]]) -> set[int]:
    """What can be done (as bit masks) after one more run; one choice where that choice is never worse."""
    reached = set()
    for places in members:
        after = done
        for place in places:
            after |= (needs[place] & ~after == 0) << place
        if after != done and all(after >> place & 1 for place in places):
            return {after}
        reached.add(after)
    return reached - {done}


def best_coherency(graph: TaskGraph) -> int:
    """The best coherency that any topological order of the graph has.

    An order of n subtasks in r runs (of one application each) has coherency n - r, so this is a
    breadth-first search for the fewest runs. Two facts keep its states few, both because taking
    subtasks out of an order never adds a run. (1) A run may always take in every subtask of its
    application that is or becomes possible: take those out of the rest of any order. So a state is
    the set of subtasks done after whole runs; its last application cannot go on, and need not be kept.
    (2) If a run can finish its application for good, it may come first: any order has a run of that
    application still to come, so taking it out of there saves the run that it costs here.
    """
    nodes = topological(graph)
    place = {node.id: index for index, node in enumerate(nodes)}
    needs = [sum(1 << place[parent] for parent in set(node.after)) for node in nodes]
    members: dict[str, list[int]] = {}
    for node in nodes:
        members.setdefault(node.application, []).append(place[node.id])
    frontier, seen, runs = {0}, {0}, 0
    while (1 << len(nodes)) - 1 not in frontier:
        frontier = set().union(*(_runs_after(done, needs, [*members.values()]) for done in frontier)) - seen
        seen |= frontier
        runs += 1
    return len(nodes) - runs


def consistency(graph: TaskGraph, order: Sequence[str], best: int) -> float:
    """Logical Consistency of a possible order, given the best coherency (see `logical_consistency`)."""
    if not order:
        return 0.0
    return coherency(graph, order) / best if best else 1.0


def logical_consistency(graph: TaskGraph, order: Sequence[str]) -> float:
    """Logical Consistency (OmniEval): coherency of an order of completion over the best possible.

    0 when nothing was completed; 1 when no order has any coherency to gain. An order that stops early
    is measured against the best of the whole graph.

    This follows the paper. OmniBench's public code differs: it takes (longest run in one application - 1)
    over the same of the best order, and lists every topological order, which is exponential.

    Raises:
        ConfigurationError: the order is impossible: a subtask is unknown, repeated, or before its parent.
    """
    parents = {node.id: node.after for node in graph.nodes}
    for place, name in enumerate(order):
        if name not in parents:
            raise UnknownNameError("subtask", name, parents)
        if name in order[:place] or not set(parents[name]) <= set(order[:place]):
            raise ConfigurationError(f"subtask {name!r} is repeated or before its parent in {list(order)}.")
    return consistency(graph, order, best_coherency(graph))
