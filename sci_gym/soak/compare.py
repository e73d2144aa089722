"""The accessibility tree that the daemon keeps, against one that it reads anew."""

from __future__ import annotations

from collections import Counter

from sci_gym.client import VMAgentClient
from sci_gym.specs import A11yNode, A11yTree
from sci_gym_protos import vm_agent_pb2 as pb

_READS = 3


def compare_trees(client: VMAgentClient) -> list[str]:
    """How the kept tree differs from a fresh one in what is on screen, in words; nothing when they agree.

    A difference counts once the program stands still: two fresh trees, read before and after, are the same.
    Where it never does (a key held down repeats), there is nothing to compare.
    """
    for _ in range(_READS):
        before, kept, after = _read(client, fresh=True), _read(client, fresh=False), _read(client, fresh=True)
        found = differences(kept, after)
        if not found or not differences(before, after):
            return found
    return []


def _read(client: VMAgentClient, fresh: bool) -> A11yTree:
    request = pb.ObserveRequest(tree=pb.ObserveRequest.TREE_ALL, fresh_tree=fresh)
    client.observe(request)
    return client.tree.showing


def differences(kept: A11yTree, fresh: A11yTree) -> list[str]:
    """What one tree has and the other lacks, in words."""
    # By content and parent's content, not by place: one that is missing must not shift all others.
    before, after = Counter(_contents(kept)), Counter(_contents(fresh))
    stale = [f"kept only: {one}" for one in (before - after).elements()]
    return stale + [f"fresh only: {one}" for one in (after - before).elements()]


def _contents(tree: A11yTree) -> list[tuple[A11yNode, A11yNode | None]]:
    plain = [node._replace(index=0, parent=0, program="") for node in tree]
    return [(plain[node.index], plain[node.parent] if node.parent >= 0 else None) for node in tree]
