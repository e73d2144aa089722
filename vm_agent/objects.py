"""Accessible objects (AT-SPI 2) as they were last read, and how one is read."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any, Callable, FrozenSet, List, Optional, Set, Tuple

from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_protos.roles import ROLE_NAMES
from sci_gym_vm_agent.bus import Batch
from sci_gym_vm_agent.damage import Rectangle
from sci_gym_vm_agent.dbus import Method, address_of

Key = Tuple[str, str]
"""Bus name and object path."""
Cell = Optional[Tuple[int, int]]
FOCUSED, SHOWING, VISIBLE = 1 << 12, 1 << 25, 1 << 30
KNOWN, HIDDEN, STATES, CONTENT, UNSURE, STALE = range(6)
# Where these had no children, no toolkit gives them any later.
_LEAVES = frozenset(
    {"push button", "label", "check box", "radio button", "separator", "scroll bar", "slider", "table cell"}
)
_NULL = "/org/a11y/atspi/null"
_ATSPI = "org.a11y.atspi."
ACCESSIBLE = _ATSPI + "Accessible"
PROPERTIES = "org.freedesktop.DBus.Properties"
_ON_SCREEN = 0
_NO_LENGTH = -1
GET_CHILDREN = Method(ACCESSIBLE, "GetChildren", "a(so)")
GET_NAME = Method(PROPERTIES, "Get", "v", "ss", ACCESSIBLE, "Name")
_GET_DESCRIPTION = Method(PROPERTIES, "Get", "v", "ss", ACCESSIBLE, "Description")
_GET_STATE = Method(ACCESSIBLE, "GetState", "au")
_GET_ROLE = Method(ACCESSIBLE, "GetRole", "u")
_GET_ROLE_NAME = Method(ACCESSIBLE, "GetRoleName", "s")
_GET_INTERFACES = Method(ACCESSIBLE, "GetInterfaces", "as")
_GET_EXTENTS = Method(_ATSPI + "Component", "GetExtents", "(iiii)", "u", _ON_SCREEN)
_GET_TEXT = Method(_ATSPI + "Text", "GetText", "s", "ii", 0, _NO_LENGTH)
_GET_VALUE = Method(PROPERTIES, "Get", "v", "ss", _ATSPI + "Value", "CurrentValue")
_MAX_TEXT_CHARS = 65_536
_MAX_CHILDREN = 65_536


@dataclass(frozen=True)
class Block:
    """The serialized nodes of an object and of all below it, depth first.

    Attributes:
        place: program id and cell of the object itself.
        whole: whether hidden objects are among them.
        keys: of the objects.
        above: how many nodes before it each node's parent stands; 0 for the first.
        nodes: serialized.
        size: bytes of all nodes.
    """

    place: Tuple[int, Cell]
    whole: bool
    keys: Set[Key]
    above: List[int]
    nodes: List[bytes]
    size: int


class Thing:
    """One accessible object.

    Attributes:
        knowledge: KNOWN; HIDDEN: it is not on screen, and nothing else was read; STATES: its states may have
            changed; CONTENT: its states and label may have; UNSURE: if it was not on screen and still is
            not, all else stands; STALE: nothing stands.
        gone: it does not answer: it, or its program, went away.
        description: None when it is not known; it seldom changes, and says so.
        interfaces: None when they are not known; an object keeps them, and its role, for life.
        parent: below which it was placed last.
        block: None when something in it is in doubt, or it has no place in the tree; in doubt, those of the
            parents are None as well.
    """

    __slots__ = (
        "address", "block", "children", "data", "description", "extents", "gone", "interfaces", "key",
        "knowledge", "label", "parent", "place", "role", "states", "text", "value",
    )  # fmt: skip

    def __init__(self, key: Key) -> None:
        """Know nothing of it yet."""
        self.key, self.address = key, address_of(*key)
        self.knowledge, self.gone = STALE, False
        self.role = self.label = self.text = ""
        self.interfaces: Optional[FrozenSet[str]] = None
        self.description: Optional[str] = None
        self.states = 0
        self.value: Optional[float] = None
        self.extents: Optional[Rectangle] = None
        self.children: List[Key] = []
        self.data: Optional[bytes] = None
        self.place: Tuple[int, Cell] = (0, None)
        self.parent: Optional[Thing] = None
        self.block: Optional[Block] = None

    @property
    def shows(self) -> bool:
        """Whether it says of itself that it is on screen."""
        return bool(self.states & SHOWING and self.states & VISIBLE)

    @property
    def is_on_screen(self) -> bool:
        """Whether it and all above it say that they show; for hidden ones Qt's tables do, with no area."""
        if self.extents is not None and min(self.extents[2:]) <= 0:
            return False
        above: Optional[Thing] = self
        while above is not None and above.shows:
            above = above.parent
        return above is None

    def doubt(self, knowledge: int) -> None:
        """Take what is known of it for less sure."""
        self.knowledge = max(self.knowledge, knowledge)
        self.block, above = None, self.parent
        while above is not None and above.block is not None:
            above.block, above = None, above.parent

    def message(self, program_id: int, cell: Cell) -> bytes:
        """Serialize it as a Node; the bytes are the same ones for as long as nothing changes."""
        if self.data is None or self.place != (program_id, cell):
            self.place = program_id, cell
            self.data = self._node().SerializeToString()
        return self.data

    def _node(self) -> pb.Node:
        program_id, cell = self.place
        node = pb.Node(
            role=self.role, name=self.label, text=self.text, states=self.states, program_id=program_id
        )
        if self.value is not None:
            node.value, node.has_value = self.value, True
        if cell is not None:
            node.is_cell, (node.row, node.column) = True, cell
        # Of a hidden object neither place nor description matter, which saves every fourth call.
        if self.shows:
            node.description = self.description or ""
            if self.extents is not None:
                x, y, width, height = self.extents
                node.extents.CopyFrom(pb.Rect(x_px=x, y_px=y, width_px=width, height_px=height))
        return node


class Reader:
    """Reads one object in up to three rounds of calls; an answer that does not come leaves its field empty.

    An object that fails one of them still stands in the tree: WebEngine's lack most.
    """

    def __init__(self, batch: Batch, thing: Thing, whole: bool, on_read: Callable[[Thing], None]) -> None:
        """Read `thing` through `batch`; without `whole`, only the states of what is hidden."""
        self._batch, self._thing, self._whole, self._on_read = batch, thing, whole, on_read
        self._open = 0
        self._answers = self._offered = False
        self._next = Reader._finish  # no bound method, which would keep this object until it is looked for
        thing.data = None

    def start(self) -> None:
        """Ask first what it was like before, all at once, or whether it shows at all."""
        knowledge, self._thing.knowledge = self._thing.knowledge, KNOWN  # a doubt from here on is a new one
        self._showed = self._thing.shows
        self._stands = knowledge == UNSURE and not self._showed
        if knowledge in (STATES, CONTENT):
            self._next = Reader._ask_rest_if_turned
            self._ask_states()
            if knowledge == CONTENT:
                self._ask_label()
        elif self._thing.shows if self._thing.interfaces is not None else self._whole:
            self._ask_states()
            self._ask_rest()
        else:
            self._next = Reader._ask_rest_of_wanted
            self._ask_states()

    def _ask_states(self) -> None:
        self._ask(self._take_states, _GET_STATE)

    def _ask_label(self) -> None:
        self._ask(self._take_label, GET_NAME)

    def _ask_rest_if_turned(self) -> None:
        if self._thing.shows != self._showed:
            self._ask_rest()
        else:
            self._finish()

    def _ask_rest_of_wanted(self) -> None:
        if not self._answers:
            self._end(KNOWN)
        elif not self._thing.shows and (self._stands or not self._whole):
            self._end(KNOWN if self._stands and self._thing.interfaces is not None else HIDDEN)
        else:
            self._ask_rest()

    def _ask_rest(self) -> None:
        thing, self._next = self._thing, Reader._ask_late
        if thing.interfaces is None or thing.children or thing.role not in _LEAVES:
            self._ask(self._take_children, GET_CHILDREN)
        self._ask_label()
        if thing.interfaces is None:
            self._ask(self._take_role, _GET_ROLE)
            self._ask(self._take_interfaces, _GET_INTERFACES)
        else:
            self._ask_content()
        if thing.shows:
            self._ask_where()

    def _ask_content(self) -> None:
        interfaces = self._thing.interfaces or frozenset()
        if "Text" in interfaces:
            self._ask(self._take_text, _GET_TEXT)
        if "Value" in interfaces:
            self._ask(self._take_value, _GET_VALUE)

    def _ask_where(self) -> None:
        thing = self._thing
        if thing.interfaces is None or "Component" in thing.interfaces:
            self._ask(self._take_extents, _GET_EXTENTS)
        if thing.description is None:
            self._ask(self._take_description, _GET_DESCRIPTION)

    def _ask_late(self) -> None:
        """Ask for what only the answers of the round before have told to be there."""
        thing, self._next = self._thing, Reader._finish
        if thing.interfaces is None:
            thing.interfaces = frozenset()
        elif self._offered:
            self._ask_content()
        if "Component" not in thing.interfaces:
            thing.extents = None
        if thing.role.isdigit():
            self._ask(self._take_role_name, _GET_ROLE_NAME)
        if thing.shows and thing.description is None:
            self._ask_where()
        if not self._open:
            self._finish()

    def _finish(self) -> None:
        self._end(KNOWN)

    def _end(self, knowledge: int) -> None:
        self._thing.knowledge = max(self._thing.knowledge, knowledge)
        self._thing.gone = not self._answers
        self._on_read(self._thing)

    def _ask(self, take: Callable[[Any], None], method: Method) -> None:
        self._open += 1

        def answered(answer: Any) -> None:
            if answer is not None:
                with contextlib.suppress(ValueError):  # a program may answer what cannot be
                    take(answer)
            self._open -= 1
            if not self._open:
                self._next(self)

        self._batch.ask(answered, self._thing.address, method)

    def _take_states(self, answer: Any) -> None:
        low, high = answer[:2]
        self._thing.states = low | high << 32
        self._answers = True
        if not self._thing.shows:
            self._thing.extents = self._thing.description = None

    def _take_children(self, answer: Any) -> None:
        self._thing.children = [(child[0], child[1]) for child in answer[:_MAX_CHILDREN] if child[1] != _NULL]

    def _take_label(self, answer: Any) -> None:
        self._thing.label = _clean(answer)

    def _take_description(self, answer: Any) -> None:
        self._thing.description = _clean(answer)

    def _take_role(self, answer: Any) -> None:
        self._thing.role = ROLE_NAMES[answer] if answer < len(ROLE_NAMES) else str(answer)

    def _take_role_name(self, answer: Any) -> None:
        self._thing.role = _clean(answer)

    def _take_interfaces(self, answer: Any) -> None:
        self._thing.interfaces = frozenset(one.rsplit(".", 1)[-1] for one in answer)
        self._offered = True

    def _take_extents(self, answer: Any) -> None:
        x, y, width, height = answer
        self._thing.extents = (x, y, width, height)

    def _take_text(self, answer: Any) -> None:
        self._thing.text = _clean(answer)

    def _take_value(self, answer: Any) -> None:
        self._thing.value = float(answer)


def _clean(text: Any) -> str:
    return str(text)[:_MAX_TEXT_CHARS].replace("\0", "")
