"""What makes a task graph right."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from sci_gym.errors import ConfigurationError, UnknownNameError
from sci_gym.specs import Node, TaskGraph


def graph_faults(graph: TaskGraph) -> Iterator[tuple[int, str, str]]:
    """What is wrong with a graph: the place of the node at fault, its field, and a message."""
    if not graph.nodes:
        yield 0, "id", "the task graph has no subtasks."
    ids = [node.id for node in graph.nodes]
    for place, node in enumerate(graph.nodes):
        if not node.checks:
            yield place, "check", f"subtask {node.id!r} has no check, so it would always be complete."
        if node.id in ids[:place]:
            yield place, "id", f"there are two subtasks {node.id!r}; ids must be unique."
        for parent in node.after:
            if parent not in ids:
                yield place, "after", str(UnknownNameError(f"parent of subtask {node.id!r}", parent, ids))
    try:
        TopologicalSorter({node.id: node.after for node in graph.nodes}).prepare()
    except CycleError as exc:
        cycle: list[str] = exc.args[1]
        place = min(ids.index(name) for name in cycle)
        yield place, "after", f"subtasks wait for one another: {' -> '.join(cycle)}."


def validate_graph(graph: TaskGraph) -> None:
    """Check that every subtask has a check and a unique id, that parents are known and the graph is acyclic.

    Raises:
        ConfigurationError: it is not so; the message names the subtasks.
    """
    for _, _, message in graph_faults(graph):
        raise ConfigurationError(message)


def topological(graph: TaskGraph) -> list[Node]:
    """The nodes, parents first."""
    by_id = {node.id: node for node in graph.nodes}
    return [by_id[name] for name in TopologicalSorter({n.id: n.after for n in graph.nodes}).static_order()]


def depths(graph: TaskGraph) -> dict[str, int]:
    """The depth of each node, by id: 1 for a root, else one more than that of the deepest parent."""
    depth: dict[str, int] = {}
    for node in topological(graph):
        depth[node.id] = 1 + max((depth[parent] for parent in node.after), default=0)
    return depth
