"""The accessibility bus: which programs have registered, their events, and whether they answer."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any, Callable, Dict, Sequence, Tuple

from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_vm_agent.bus import BUS, BUS_INTERFACE, PART, Batch, Bus
from sci_gym_vm_agent.damage import Rectangle
from sci_gym_vm_agent.dbus import Message, Method, address_of
from sci_gym_vm_agent.errors import PartUnavailable
from sci_gym_vm_agent.objects import GET_CHILDREN, GET_NAME, Key
from sci_gym_vm_agent.tree import AccessibilityTree, Roots

_REGISTRY = "org.a11y.atspi.Registry"
_ROOT = address_of(_REGISTRY, "/org/a11y/atspi/accessible/root")
_EVENT = "org.a11y.atspi.Event."
_EVENT_CLASSES = ("Object", "Window", "Focus", "Document")
_BUS_CALL_S = 5.0
Place = Tuple[str, str]
"""What changed: an object's path, and the event's name."""
Applications = Sequence[Tuple[Key, int]]
"""The registered programs: root object, process id."""


class Accessibility:
    """The programs on the accessibility bus."""

    def __init__(self, address: str, on_event: Callable[[Place], None]) -> None:
        """Remember the bus's address; `on_event` is called for every event of every program."""
        self._bus = Bus(address, self._handle)
        self._on_event = on_event
        self._owned = asyncio.Event()
        self._processes: Dict[str, int] = {}
        self._generations = itertools.count(1)
        self._tree = AccessibilityTree(self._bus, self._generations)

    async def connect(self) -> None:
        """Connect, and listen to all events."""
        await self._bus.connect()
        for name in _EVENT_CLASSES:
            await self._listen(f"type='signal',interface='{_EVENT}{name}'")

    async def wait_for_registry(self) -> None:
        """Return when the registry owns its name, and ask programs to send events."""
        await self._listen(f"type='signal',member='NameOwnerChanged',arg0='{_REGISTRY}'")
        if not await self._bus.call(BUS, Method(BUS_INTERFACE, "NameHasOwner", "b", "s", _REGISTRY)):
            await self._owned.wait()
        registry = address_of(_REGISTRY, "/org/a11y/atspi/registry")
        for name in ("object:", "window:", "focus:", "document:"):
            await self._bus.call(registry, Method(_REGISTRY, "RegisterEvent", "", "s", name))

    async def applications(self) -> Applications:
        """Return the registered programs.

        Raises:
            PartUnavailable: the bus or its registry does not answer.
        """
        try:
            roots = await asyncio.wait_for(self._bus.call(_ROOT, GET_CHILDREN), _BUS_CALL_S)
        except asyncio.TimeoutError:
            raise PartUnavailable(PART, f"did not answer within {_BUS_CALL_S} s") from None
        if roots is None:
            raise PartUnavailable("accessibility registry", "does not answer")
        await self._ask_processes([name for name, _ in roots if name not in self._processes])
        return [(root, self._processes.get(root[0], 0)) for root in roots]

    async def answer(self, roots: Sequence[Key]) -> None:
        """Return when each program's main loop has answered one question, or the program is gone."""
        batch = Batch(self._bus)
        for root in roots:
            batch.ask(lambda name: None, address_of(*root), GET_NAME)
        await batch.done()

    def touch(self) -> None:
        """Note that there was input; see `AccessibilityTree.touch`."""
        self._tree.touch()

    async def read(
        self, request: pb.ObserveRequest, roots: Roots, damage: Sequence[Rectangle], max_nodes: int,
        limit_s: float,
    ) -> pb.Tree:  # fmt: skip
        """Read every program's tree; see `AccessibilityTree.read`.

        Args:
            request: which part of the tree, and whether what was read before counts.
            roots: of all `applications`, which answered after all events that were sent before.
            damage: where pixels changed since the last call.
            max_nodes: of the tree.
            limit_s: to read it.
        """
        if request.fresh_tree:
            self._tree = AccessibilityTree(self._bus, self._generations)
        whole = request.tree == pb.ObserveRequest.TREE_ALL
        return await self._tree.read(roots, damage, whole=whole, max_nodes=max_nodes, limit_s=limit_s)

    def disconnect(self) -> None:
        """Leave the bus."""
        self._bus.disconnect()

    async def _listen(self, rule: str) -> None:
        await self._bus.call(BUS, Method(BUS_INTERFACE, "AddMatch", "", "s", rule))

    async def _ask_processes(self, names: Sequence[str]) -> None:
        batch = Batch(self._bus)
        for name in names:

            def take(process: Any, name: str = name) -> None:
                if process is not None:
                    self._processes[name] = process

            batch.ask(take, BUS, Method(BUS_INTERFACE, "GetConnectionUnixProcessID", "u", "s", name))
        await batch.done()

    def _handle(self, signal: Message) -> None:
        # No program can send under the bus's own name.
        if (signal.sender, signal.member) == (BUS_INTERFACE, "NameOwnerChanged"):
            name, _, owner = signal.texts(3)
            if name == _REGISTRY and owner:
                self._owned.set()
        elif signal.interface.startswith(_EVENT):
            detail = "".join(signal.texts(1))
            self._tree.notice(((signal.sender, signal.path), signal.member, detail))
            self._on_event((signal.path, signal.member))
