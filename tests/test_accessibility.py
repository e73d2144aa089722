"""Our walker says what pyatspi says, on the real program."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sci_gym import codec
from sci_gym.client import VMAgentClient
from sci_gym.specs import A11yNode, A11yTree, Action, State
from sci_gym_protos import vm_agent_pb2 as pb

# The reference: a plain recursive walk, in the guest, with the distribution's own Python.
PYATSPI = r"""
import json, sys
import pyatspi

def text(node):
    try: return node.queryText().getText(0, -1)
    except NotImplementedError: return ""

def value(node):
    try: return node.queryValue().currentValue
    except NotImplementedError: return None

def extents(node):
    try: box = node.queryComponent().getExtents(pyatspi.DESKTOP_COORDS)
    except NotImplementedError: return None
    return [box.x, box.y, box.width, box.height]

def walk(node, depth):
    states = sum(1 << int(state) for state in node.getState().getStates())
    print(json.dumps([depth, node.getRoleName(), node.name, text(node), value(node), states, extents(node)]))
    for child in node:
        if child is not None: walk(child, depth + 1)

for application in pyatspi.Registry.getDesktop(0):
    walk(application, 0)
"""

TRIES = 3  # a first walk makes Qt lay out some hidden widgets, which the second sees

ACTIONS: dict[str, list[Action]] = {
    "at the start": [],
    "after a calculation": [Action.type("p:=2*3\n")],
    "with text outside ASCII": [Action.type("größe:=7\n")],
    "with a menu open": [Action.hotkey("alt", "s")],
}


def described(tree: A11yTree) -> list[list[Any]]:
    depths: list[int] = []
    rows = []
    for node in tree:
        depths.append(0 if node.parent < 0 else depths[node.parent] + 1)
        box = [node.box.x, node.box.y, node.box.width, node.box.height] if node.box else None
        rows.append([depths[-1], node.role, node.name, node.text, node.value, node.states, box])
    return rows


def act(client: VMAgentClient, action: Action) -> None:
    settle = pb.SettlePolicy(quiet_ms=150, deadline_ms=5000)
    client.step(codec.pack_input(action, (0, 0), 1280, 800), settle, pb.ObserveRequest(), pb.ProbeRequest())


def read_ours(client: VMAgentClient) -> list[list[Any]]:
    request = pb.ObserveRequest(tree=pb.ObserveRequest.TREE_ALL)
    client.observe(request)
    return without_hidden_places(described(client.tree))


def read_theirs(client: VMAgentClient) -> list[list[Any]]:
    result = client.execute(["/usr/bin/python3", "-"], stdin=PYATSPI.encode(), timeout_s=60)
    assert result.exit_code == 0, result.stderr
    return without_hidden_places([json.loads(line) for line in result.stdout.splitlines()])


def without_hidden_places(rows: list[list[Any]]) -> list[list[Any]]:
    """Where a hidden object would be, nobody needs to know."""
    return [row if showing(row) else [*row[:6], None] for row in rows]


def showing(row: list[Any]) -> bool:
    return bool(row[5] >> State.SHOWING & 1 and row[5] >> State.VISIBLE & 1)


@pytest.mark.parametrize("name", ACTIONS)
def test_the_walker_agrees_with_pyatspi(kalgebra: VMAgentClient, name: str) -> None:
    for action in [Action.wait(), *ACTIONS[name]]:
        act(kalgebra, action)
    for _ in range(TRIES):
        ours, theirs = read_ours(kalgebra), read_theirs(kalgebra)
        if ours == theirs:
            break
    assert len(theirs) > 200
    assert ours == theirs


def test_a_node_budget_cuts_the_tree_and_says_so(kalgebra: VMAgentClient) -> None:
    request = pb.ObserveRequest(tree=pb.ObserveRequest.TREE_ALL, max_nodes=50)
    tree = kalgebra.observe(request).tree
    assert tree.truncated
    assert len(tree.nodes) <= 50


def test_a_time_budget_cuts_the_tree_and_says_so(kalgebra: VMAgentClient) -> None:
    request = pb.ObserveRequest(tree=pb.ObserveRequest.TREE_ALL, fresh_tree=True)
    whole = len(kalgebra.observe(request).tree.nodes)
    request.tree_ms = 1
    cut = kalgebra.observe(request).tree
    assert cut.truncated
    assert len(cut.nodes) < whole
    request.tree_ms = 0
    assert not kalgebra.observe(request).tree.truncated


def test_what_is_on_screen_is_the_showing_part_of_the_whole(kalgebra: VMAgentClient) -> None:
    act(kalgebra, Action.wait())

    def read(scope: int) -> A11yTree:
        kalgebra.observe(pb.ObserveRequest(tree=scope))
        return kalgebra.tree

    def key(node: A11yNode) -> tuple[Any, ...]:
        return (node.role, node.name, node.box)

    shown = [key(node) for node in read(pb.ObserveRequest.TREE_SHOWING).showing]
    whole = [key(node) for node in read(pb.ObserveRequest.TREE_ALL).showing]
    assert set(shown) <= set(whole)
    assert len(shown) >= 30


def test_rows_of_a_hidden_table_are_not_on_screen(kalgebra: VMAgentClient) -> None:
    act(kalgebra, Action.wait())
    kalgebra.observe(pb.ObserveRequest(tree=pb.ObserveRequest.TREE_SHOWING))
    tab = next(node for node in kalgebra.tree.showing if node.name == "2D Graph")
    assert tab.box is not None
    act(kalgebra, Action.click(*tab.box.center))
    kalgebra.observe(pb.ObserveRequest(tree=pb.ObserveRequest.TREE_ALL))
    variable = ("table cell", "i")
    assert variable in [(node.role, node.name) for node in kalgebra.tree if node.showing], "Qt says so"
    assert variable not in [(node.role, node.name) for node in kalgebra.tree.showing]
