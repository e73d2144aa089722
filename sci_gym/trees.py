"""The accessibility tree as the host knows it: what did not change is neither sent nor unpacked again.

What the guest says is checked before anything is made of it: it may lie about numbers, sizes and parents.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from google.protobuf.message import DecodeError

from sci_gym.bounds import MAX_NODES, MAX_TEXT_CHARS, MAX_TREE_CHARS, at_most, clean
from sci_gym.codec import unpack_box
from sci_gym.errors import ProtocolError
from sci_gym.specs import A11yNode, A11yTree
from sci_gym_protos import vm_agent_pb2 as pb

Known = Mapping[bytes, A11yNode]
"""Nodes by their serialized messages, which tell neither index nor parent."""


class TreeStore:
    """The last tree of one daemon. Not thread-safe.

    Attributes:
        tree: the same object again for as long as nothing changes.
        generation: its number, for `ObserveRequest.known_tree`.
    """

    def __init__(self) -> None:
        """Start with an empty tree."""
        self.tree = A11yTree()
        self.generation = 0
        self._message = pb.Tree()
        self._data: list[bytes] = []
        self._names: Mapping[int, str] = {}

    def apply(self, message: pb.Tree, names: Mapping[int, str]) -> None:
        """Take a tree in; `names` gives the launched programs' names by id.

        Raises:
            ProtocolError: it is said to be unchanged and is not the one that is here; a node stands before
                its parent, or is no node; there are too many or too long ones. The tree stays as it was.
        """
        if message.unchanged:
            if message.generation != self.generation:
                raise ProtocolError(
                    "daemon", f"sent no tree but {message.generation}; here is {self.generation}"
                )
            if names == self._names:
                return
            message = self._message
        data = list(message.nodes)
        _check(message, data)
        nodes = self._unpack(message, data, names)
        self.tree = A11yTree(nodes, message.truncated)
        self._message, self._names, self._data = message, dict(names), data
        self.generation = message.generation

    def _unpack(self, message: pb.Tree, data: list[bytes], names: Mapping[int, str]) -> tuple[A11yNode, ...]:
        """The nodes; those that are here are not unpacked again, and most often they are in their places."""
        here = self.tree.nodes
        if names != self._names:
            return _unpack_nodes(message.parents, data, names, {})
        if message.parents != self._message.parents:
            return _unpack_nodes(message.parents, data, names, dict(zip(self._data, here, strict=True)))
        nodes = list(here)
        for index, (new, old) in enumerate(zip(data, self._data, strict=True)):
            if new != old:
                nodes[index] = _unpack_node(index, here[index].parent, new, names)
        return tuple(nodes)


def _check(tree: pb.Tree, data: Sequence[bytes]) -> None:
    at_most("nodes", len(data), MAX_NODES)
    at_most("bytes of nodes", sum(map(len, data)), MAX_TREE_CHARS)
    if len(tree.parents) != len(data):
        raise ProtocolError("daemon", f"sent {len(data)} nodes with {len(tree.parents)} parents")


def _unpack_nodes(
    parents: Iterable[int], data: Iterable[bytes], names: Mapping[int, str], known: Known
) -> tuple[A11yNode, ...]:
    """The nodes in depth-first order; those in `known` are not unpacked again."""
    nodes = []
    for index, (parent, one) in enumerate(zip(parents, data, strict=True)):
        if not -1 <= parent < index:
            raise ProtocolError("daemon", f"sent a tree whose node {index} has the parent {parent}")
        node = known.get(one)
        if node is None:
            node = _unpack_node(index, parent, one, names)
        elif (node.index, node.parent) != (index, parent):
            node = node.at(index, parent)
        nodes.append(node)
    return tuple(nodes)


def _unpack_node(index: int, parent: int, data: bytes, names: Mapping[int, str]) -> A11yNode:
    try:
        node = pb.Node.FromString(data)
    except DecodeError as error:
        raise ProtocolError("daemon", f"sent a tree whose node {index} is none: {error}") from error
    texts = (node.role, node.name, node.text, node.description)
    if len(data) > MAX_TEXT_CHARS:
        at_most(f"characters in node {index}", max(map(len, texts)), MAX_TEXT_CHARS)
    role, name, text, description = map(clean, texts)
    return A11yNode(
        index, parent, role, name, text, description,
        node.value if node.has_value and math.isfinite(node.value) else None,
        node.states,
        unpack_box(node.extents) if node.HasField("extents") else None,
        names.get(node.program_id, ""),
        (node.row, node.column) if node.is_cell else None,
    )  # fmt: skip
