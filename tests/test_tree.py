"""The accessibility tree of a program with a view of very many items, without a bus."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_protos.roles import ROLE_NAMES
from sci_gym_vm_agent import objects
from sci_gym_vm_agent.bus import Batch, Bus
from sci_gym_vm_agent.dbus import address_of
from sci_gym_vm_agent.tree import AccessibilityTree, Root

SHOWS = objects.SHOWING | objects.VISIBLE
MAX_NODES, ITEMS, HIDDEN_ITEMS = 5000, 9000, 1000
Place = tuple[str, int, Sequence[str]]
"""Role, states, and the names of what lies below."""


class Program:
    """Answers for the objects of a program by their names, as the bus would."""

    def __init__(self, places: Mapping[str, Place]) -> None:
        self._places = {address_of(*key(name)): (name, place) for name, place in places.items()}

    def send(self, batch: Batch, on_reply: Any, address: Any, method: Any) -> None:
        name, (role, states, below) = self._places[address]
        answers = {
            "GetState": (states & 0xFFFFFFFF, states >> 32),
            "GetRole": ROLE_NAMES.index(role),
            "GetChildren": [key(one) for one in below],
            "GetInterfaces": ["org.a11y.atspi.Component"],
            "GetExtents": (0, 0, 10, 10),
            "Get": name,
        }
        (member,) = [one for one in answers if one.encode() + b"\0" in method.call(address, 1)]
        asyncio.get_running_loop().call_soon(batch.answer, on_reply, answers[member])

    def forget(self, batch: Batch) -> None:
        """Every call is answered."""


def key(name: str) -> objects.Key:
    return ":1.5", f"/{name}"


def read(states: int) -> pb.Tree:
    """The tree of a program whose window holds a view, and whose dialog a button."""
    rows = [f"row{number}" for number in range(ITEMS)]
    places: dict[str, Place] = {
        "program": ("application", SHOWS, ["window", "dialog"]),
        "window": ("frame", SHOWS, ["view"]),
        "view": ("tree", states, rows),
        "dialog": ("dialog", SHOWS, ["button"]),
        "button": ("push button", SHOWS, []),
        **{row: ("tree item", SHOWS, []) for row in rows},
    }
    program = Root(key("program"), 1, None)
    tree = AccessibilityTree(cast(Bus, Program(places)), itertools.count(1))

    async def twice() -> pb.Tree:
        """The second time all is known, and is walked depth first."""
        await tree.read([program], [], whole=True, max_nodes=MAX_NODES, limit_s=20)
        tree.notice((key("window"), "PropertyChange", ""))
        return await tree.read([program], [], whole=True, max_nodes=MAX_NODES, limit_s=20)

    return asyncio.run(twice())


@pytest.mark.parametrize(("states", "told"), [(0, HIDDEN_ITEMS), (SHOWS, MAX_NODES // 2)])
def test_a_view_with_very_many_items_leaves_room_for_a_dialog(states: int, told: int) -> None:
    roles = [pb.Node.FromString(node).role for node in read(states).nodes]
    assert roles.count("tree item") == told
    assert "push button" in roles
    assert not read(states).truncated
