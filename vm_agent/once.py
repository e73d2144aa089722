"""At most once: a step id acts once, and every retry gets what came of that one time."""

from __future__ import annotations

import asyncio
from typing import Awaitable, Callable, Optional

from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_vm_agent.errors import InvalidArgument, Replayed, TooLate


class StepsOnce:
    """The last step, from the moment it is claimed; earlier ones are refused."""

    def __init__(self, act: Callable[[pb.StepRequest], Awaitable[pb.StepReply]]) -> None:
        """Step with `act`."""
        self._act = act
        self._request = pb.StepRequest()
        self._task: Optional[asyncio.Future[pb.StepReply]] = None

    async def step(self, request: pb.StepRequest, limit_s: float) -> pb.StepReply:
        """Act, or wait for what came of this step id when it acted.

        A step whose caller has gone runs on within its own time limit: it cannot be taken back, and a retry
        then finds its answer.

        Raises:
            InvalidArgument: the step id is 0.
            Replayed: the step id is older than the last one, or was used for another step.
            TooLate: the step did not end within the time limit of its first caller.
        """
        if request.step_id == 0:
            raise InvalidArgument("step_id: must be given, counted from 1")
        if self._task is None or request.step_id > self._request.step_id:
            self._request = request
            self._task = asyncio.ensure_future(self._run(request, limit_s))
            self._task.add_done_callback(_note)
        elif request.step_id < self._request.step_id:
            raise Replayed(f"step_id: {request.step_id} was used before; the last is {self._request.step_id}")
        elif request != self._request:
            raise Replayed(f"step_id: {request.step_id} was used for another step")
        return await asyncio.shield(self._task)

    async def _run(self, request: pb.StepRequest, limit_s: float) -> pb.StepReply:
        try:
            return await asyncio.wait_for(self._act(request), limit_s)
        except asyncio.TimeoutError:
            raise TooLate(f"step {request.step_id} did not end within {limit_s:.1f} s") from None


def _note(task: "asyncio.Future[pb.StepReply]") -> None:
    """Take the exception of a step whose caller has gone, which asyncio would otherwise complain about."""
    if not task.cancelled():
        task.exception()
