"""Places for the nodes of a task graph on a page: layered by depth, from left to right.

An edge that spans several layers keeps a row free in each layer that it crosses, so that it runs beside the
nodes there, not behind them (the dummy vertices of Sugiyama, Tagawa and Toda 1981).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any

from sci_gym.drawing import Point

NODE_PX = (182, 62)
_GAP_PX = (44, 16)
_MARGIN_PX = 8
_TIP_PX = 7

Vertex = tuple[str, ...]
"""(id,) of a node; (parent, child, layer) where an edge crosses a layer."""


def layout_graph(nodes: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Places for the nodes and edges of a task graph; None without nodes.

    Args:
        nodes: dicts of `id`, `goal`, `after` (ids) and `application`.

    Returns:
        A dict of `width` and `height` in pixels, `nodes` (dicts of `id`, `goal`, `application`, `x`, `y`,
        `width`, `height`) and `edges` (SVG paths).
    """
    if not nodes:
        return None
    depth = _depths({node["id"]: node["after"] for node in nodes})
    chains = [_chain(parent, node["id"], depth) for node in nodes for parent in node["after"]]
    layers = _layers(depth, chains)
    (wide, high), (gap_x, gap_y) = NODE_PX, _GAP_PX
    tallest = max(map(len, layers))
    corner: dict[Vertex, Point] = {}
    for column, layer in enumerate(layers):
        top = (tallest - len(layer)) * (high + gap_y) // 2 + _MARGIN_PX
        for row, vertex in enumerate(layer):
            corner[vertex] = column * (wide + gap_x) + _MARGIN_PX, top + row * (high + gap_y)
    return {
        "width": len(layers) * (wide + gap_x) - gap_x + 2 * _MARGIN_PX,
        "height": tallest * (high + gap_y) - gap_y + 2 * _MARGIN_PX,
        "nodes": [_box(node, corner[(node["id"],)]) for node in nodes],
        "edges": [_path([corner[vertex] for vertex in chain]) for chain in chains],
    }


def _depths(parents: Mapping[str, Sequence[str]]) -> dict[str, int]:
    depth: dict[str, int] = {}
    for name in TopologicalSorter(parents).static_order():
        depth[name] = 1 + max((depth[parent] for parent in parents[name]), default=-1)
    return {name: depth[name] for name in parents}


def _chain(parent: str, child: str, depth: Mapping[str, int]) -> list[Vertex]:
    crossed = range(depth[parent] + 1, depth[child])
    return [(parent,), *((parent, child, str(layer)) for layer in crossed), (child,)]


def _layers(depth: Mapping[str, int], chains: Sequence[Sequence[Vertex]]) -> list[list[Vertex]]:
    """Vertices by layer, each near the mean row of the vertices before it."""
    layers: list[list[Vertex]] = [[] for _ in range(max(depth.values()) + 1)]
    before: dict[Vertex, list[Vertex]] = {}
    for name, layer in depth.items():
        layers[layer].append((name,))
    for chain in chains:
        for layer, vertex in enumerate(chain[1:-1], start=depth[chain[0][0]] + 1):
            layers[layer].append(vertex)
        for one, two in pairwise(chain):
            before.setdefault(two, []).append(one)
    row: dict[Vertex, float] = {}
    for vertices in layers:
        vertices.sort(key=lambda vertex: _mean([row[one] for one in before.get(vertex, ())]))
        row.update((vertex, place - (len(vertices) - 1) / 2) for place, vertex in enumerate(vertices))
    return layers


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _box(node: Mapping[str, Any], corner: Point) -> dict[str, Any]:
    place = {"x": corner[0], "y": corner[1], "width": NODE_PX[0], "height": NODE_PX[1]}
    return {"id": node["id"], "goal": node["goal"], "application": node.get("application", ""), **place}


def _path(corners: Sequence[Point]) -> str:
    """A line from the first corner's node through the rows of those between, to the last one's node."""
    (wide, high), bend = NODE_PX, _GAP_PX[0] // 2
    x, y = corners[0][0] + wide, corners[0][1] + high // 2
    path = f"M{x} {y}"
    for corner in corners[1:]:
        left, middle = corner[0], corner[1] + high // 2
        path += f"C{x + bend} {y} {left - bend} {middle} {left - _TIP_PX} {middle}"
        x, y = left + wide, middle
        if corner is not corners[-1]:
            path += f"H{x}"
    return path
