"""The accessibility tree (AT-SPI 2), read with many requests in flight at once.

A plain walk waits for each of some nine calls per object in turn. Here the calls of all objects at hand
are sent together, and answers are awaited as they come. pyatspi is the reference: a test on real programs
holds that both say the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Dict, FrozenSet, Optional, Tuple

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.errors import DBusError

from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_vm_agent.errors import PartUnavailable
from sci_gym_vm_agent.roles import ROLE_NAMES

PART = "accessibility bus"
_REGISTRY = "org.a11y.atspi.Registry"
_ROOT = "/org/a11y/atspi/accessible/root"
_NULL = "/org/a11y/atspi/null"
_SHOWING, _VISIBLE = 1 << 25, 1 << 30
_NO_LENGTH = -1
_IN_FLIGHT = 256
_MAX_DEPTH = 100
_MAX_TEXT_CHARS = 65_536
_ATSPI = "org.a11y.atspi."
_EVENT_CLASSES = ("Object", "Window", "Focus", "Document")
_Nature = Tuple[str, FrozenSet[str]]


class _Gone(Exception):
    """The object, or its program, went away while it was read."""


class Accessibility:
    """A connection to the accessibility bus."""

    def __init__(self, address: str, on_event: Callable[[], None]) -> None:
        """Remember the bus's address; `on_event` is called for every event of every program."""
        self._bus = MessageBus(bus_address=address)
        self._on_event = on_event
        self._slots = asyncio.Semaphore(_IN_FLIGHT)
        self.natures: Dict[Tuple[str, str], _Nature] = {}

    async def connect(self) -> None:
        """Connect, and listen to all events."""
        await self._bus.connect()
        self._bus.add_message_handler(self._handle)
        for name in _EVENT_CLASSES:
            rule = f"type='signal',interface='{_ATSPI}Event.{name}'"
            await self._call(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch", "s", rule
            )

    async def wait_for_registry(self) -> None:
        """Return when the registry owns its name, and ask programs to send events."""
        rule = f"type='signal',member='NameOwnerChanged',arg0='{_REGISTRY}'"
        owned = asyncio.Event()

        def notice(message: Message) -> None:
            if message.member == "NameOwnerChanged" and message.body[0] == _REGISTRY and message.body[2]:
                owned.set()

        self._bus.add_message_handler(notice)
        bus = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
        await self._call(*bus, "AddMatch", "s", rule)
        if not (await self._call(*bus, "NameHasOwner", "s", _REGISTRY))[0]:
            await owned.wait()
        self._bus.remove_message_handler(notice)
        for name in ("object:", "window:", "focus:", "document:"):
            await self._call(_REGISTRY, "/org/a11y/atspi/registry", _REGISTRY, "RegisterEvent", "s", name)

    async def applications(self) -> list[tuple[str, str, int]]:
        """Return the registered programs: bus name, path of the root object, process id."""
        children = await self._children(_REGISTRY, _ROOT)
        pids = await asyncio.gather(*(self._process(name) for name, _ in children))
        return [(name, path, pid) for (name, path), pid in zip(children, pids)]

    async def answers(self, name: str, path: str) -> None:
        """Return when a program's main loop has answered one question, or the program is gone."""
        await _either(self._get(name, path, "Accessible", "Name"), "")

    async def walk(self, scope: int, max_nodes: int, program_of: Callable[[int], int]) -> pb.Tree:
        """Read every program's tree.

        Args:
            scope: ObserveRequest.TREE_SHOWING leaves hidden subtrees out.
            max_nodes: more nodes than this are left out, and the tree is marked truncated.
            program_of: process id to the id of the launched program, 0 for another process.
        """
        walk = _Walk(self, scope == pb.ObserveRequest.TREE_ALL, max_nodes)
        roots = await self.applications()
        found = await asyncio.gather(*(walk.read(name, path) for name, path, _ in roots))
        self.natures = walk.natures
        tree = pb.Tree(truncated=walk.truncated)
        for (_, _, pid), node in zip(roots, found):
            if node is not None:
                _append(tree, node, -1, program_of(pid))
        return tree

    def disconnect(self) -> None:
        """Leave the bus."""
        self._bus.disconnect()

    def _handle(self, message: Message) -> None:
        if message.message_type is MessageType.SIGNAL and (message.interface or "").startswith(
            _ATSPI + "Event"
        ):
            self._on_event()

    async def _process(self, name: str) -> int:
        bus = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
        try:
            return int((await self._call(*bus, "GetConnectionUnixProcessID", "s", name))[0])
        except _Gone:
            return 0

    async def _children(self, name: str, path: str) -> list[tuple[str, str]]:
        children = await self._call(name, path, _ATSPI + "Accessible", "GetChildren")
        return [(child[0], child[1]) for child in children[0] if child[1] != _NULL]

    async def _get(self, name: str, path: str, interface: str, attribute: str) -> Any:
        got = await self._call(
            name, path, "org.freedesktop.DBus.Properties", "Get", "ss", _ATSPI + interface, attribute
        )
        return got[0].value if isinstance(got[0], Variant) else got[0]

    async def _call(
        self, name: str, path: str, interface: str, member: str, signature: str = "", *body: Any
    ) -> list[Any]:
        message = Message(
            destination=name,
            path=path,
            interface=interface,
            member=member,
            signature=signature,
            body=list(body),
        )
        async with self._slots:
            try:
                reply = await self._bus.call(message)
            except (DBusError, EOFError, OSError) as error:
                raise PartUnavailable(PART, f"the connection is gone: {error}") from error
        if reply is None or reply.message_type is MessageType.ERROR:
            if reply is not None and reply.error_name == "org.freedesktop.DBus.Error.LimitsExceeded":
                raise PartUnavailable(PART, f"{reply.body[0]}")
            raise _Gone(f"{member} of {name}{path}")
        return list(reply.body)


class _Read:
    """One object and its children, as read."""

    def __init__(self, node: pb.Node, children: Sequence[Optional[_Read]]) -> None:
        self.node = node
        self.children = [child for child in children if child is not None]


class _Walk:
    """One walk over all programs, with its node budget."""

    def __init__(self, bus: Accessibility, hidden: bool, max_nodes: int) -> None:
        self._bus = bus
        self._hidden = hidden
        self._left = max_nodes
        self.natures: Dict[Tuple[str, str], _Nature] = {}
        self.truncated = False

    async def read(self, name: str, path: str, depth: int = 0) -> Optional[_Read]:
        """Read one object and all below it; None when it is gone, hidden or beyond the budget."""
        if self._left <= 0:
            self.truncated = True
            return None
        self._left -= 1
        try:
            return await self._read(name, path, depth)
        except _Gone:
            return None

    async def _read(self, name: str, path: str, depth: int) -> Optional[_Read]:
        low, high = (await self._bus._call(name, path, _ATSPI + "Accessible", "GetState"))[0]
        states = low | high << 32
        showing = states & _SHOWING and states & _VISIBLE
        if depth and not (self._hidden or showing):
            return None
        # Of a hidden object neither place nor description matter, which saves every fourth call.
        # An object that does not answer one of these still stands in the tree: WebEngine's lacks most.
        (role, offered), children, label, description = await asyncio.gather(
            self._nature(name, path),
            _either(self._bus._children(name, path), []),
            _either(self._bus._get(name, path, "Accessible", "Name"), ""),
            _either(self._bus._get(name, path, "Accessible", "Description"), "") if showing else _nothing(),
        )
        node = pb.Node(role=_clean(role), name=_clean(label), description=_clean(description), states=states)
        await self._read_interfaces(name, path, node, offered if showing else offered - {"Component"})
        if len(children) > self._left or depth >= _MAX_DEPTH:
            self.truncated = True
        inside = children[: self._left] if depth < _MAX_DEPTH else []
        below = await asyncio.gather(*(self.read(bus, at, depth + 1) for bus, at in inside))
        return _Read(node, below)

    async def _nature(self, name: str, path: str) -> _Nature:
        """Role and interfaces, which an object keeps for life."""
        known = self._bus.natures.get((name, path))
        if known is None:
            role, interfaces = await asyncio.gather(
                _either(self._role(name, path), ""),
                _either(self._bus._call(name, path, _ATSPI + "Accessible", "GetInterfaces"), [[]]),
            )
            known = role, frozenset(one.rsplit(".", 1)[-1] for one in interfaces[0])
        self.natures[name, path] = known
        return known

    async def _role(self, name: str, path: str) -> str:
        number = (await self._bus._call(name, path, _ATSPI + "Accessible", "GetRole"))[0]
        if number < len(ROLE_NAMES):
            return ROLE_NAMES[number]
        return str((await self._bus._call(name, path, _ATSPI + "Accessible", "GetRoleName"))[0])

    async def _read_interfaces(self, name: str, path: str, node: pb.Node, interfaces: FrozenSet[str]) -> None:
        calls: list[Awaitable[Any]] = []
        if "Component" in interfaces:
            calls.append(self._extents(name, path, node))
        if "Text" in interfaces:
            calls.append(self._text(name, path, node))
        if "Value" in interfaces:
            calls.append(self._value(name, path, node))
        await asyncio.gather(*(_either(call, None) for call in calls))

    async def _extents(self, name: str, path: str, node: pb.Node) -> None:
        extents = await self._bus._call(name, path, _ATSPI + "Component", "GetExtents", "u", 0)
        x, y, width, height = extents[0]
        node.extents.x_px, node.extents.y_px = x, y
        node.extents.width_px, node.extents.height_px = width, height

    async def _text(self, name: str, path: str, node: pb.Node) -> None:
        text = await self._bus._call(name, path, _ATSPI + "Text", "GetText", "ii", 0, _NO_LENGTH)
        node.text = _clean(text[0])

    async def _value(self, name: str, path: str, node: pb.Node) -> None:
        node.value = float(await self._bus._get(name, path, "Value", "CurrentValue"))
        node.has_value = True


async def _nothing() -> str:
    return ""


async def _either(answer: Awaitable[Any], default: Any) -> Any:
    try:
        return await answer
    except _Gone:
        return default


def _clean(text: str) -> str:
    return text[:_MAX_TEXT_CHARS].replace("\0", "")


def _append(tree: pb.Tree, read: _Read, parent: int, program_id: int) -> None:
    """Add a subtree depth first, and number the cells of tables row by row."""
    read.node.program_id = program_id
    tree.parents.append(parent)
    tree.nodes.append(read.node.SerializeToString())
    index = len(tree.nodes) - 1
    roles = [child.node.role for child in read.children]
    columns = roles.count("table column header") or 1
    cell = 0
    for child in read.children:
        if child.node.role == "table cell":
            child.node.is_cell = True
            child.node.row, child.node.column = divmod(cell, columns)
            cell += 1
        _append(tree, child, index, program_id)
