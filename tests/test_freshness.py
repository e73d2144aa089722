"""The tree that is kept up to date says what a walk of every object says, on three real programs."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from sci_gym import codec
from sci_gym.client import VMAgentClient
from sci_gym.loader import load_app
from sci_gym.machines import MachineSpec, SandboxMachine
from sci_gym.specs import A11yNode, A11yTree, Action
from sci_gym_protos import vm_agent_pb2 as pb
from tests.test_accessibility import read_theirs, showing

WIDTH, HEIGHT = 1280, 800
SETTLE = pb.SettlePolicy(quiet_ms=80, deadline_ms=5000)
KEYS = ("tab", "esc", "enter", "down", "up", "pagedown", "home", "backspace")
ACTIONS = 12
TRIES = 4
Row = tuple[object, ...]


@pytest.fixture(scope="module", params=["kalgebra", "texstudio", "gnumeric"])
def program(request: pytest.FixtureRequest) -> Iterator[VMAgentClient]:
    """A desktop on which one of the programs stands (Qt, Qt with 1,150 objects, GTK)."""
    machine = SandboxMachine(MachineSpec(width=WIDTH, height=HEIGHT))
    client = VMAgentClient(machine.start())
    try:
        argv, env = [request.param], {}
        if request.param == "kalgebra":
            (spec,) = load_app("kalgebra").programs
            argv, env = list(spec.argv), dict(spec.env)
        client.launch(request.param, argv, env=env, register_s=15, max_launches=3)
        yield client
    finally:
        client.close()
        machine.stop()


def known(client: VMAgentClient) -> A11yTree:
    client.observe(pb.ObserveRequest(tree=pb.ObserveRequest.TREE_SHOWING))
    return client.tree


def fresh(client: VMAgentClient) -> A11yTree:
    client.observe(pb.ObserveRequest(tree=pb.ObserveRequest.TREE_SHOWING, fresh_tree=True))
    return client.tree


def row(node: A11yNode) -> Row:
    return node.role, node.name, node.text, node.description, node.value, node.states, node.box, node.parent


def draw(rng: random.Random, tree: A11yTree) -> Action:
    boxes = [node.box for node in tree if node.box is not None and node.showing]
    x, y = rng.choice(boxes).clip(WIDTH, HEIGHT).center if boxes else (WIDTH // 2, HEIGHT // 2)
    point = min(max(x, 0), WIDTH - 1), min(max(y, 0), HEIGHT - 1)
    kinds = [Action.click(*point), Action.click(*point), Action.move_to(*point), Action.scroll(*point, -3)]
    return rng.choice(
        [*kinds, Action.press(rng.choice(KEYS)), Action.type("2+2"), Action.right_click(*point)]
    )


def act(client: VMAgentClient, action: Action) -> None:
    client.step(
        codec.pack_input(action, (0, 0), WIDTH, HEIGHT), SETTLE, pb.ObserveRequest(), pb.ProbeRequest()
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_known_is_what_is_there(program: VMAgentClient, seed: int) -> None:
    rng = random.Random(seed)
    for number in range(ACTIONS):
        action = draw(rng, known(program))
        act(program, action)
        for _ in range(TRIES):  # a program may still change by itself
            ours, theirs = [row(node) for node in known(program)], [row(node) for node in fresh(program)]
            if ours == theirs:
                break
            act(program, Action.wait(0.2))
        assert ours == theirs, f"action {number}: {action}"
    assert len(theirs) > 10


def test_the_reference_agrees_on_what_is_on_screen(program: VMAgentClient) -> None:
    act(program, Action.press("esc"))
    for _ in range(TRIES):
        ours = sorted((node.role, node.name, str(node.box)) for node in known(program) if node.showing)
        act(program, Action.wait(0.1))
        theirs = sorted(
            (kept[1], kept[2], f"Box(x={box[0]}, y={box[1]}, width={box[2]}, height={box[3]})")
            for kept in on_screen(read_theirs(program))
            if (box := kept[6]) and box[2] > 0 and box[3] > 0
        )
        if ours == theirs:
            break
    assert ours == theirs


def on_screen(rows: list[list[object]]) -> list[list[object]]:
    """What shows, of a depth-first list with depths, without what lies below a hidden object."""
    kept, hidden_below = [], None
    for one in rows:
        depth = int(str(one[0]))
        if hidden_below is not None and depth > hidden_below:
            continue
        hidden_below = None
        if depth and not showing(one):
            hidden_below = depth
        else:
            kept.append(one)
    return kept


def test_an_unchanged_tree_is_not_sent_again(program: VMAgentClient) -> None:
    act(program, Action.wait(0.1))
    request = pb.ObserveRequest(tree=pb.ObserveRequest.TREE_SHOWING)
    program.observe(request)
    before = program.tree
    for _ in range(TRIES):  # a program may still change by itself
        reply = program.observe(request)
        if reply.tree.unchanged:
            break
        before = program.tree
    assert reply.tree.unchanged
    assert program.tree is before
