"""What a desktop shows: the accessibility tree, windows, programs, and all of them at one moment.

Pixels count from the screen's top left corner.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sci_gym.specs.inspections import Inspected

Frame = npt.NDArray[np.uint8]
"""Pixels, uint8 `[H, W, 3]`, RGB."""
_ITEM_VIEWS = frozenset({"table", "tree", "tree table", "list", "list box"})


class Box(NamedTuple):
    """A rectangle on screen, in pixels."""

    x: int
    y: int
    width: int
    height: int

    @property
    def center(self) -> tuple[int, int]:
        """The pixel in the middle, as (x, y)."""
        return self.x + self.width // 2, self.y + self.height // 2

    def holds(self, point: tuple[int, int]) -> bool:
        """Whether a pixel, as (x, y), lies in it."""
        return 0 <= point[0] - self.x < self.width and 0 <= point[1] - self.y < self.height

    def clip(self, width: int, height: int) -> Box:
        """The part of it that lies on a screen of `width` by `height` pixels (perhaps empty)."""
        x, y, own_width, own_height = self
        left, top = max(x, 0), max(y, 0)
        right, bottom = min(x + own_width, width), min(y + own_height, height)
        return Box(left, top, max(right - left, 0), max(bottom - top, 0))


class State(enum.IntEnum):
    """The AT-SPI states that sci_gym names; the numbers are AtspiStateType's."""

    ACTIVE = 1
    CHECKED = 4
    EDITABLE = 7
    ENABLED = 8
    EXPANDABLE = 9
    EXPANDED = 10
    FOCUSABLE = 11
    FOCUSED = 12
    MODAL = 16
    PRESSED = 20
    SELECTABLE = 22
    SELECTED = 23
    SENSITIVE = 24
    SHOWING = 25
    VISIBLE = 30
    CHECKABLE = 41


_SHOWS = 1 << State.SHOWING | 1 << State.VISIBLE


class A11yNode(NamedTuple):
    """One accessible object (AT-SPI 2).

    Attributes:
        index: its place in the tree's depth-first order.
        parent: the parent's index; -1 for an application.
        role: AT-SPI role name, such as "push button".
        name: accessible name.
        text: content of its Text interface.
        description: accessible description.
        value: of its Value interface, else None.
        states: bit n is AtspiStateType n; ask with `has`.
        box: extents on screen, else None.
        program: name of the launched program that owns it; "" for another process.
        cell: (row, column) of a table cell, else None.
    """

    index: int  # type: ignore[assignment]  # a tuple's method of that name is of no use here
    parent: int
    role: str
    name: str = ""
    text: str = ""
    description: str = ""
    value: float | None = None
    states: int = 0
    box: Box | None = None
    program: str = ""
    cell: tuple[int, int] | None = None

    def has(self, state: State) -> bool:
        """Whether the node is in a state."""
        return bool(self.states >> state & 1)

    def at(self, index: int, parent: int) -> A11yNode:
        """The same node at another place of a tree."""
        return A11yNode(index, parent, *self[2:])

    @property
    def showing(self) -> bool:
        """Whether it says of itself that it is on screen, with an area; see `A11yTree.showing`."""
        box = self.box
        return self.states & _SHOWS == _SHOWS and box is not None and box.width > 0 and box.height > 0


@dataclass(frozen=True)
class A11yTree:
    """An accessibility tree in depth-first order; `truncated` when the node budget cut it."""

    nodes: tuple[A11yNode, ...] = ()
    truncated: bool = False

    def __iter__(self) -> Iterator[A11yNode]:
        """Walk the nodes, parents before children."""
        return iter(self.nodes)

    def __len__(self) -> int:
        """Count the nodes."""
        return len(self.nodes)

    def children(self, node: A11yNode) -> list[A11yNode]:
        """The node's direct children, in order."""
        return list(self._children.get(node.index, ()))

    @functools.cached_property
    def _children(self) -> Mapping[int, list[A11yNode]]:
        children: dict[int, list[A11yNode]] = {}
        for node in self.nodes:
            children.setdefault(node.parent, []).append(node)
        return children

    def descendants(self, node: A11yNode) -> list[A11yNode]:
        """Every node below a node, in depth-first order."""
        inside = {node.index}
        found = []
        for other in self.nodes[node.index + 1 :]:
            if other.parent not in inside:
                break
            inside.add(other.index)
            found.append(other)
        return found

    def of_program(self, program: str) -> A11yTree:
        """The part of the tree that a launched program owns, with its own numbering."""
        kept = [node for node in self.nodes if node.program == program]
        return self.subset(kept)

    def subset(self, kept: Sequence[A11yNode]) -> A11yTree:
        """A tree of some of the nodes; one whose parent is left out hangs below the nearest that is kept."""
        if len(kept) == len(self.nodes):
            return self
        place: dict[int, int] = {-1: -1}
        wanted = {node.index for node in kept}
        nodes: list[A11yNode] = []
        for node in self.nodes:
            above = place[node.parent]
            place[node.index] = above
            if node.index in wanted:
                place[node.index] = len(nodes)
                nodes.append(node.at(len(nodes), above))
        return A11yTree(tuple(nodes), self.truncated)

    @functools.cached_property
    def showing(self) -> A11yTree:
        """What is on screen: the applications, and nodes with an area below parents that show as well.

        A node's own states are not enough: Qt calls hidden tables and their items showing. Such a table has
        no area.
        """
        place = {-1: -1}  # of nodes that show, and of the nearest kept one for those without an area
        nodes: list[A11yNode] = []
        for node in self.nodes:
            above = place.get(node.parent)
            # GTK's applications have no states.
            if above is None or (node.parent != -1 and node.states & _SHOWS != _SHOWS):
                continue
            if node.parent == -1 or node.showing:
                place[node.index] = len(nodes)
                nodes.append(node.at(len(nodes), above))
            elif node.role not in _ITEM_VIEWS:
                place[node.index] = above
        return A11yTree(tuple(nodes), self.truncated)

    def uncovered(self, windows: tuple[Window, ...]) -> A11yTree:
        """What of `showing` no window of another program covers; `windows` are bottom to top.

        Programs do not tell: a button counts as covered when the window on top of its middle is another
        program's. What stands outside all windows, such as a menu, is covered by none.
        """
        if len({window.program for window in windows}) < 2:
            return self.showing
        if windows not in self._uncovered:
            self._uncovered.clear()
            kept = [node for node in self.showing if not _is_covered(node, windows)]
            self._uncovered[windows] = self.showing.subset(kept)
        return self._uncovered[windows]

    @functools.cached_property
    def _uncovered(self) -> dict[tuple[Window, ...], A11yTree]:
        return {}


@dataclass(frozen=True, slots=True)
class Window:
    """A top-level window."""

    id: int
    title: str
    box: Box
    active: bool
    program: str


def _is_covered(node: A11yNode, windows: tuple[Window, ...]) -> bool:
    if node.box is None or not node.program:
        return False
    on_top = next((window for window in reversed(windows) if window.box.holds(node.box.center)), None)
    return on_top is not None and on_top.program != node.program


@dataclass(frozen=True, slots=True)
class Program:
    """A launched program.

    Attributes:
        id: the daemon's number for it.
        name: the app's name for it.
        running: whether its main process lives.
        exit_code: of the main process; negative is the signal that ended it.
        launches: how many launches it took to register with the accessibility bus.
        state: the lines that its start-up module reported, the newest last.
        stderr_tail: the end of what it wrote to stderr.
    """

    id: int
    name: str
    running: bool
    exit_code: int
    launches: int
    state: tuple[str, ...]
    stderr_tail: str


@dataclass(frozen=True, slots=True)
class Observation:
    """What the guest showed at one moment.

    Attributes:
        screenshot: RGB pixels with the pointer drawn, uint8 `[H, W, 3]`, read-only.
        tree: every accessible object, hidden and covered ones included; see `showing`.
        cursor: the pointer as (x, y) in pixels.
        windows: top-level windows, bottom to top.
        programs: what was launched, with the state that start-up modules reported.
        files: probed files by path; None where there is none.
        settled: whether the screen came to rest before the deadline.
        consistent: whether pixels and tree are of the same moment.
        output: what CODE or API returned, else "".
        inspections: what the task's inspections gave, by name.
    """

    screenshot: Frame
    tree: A11yTree
    cursor: tuple[int, int]
    windows: tuple[Window, ...]
    programs: tuple[Program, ...]
    files: Mapping[str, bytes | None]
    settled: bool
    consistent: bool
    output: str = ""
    inspections: Mapping[str, Inspected] = field(default_factory=dict)

    def program(self, name: str) -> Program | None:
        """The program that was launched last under a name; None when none was."""
        return next((one for one in reversed(self.programs) if one.name == name), None)

    @property
    def showing(self) -> A11yTree:
        """The accessible objects on screen: `tree.showing`, but for what another program's window covers."""
        return self.tree.uncovered(self.windows)
