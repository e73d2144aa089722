"""Times a plain recursive walk with the distribution's pyatspi: walk.py TIMES all|showing.

Process start and the connection are not timed. Prints {"samples_ms": [...], "nodes": N}.
"""

import json
import sys
import time
from typing import Any

import pyatspi


def text(node: Any) -> Any:
    """Read the Text interface."""
    try:
        return node.queryText().getText(0, -1)
    except NotImplementedError:
        return ""


def value(node: Any) -> Any:
    """Read the Value interface."""
    try:
        return node.queryValue().currentValue
    except NotImplementedError:
        return None


def extents(node: Any) -> Any:
    """Read the Component interface."""
    try:
        return node.queryComponent().getExtents(pyatspi.DESKTOP_COORDS)
    except NotImplementedError:
        return None


def walk(node: Any, showing: bool) -> int:
    """Read a node and all below it; count the nodes."""
    states = node.getState().getStates()
    if showing and node.getRole() != pyatspi.ROLE_APPLICATION and pyatspi.STATE_SHOWING not in states:
        return 0
    node.getRoleName(), node.name, text(node), value(node), extents(node)
    return 1 + sum(walk(child, showing) for child in node if child is not None)


def walk_desktop(showing: bool = False) -> int:
    """Read every application."""
    return sum(walk(application, showing) for application in pyatspi.Registry.getDesktop(0))


def main() -> None:
    """Measure and print."""
    times, scope = int(sys.argv[1]), sys.argv[2]
    assert pyatspi.Registry.getDesktop(0).childCount  # connects
    samples, nodes = [], 0
    for _ in range(times):
        start_s = time.perf_counter()
        nodes = walk_desktop(scope == "showing")
        samples.append((time.perf_counter() - start_s) * 1000)
    print(json.dumps({"samples_ms": samples, "nodes": nodes}))


if __name__ == "__main__":
    main()
