"""What a step is in the guest: act, settle, observe the same moment."""

from __future__ import annotations

import asyncio
from typing import Awaitable, Optional

from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_vm_agent.accessibility import Applications
from sci_gym_vm_agent.damage import Rectangle
from sci_gym_vm_agent.desktop import Desktop
from sci_gym_vm_agent.display import Window, text_batches
from sci_gym_vm_agent.errors import InvalidArgument, LimitExceeded, NotFound, PartUnavailable
from sci_gym_vm_agent.files import read_file
from sci_gym_vm_agent.inspections import Inspector
from sci_gym_vm_agent.settle import Outcome, wait_until_settled

MAX_NODES = 20_000
_DEFAULT_FILE_BYTES = 2**20
_BATCH_QUIET_S, _BATCH_DEADLINE_S = 0.05, 5.0
_CAPTURE_TRIES = 3
_WALK_S = 20.0


class Session:
    """Steps and observations of one desktop, one at a time."""

    def __init__(self, desktop: Desktop) -> None:
        """Work on a started desktop."""
        self._desktop = desktop
        self._inspector = Inspector(desktop.plan, desktop.home)
        self._lock = asyncio.Lock()
        self._outcome = Outcome.TOO_LATE
        self._again: list[Rectangle] = []

    async def step(self, request: pb.StepRequest) -> pb.StepReply:
        """Act, settle and observe."""
        _check(request.observe)
        async with self._lock:
            clock = asyncio.get_running_loop().time
            start_s = clock()
            await self._act(request.input)
            acted_s = clock()
            outcome = await self._settle(request.settle)
            settled_s = clock()
            reacted_s = self._reacted_s(outcome, acted_s)
            observation, phases = await self._observe(request.observe)
            phases.act = 1000 * (acted_s - start_s)
            phases.react = 1000 * (reacted_s - acted_s)
            phases.settle = 1000 * (settled_s - reacted_s)
            return pb.StepReply(
                step_id=request.step_id,
                settled=outcome is not Outcome.TOO_LATE,
                observation=observation,
                probe=await self._probe(request.probe),
                phases=phases,
            )

    async def observe(self, request: pb.ObserveRequest) -> pb.Observation:
        """Observe without acting."""
        _check(request)
        async with self._lock:
            observation, _ = await self._observe(request)
            return observation

    async def probe(self, request: pb.ProbeRequest) -> pb.ProbeReply:
        """Read what predicates need."""
        async with self._lock:
            return await self._probe(request)

    async def windows(self) -> list[pb.Window]:
        """Describe the windows, bottom to top."""
        return list(map(self._window, await self._desktop.call(self._desktop.display.windows)))

    def _window(self, window: Window) -> pb.Window:
        number, title, box, active, process = window
        program_id = self._desktop.programs.owner(process)
        return pb.Window(id=number, title=title, extents=_rect(*box), active=active, program_id=program_id)

    async def _act(self, request: pb.Input) -> None:
        display = self._desktop.display
        if request.kind != pb.Input.KIND_NONE:
            self._desktop.accessibility.touch()
        if request.kind != pb.Input.KIND_TYPE:
            await self._desktop.call(display.act, request)
            return
        batches = text_batches(request.text, display.capacity)
        for number, batch in enumerate(batches):
            if number:
                # The program must have read the last batch's keys before their keycodes are bound anew.
                await wait_until_settled(
                    self._desktop.activity, self._desktop.rest, self._desktop.programs.answer,
                    quiet_s=_BATCH_QUIET_S, deadline_s=_BATCH_DEADLINE_S,
                )  # fmt: skip
            await self._desktop.call(display.act, pb.Input(kind=request.kind, text=batch))

    async def _settle(self, policy: pb.SettlePolicy) -> Outcome:
        self._outcome = await wait_until_settled(
            self._desktop.activity,
            self._desktop.rest,
            self._desktop.programs.answer,
            quiet_s=policy.quiet_ms / 1000,
            deadline_s=policy.deadline_ms / 1000,
            change_s=policy.change_ms / 1000,
        )
        return self._outcome

    def _reacted_s(self, outcome: Outcome, acted_s: float) -> float:
        activity = self._desktop.activity
        busy_s = activity.busy_s if outcome is Outcome.AT_REST else acted_s
        return max(activity.news_s, busy_s, acted_s)

    async def _observe(self, request: pb.ObserveRequest) -> tuple[pb.Observation, pb.Phases]:
        if self._desktop.display_lost:
            raise PartUnavailable("display", "the X server is gone")
        reply, phases = await self._capture(request)
        for _ in range(_CAPTURE_TRIES - 1):
            if reply.consistent:
                break
            reply, phases = await self._capture(request)
        return reply, phases

    async def _capture(self, request: pb.ObserveRequest) -> tuple[pb.Observation, pb.Phases]:
        desktop, clock = self._desktop, asyncio.get_running_loop().time
        before, start_s = desktop.activity.news, clock()
        reply, phases = pb.Observation(), pb.Phases()
        programs = asyncio.ensure_future(self._applications(request))  # while the screen is copied
        try:
            changed, windows = await desktop.call(desktop.grab, request, reply)
            reply.windows.extend(map(self._window, windows))
            captured_s = clock()
            tree = await self._walk(request, changed, programs)
        finally:
            programs.cancel()
        if tree is not None:
            reply.tree.CopyFrom(tree)
        phases.capture, phases.tree = 1000 * (captured_s - start_s), 1000 * (clock() - captured_s)
        reply.consistent = desktop.activity.news == before
        return reply, phases

    async def _applications(self, request: pb.ObserveRequest) -> Applications:
        wanted = request.tree != pb.ObserveRequest.TREE_NONE
        return await self._desktop.accessibility.applications() if wanted else ()

    async def _walk(
        self, request: pb.ObserveRequest, changed: list[Rectangle], programs: Awaitable[Applications]
    ) -> Optional[pb.Tree]:
        """Read the tree; programs that were not at rest can lag behind their pixels, and are read again."""
        if request.tree == pb.ObserveRequest.TREE_NONE:
            return None
        again = self._again
        if not request.fresh_tree:
            self._again = [] if self._outcome is Outcome.AT_REST else changed
        desktop = self._desktop
        tree = await desktop.accessibility.read(
            request, desktop.programs.roots(await programs), [*changed, *again],
            max_nodes=min(request.max_nodes or MAX_NODES, MAX_NODES),
            limit_s=request.tree_ms / 1000 if request.tree_ms else _WALK_S,
        )  # fmt: skip
        if tree.generation == request.known_tree:
            return pb.Tree(generation=tree.generation, unchanged=True, truncated=tree.truncated)
        return tree

    async def _probe(self, request: pb.ProbeRequest) -> pb.ProbeReply:
        limit = request.max_file_bytes or _DEFAULT_FILE_BYTES
        return pb.ProbeReply(
            programs=[program.message() for program in self._desktop.programs],
            files=[self._probe_file(path, limit) for path in request.files],
            inspections=await self._inspector.inspect(request),
        )

    def _probe_file(self, path: str, limit: int) -> pb.ProbedFile:
        probed = pb.ProbedFile(path=path)
        try:
            probed.data = b"".join(read_file(self._desktop.home, path, limit))
        except NotFound:
            return probed
        except LimitExceeded:
            probed.truncated = True
        probed.exists = True
        return probed


def _check(request: pb.ObserveRequest) -> None:
    if request.tree not in pb.ObserveRequest.TreeScope.values():
        raise InvalidArgument(f"observe.tree: {request.tree} is unknown to this daemon")


def _rect(x: int, y: int, width: int, height: int) -> pb.Rect:
    return pb.Rect(x_px=x, y_px=y, width_px=width, height_px=height)
