"""The accessibility tree, kept up to date: after a change only what can have changed is read again.

What can have changed is told by the programs' own accessibility events, by the places where pixels changed
(XDamage), since programs are silent about much that can be seen, such as rows that scroll, and, for lists and
tables that are not on screen, by the signals within Qt programs (see `witness`).
A soak holds that the tree equals a full walk after random actions (`sci-gym soak`).
"""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass
from typing import Container, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_vm_agent.bus import Batch, Bus
from sci_gym_vm_agent.damage import Rectangle
from sci_gym_vm_agent.objects import (
    CONTENT,
    FOCUSED,
    HIDDEN,
    STALE,
    STATES,
    UNSURE,
    Block,
    Cell,
    Key,
    Reader,
    Thing,
)

_MAX_DEPTH = 100
_NEVER = -1
_NO_PARENT = -1
_MAX_BYTES = 2**23
_MAX_EVENTS = 10_000
_FORGET_BEYOND = 20_000
# After these the rows or items of an object may have changed as well.
_ITEM_EVENTS = frozenset(
    {
        "VisibleDataChanged", "ModelChanged", "SelectionChanged", "ActiveDescendantChanged", "RowInserted",
        "RowReordered", "RowDeleted", "ColumnInserted", "ColumnReordered", "ColumnDeleted", "ChildrenChanged",
    }
)  # fmt: skip
# Qt tells nothing of what fills a view of items. On screen its pixels do; a hidden one is looked at after any
# change, of the program's items where those are counted; one with very many items for their number only.
_MAX_HIDDEN_ITEMS = 100
# A view may have more items than a tree can hold, where a dialog has to find its place too: so many are told
# of one that is not on screen, and of one that is, as many as this share of the tree's nodes.
_MAX_HIDDEN_ITEMS_TOLD, _LARGEST_VIEW = 1000, 1 / 2
_ITEM_VIEWS = frozenset({"table", "tree", "tree table", "list", "list box"})
_DOCUMENT_EVENTS = frozenset({"LoadComplete", "Reload"})
_FOCUS_EVENTS = frozenset({"Focus", "Activate", "Deactivate", "Create", "Destroy"})
_FOCUS_DETAILS = frozenset({"focused", "active"})
_SECRETLY_FOCUSABLE = frozenset(
    {"filler", "panel", "scroll pane", "canvas", "drawing area", "document web", "document frame", "unknown"}
)
_SILENT_EVENTS = frozenset({"TextCaretMoved", "TextSelectionChanged", "TextAttributesChanged"})
Event = Tuple[Key, str, str]
"""The object, the event's member such as "StateChanged", and its detail such as "focused"."""


class Root(NamedTuple):
    """A program on the accessibility bus.

    Attributes:
        key: its root object.
        program_id: of the launched program; 0: another process.
        item_changes: how often what its lists and tables hold has changed; None: not known.
    """

    key: Key
    program_id: int
    item_changes: Optional[int]


Roots = Sequence[Root]


class AccessibilityTree:
    """All programs' objects as they were last read."""

    def __init__(self, bus: Bus, generations: Iterator[int]) -> None:
        """Read through `bus`; `generations` numbers what is read."""
        self._bus, self._generations = bus, generations
        self._things: Dict[Key, Thing] = {}
        self._events: Dict[Event, None] = {}
        self._doubts = itertools.count(1)
        self._doubted = 0
        self._touched = False
        self._made: Dict[Tuple[bool, int], _Made] = {}
        self._item_changes: Dict[str, Optional[int]] = {}

    def notice(self, event: Event) -> None:
        """Remember that an object changed."""
        self._events[event] = None
        if len(self._events) > _MAX_EVENTS:  # read all anew rather than remember more
            self._events.clear()
            self._things.clear()
            self._made.clear()

    def touch(self) -> None:
        """Remember that there was input, which what has the focus may take in silence."""
        self._touched = True

    async def read(
        self, roots: Roots, damage: Sequence[Rectangle], *, whole: bool, max_nodes: int, limit_s: float
    ) -> pb.Tree:
        """Read what can have changed, and return the tree.

        Args:
            roots: of which programs.
            damage: where pixels changed since the last call.
            whole: with hidden subtrees.
            max_nodes: more nodes than this are left out, and the tree is marked truncated; of one list or
                table are told half as many, and of one that is not on screen 1,000.
            limit_s: so is a tree that takes longer to read; what could not be read again stands as it was.
        """
        items = self._item_changes
        self._item_changes = {root.key[0]: root.item_changes for root in roots}
        if self._events or damage or self._touched or self._item_changes != items:
            same = {name for name, count in items.items() if count and self._item_changes.get(name) == count}
            self._doubt([root.key for root in roots], damage, same)
        made = self._made.get((whole, max_nodes))
        if made is not None and made.doubted == self._doubted and made.roots == tuple(roots):
            return made.tree
        walk = _Walk(self._things, whole, max_nodes)
        in_time = await walk.read(self._bus, [root.key for root in roots], limit_s)
        tree = walk.assemble(roots, keep=in_time)
        tree.truncated |= not in_time
        self._number(tree, made)
        stands = in_time and walk.settled
        self._made[whole, max_nodes] = _Made(tuple(roots), self._doubted if stands else _NEVER, tree)
        self._forget_unseen(walk.seen)
        return tree

    def _number(self, tree: pb.Tree, made: Optional[_Made]) -> None:
        old = made.tree if made is not None else None
        same = (
            old is not None
            and old.truncated == tree.truncated
            and old.parents == tree.parents
            and old.nodes == tree.nodes
        )
        tree.generation = old.generation if old is not None and same else next(self._generations)

    def _doubt(self, roots: Sequence[Key], damage: Sequence[Rectangle], same_items: Set[str]) -> None:
        """Mark what events and changed pixels cast doubt on, and the windows, which come in silence."""
        self._doubted = next(self._doubts)
        events, self._events, self._touched = self._events, {}, False
        for key, member, detail in events:
            thing = self._things.get(key)
            if thing is not None and member not in _SILENT_EVENTS:
                self._doubt_thing(thing, member, detail)
        if any(member in _FOCUS_EVENTS or detail in _FOCUS_DETAILS for _, member, detail in events):
            self._doubt_focus()
        for root in roots:
            for key in [root, *(self._things[root].children if root in self._things else ())]:
                if key in self._things:
                    self._things[key].doubt(UNSURE)
        for thing in self._things.values():
            if thing.states & FOCUSED:
                thing.doubt(STATES)
            if thing.role == "label" and thing.description and thing.shows:
                thing.description = None  # what it explains can change while its own text stays the same
                thing.doubt(STALE)
        self._doubt_damaged(damage)
        self._doubt_hidden_items(same_items)

    def _doubt_damaged(self, damage: Sequence[Rectangle]) -> None:
        for x, y, width, height in map(_with_border, damage):
            right, bottom = x + width, y + height
            for thing in self._things.values():
                place = thing.extents
                if place is None or place[0] >= right or place[1] >= bottom or thing.knowledge >= UNSURE:
                    continue
                if place[0] + place[2] > x and place[1] + place[3] > y:
                    thing.doubt(STALE)

    def _doubt_hidden_items(self, same: Set[str]) -> None:
        """Doubt the views of items that are not on screen, but for programs whose items are the same."""
        for thing in self._things.values():
            if thing.role in _ITEM_VIEWS and thing.key[0] not in same and not thing.is_on_screen:
                thing.doubt(STALE)
                if len(thing.children) <= _MAX_HIDDEN_ITEMS:
                    doubt_children(self._things, thing, CONTENT)

    def _doubt_thing(self, thing: Thing, member: str, detail: str) -> None:
        thing.doubt(STALE)
        if detail == "defunct":
            self._things.pop(thing.key)
            return
        if member == "PropertyChange":
            thing.description = None
        elif member in _ITEM_EVENTS:
            doubt_children(self._things, thing, STALE)
        elif thing.role in _ITEM_VIEWS and not thing.is_on_screen:
            doubt_children(self._things, thing, CONTENT)
        elif member in _DOCUMENT_EVENTS:
            doubt_below(self._things, thing)

    def _doubt_focus(self) -> None:
        """Not everything that gains the focus tells, nor do buttons that it makes their dialog's default."""
        roles = _SECRETLY_FOCUSABLE
        if any(thing.role == "dialog" and thing.shows for thing in self._things.values()):
            roles = _SECRETLY_FOCUSABLE | {"push button"}
        for thing in self._things.values():
            if thing.shows and thing.role in roles:
                thing.doubt(STATES)

    def _forget_unseen(self, seen: Set[Key]) -> None:
        if len(self._things) > _FORGET_BEYOND:
            self._things = {key: thing for key, thing in self._things.items() if key in seen}


def _with_border(place: Rectangle) -> Rectangle:
    """A rectangle and the pixels around it: an object without an area moves with what lies next to it."""
    x, y, width, height = place
    return x - 1, y - 1, width + 2, height + 2


def doubt_children(
    things: Dict[Key, Thing], thing: Thing, knowledge: int, sure: Container[Key] = ()
) -> List[Thing]:
    """Doubt what lies directly below an object but those in `sure`; return what is doubted."""
    doubted = [things[key] for key in thing.children if key in things and key not in sure]
    for one in doubted:
        one.doubt(knowledge)
    return doubted


def doubt_below(things: Dict[Key, Thing], thing: Thing, sure: Container[Key] = ()) -> List[Thing]:
    """Doubt everything below an object but those in `sure`; return what is doubted."""
    doubted: List[Thing] = []
    seen: Set[Key] = set()
    unseen = list(thing.children)
    while unseen:
        key = unseen.pop()
        below = things.get(key)
        if below is not None and key not in seen:
            seen.add(key)
            if key not in sure:
                below.doubt(STALE)
                doubted.append(below)
            unseen += below.children
    return doubted


@dataclass(frozen=True)
class _Made:
    """A tree as it was returned, and what it rests on."""

    roots: Tuple[Root, ...]
    doubted: int
    tree: pb.Tree


class _Walk:
    """One walk from the roots: reads what is not known, then puts the nodes in order.

    What is known to have lain below an object is asked at the same time as the object itself: one round of
    questions instead of one for each level.
    """

    def __init__(self, things: Dict[Key, Thing], whole: bool, max_nodes: int) -> None:
        self._things = things
        self._whole = whole
        self._left, self._most_items = max_nodes, round(max_nodes * _LARGEST_VIEW)
        self._bytes_left = _MAX_BYTES
        self._cut = False
        self.seen: Set[Key] = set()
        self._open: Set[Key] = set()  # whose answers are not here yet
        self._sure: Set[Key] = set()  # of which all was asked in this walk
        self._scrolled: Set[Key] = set()
        self._bereaved: Set[Key] = set()
        self.settled = True  # nothing that was there was gone when it was asked for

    async def read(self, bus: Bus, roots: Sequence[Key], limit_s: float) -> bool:
        """Read; whether it was done in time."""
        self._batch = Batch(bus)
        try:
            for key in roots:
                self._visit(key, 0, None)
            await asyncio.wait_for(self._batch.done(), limit_s)
        except asyncio.TimeoutError:
            return False
        finally:
            for key in self._open & self._things.keys():
                self._things[key].doubt(STALE)
        return True

    def _visit(self, key: Key, depth: int, parent: Optional[Thing]) -> None:
        if key in self.seen:
            return
        if self._left <= 0 or depth >= _MAX_DEPTH:
            self._cut = True
            return
        thing = self._things.get(key)
        if thing is None:
            thing = self._things[key] = Thing(key)
        if self._stands(thing.block):
            return
        self.seen.add(key)
        self._left -= 1
        if thing.knowledge >= STATES or (self._whole and thing.knowledge == HIDDEN):
            self._read(thing, depth, parent)
            if thing.role in _ITEM_VIEWS:  # Qt may crash when it is asked for an item that is gone
                return
        self._descend(thing, depth)

    def _stands(self, block: Optional[Block]) -> bool:
        """Whether a block can be taken as it is; then its objects are seen."""
        if block is None or block.whole != self._whole or len(block.keys) > self._left:
            return False
        if not self.seen.isdisjoint(block.keys):
            return False
        self.seen.update(block.keys)
        self._left -= len(block.keys)
        return True

    def _read(self, thing: Thing, depth: int, parent: Optional[Thing]) -> None:
        shown, extents, children = thing.shows, thing.extents, thing.children
        self._open.add(thing.key)
        if thing.knowledge in (HIDDEN, STALE):
            self._sure.add(thing.key)

        def on_read(read: Thing) -> None:
            self._open.discard(read.key)
            if read.gone and parent is not None:
                self._read_heirs(parent, depth)
            moved = extents is not None and read.extents is not None and read.extents[:2] != extents[:2]
            doubted: List[Thing] = []
            if read.shows != shown:
                doubted = doubt_below(self._things, read, self._sure)
            elif moved or (read.role in _ITEM_VIEWS and read.children != children):
                doubted = doubt_children(self._things, read, STALE, self._sure)
            self._read_again(doubted, depth + 1, read)
            if moved and parent is not None and parent.role in _ITEM_VIEWS:
                self._read_items(parent, depth)
            if read.knowledge >= STATES:  # doubted while it was asked for less
                self._read(read, depth, parent)
            else:
                self._descend(read, depth)

        Reader(self._batch, thing, self._whole or not depth, on_read).start()

    def _read_again(self, things: Sequence[Thing], depth: int, parent: Thing) -> None:
        """Read what was thought to be known when it was visited; what is being read sees to itself."""
        for thing in things:
            if thing.key in self.seen and thing.key not in self._open:
                self._read(thing, depth, parent)

    def _descend(self, thing: Thing, depth: int) -> None:
        if self._enters(thing, depth):
            for key in self._below(thing):
                self._visit(key, depth + 1, thing)

    def _below(self, thing: Thing) -> List[Key]:
        """What is told of what lies directly below an object."""
        if thing.role not in _ITEM_VIEWS:
            return thing.children
        most = self._most_items if thing.is_on_screen else _MAX_HIDDEN_ITEMS_TOLD
        return thing.children[:most]

    def _read_items(self, view: Thing, depth: int) -> None:
        """Read all items of a view in which one has moved: those out of sight move unseen."""
        if view.key not in self._scrolled:
            self._scrolled.add(view.key)
            self._read_again(doubt_children(self._things, view, STALE, self._sure), depth, view)

    def _read_heirs(self, parent: Thing, depth: int) -> None:
        """Ask once more what lies below an object some of which is gone: Qt makes items anew in silence."""
        if parent.key in self._bereaved:
            self.settled = False
            return
        self._bereaved.add(parent.key)
        parent.doubt(STALE)
        self._read_again([parent], depth - 1, parent)

    def _enters(self, thing: Thing, depth: int) -> bool:
        return not thing.gone and (self._whole or not depth or thing.shows)

    def assemble(self, roots: Roots, *, keep: bool) -> pb.Tree:
        """The nodes that were seen, depth first; with `keep`, blocks are kept for the next walk."""
        self._keep = keep
        self._placed: Set[Key] = set()
        parents: List[int] = []
        nodes: List[bytes] = []
        for key, program_id, _ in roots:
            block = self._block(key, 0, (program_id, None))
            if block is not None:
                parents.append(_NO_PARENT)
                parents += [index - above for index, above in enumerate(block.above[1:], len(nodes) + 1)]
                nodes += block.nodes
        return pb.Tree(parents=parents, nodes=nodes, truncated=self._cut)

    def _block(self, key: Key, depth: int, place: Tuple[int, Cell]) -> Optional[Block]:
        thing = self._things.get(key)
        if thing is None or key not in self.seen or key in self._placed or thing.interfaces is None:
            return None
        if not self._enters(thing, depth):
            return None
        if thing.block is not None and self._fits(thing.block, place):
            self._placed.update(thing.block.keys)
            self._bytes_left -= thing.block.size
            return thing.block
        return self._make_block(thing, depth, place)

    def _fits(self, block: Block, place: Tuple[int, Cell]) -> bool:
        return (
            block.place == place
            and block.whole == self._whole
            and block.size <= self._bytes_left
            and self._placed.isdisjoint(block.keys)
        )

    def _make_block(self, thing: Thing, depth: int, place: Tuple[int, Cell]) -> Optional[Block]:
        message = thing.message(*place)
        if len(message) > self._bytes_left:
            self._cut = True
            return None
        self._bytes_left -= len(message)
        self._placed.add(thing.key)
        keys, above, nodes, size = {thing.key}, [0], [message], len(message)
        stands = self._keep and thing.knowledge < STATES
        for child, cell in self._cells(thing):
            if child in self._things and child not in self._placed:
                self._things[child].parent = thing
            block = self._block(child, depth + 1, (place[0], cell))
            if block is not None:
                stands = stands and self._things[child].block is block
                above.append(len(nodes))
                above += block.above[1:]
                keys |= block.keys
                nodes += block.nodes
                size += block.size
        block = Block(place, self._whole, keys, above, nodes, size)
        thing.block = block if stands and not self._cut else None
        return block

    def _cells(self, thing: Thing) -> List[Tuple[Key, Cell]]:
        """The children, those of tables numbered row by row."""
        below = self._below(thing)
        roles = [self._things[key].role if key in self._things else "" for key in below]
        if "table cell" not in roles:
            return [(key, None) for key in below]
        columns = roles.count("table column header") or 1
        numbers = itertools.count()
        return [
            (key, divmod(next(numbers), columns) if role == "table cell" else None)
            for key, role in zip(below, roles)
        ]
