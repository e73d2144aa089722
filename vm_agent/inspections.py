"""Inspections: commands that read what a program has stored, where the policy's code reaches none of them.

Each runs in a private cell (see `cells.CellPlan`). What it gave is kept, and given again while what it reads
is unchanged as far as the kernel's own record of files tells: a time of change cannot be set by hand.
"""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path
from typing import Iterator, Optional, Sequence

from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_vm_agent.cells import CellPlan, check_command
from sci_gym_vm_agent.errors import AgentError, InvalidArgument
from sci_gym_vm_agent.files import path_parts
from sci_gym_vm_agent.run import execute

MAX_INSPECTIONS = 16
MAX_WATCHES = 16
MAX_OUTPUT_BYTES = 16 * 2**20
MAX_WATCHED = 20_000
_LONGEST_MS = 60_000
_DEFAULT_MS = 10_000
_DEFAULT_OUTPUT_BYTES = 2**20
_AT_ONCE = 2
_MAX_NAME_CHARS = 256
_MAX_PROBLEM_CHARS = 500

Marks = tuple[tuple[str, int, int, int, int], ...]
"""Of each watched file: path, inode, mode, size, and time of change in nanoseconds."""


def check_inspections(request: pb.ProbeRequest) -> None:
    """Refuse inspections that are too many or too large, or cannot be.

    Raises:
        InvalidArgument: the message names the field.
    """
    asked = request.inspections
    if len(asked) > MAX_INSPECTIONS:
        raise InvalidArgument(f"probe.inspections: {len(asked)} of them, at most {MAX_INSPECTIONS}")
    if request.inspect_ms > _LONGEST_MS:
        raise InvalidArgument(f"probe.inspect_ms: at most {_LONGEST_MS}")
    if sum(one.max_output_bytes or _DEFAULT_OUTPUT_BYTES for one in asked) > MAX_OUTPUT_BYTES:
        raise InvalidArgument(f"probe.inspections: more than {MAX_OUTPUT_BYTES} bytes of output together")
    names = {one.name for one in asked}
    if len(names) < len(asked) or not all(0 < len(name) <= _MAX_NAME_CHARS for name in names):
        raise InvalidArgument(f"probe.inspections.name: unique, 1 to {_MAX_NAME_CHARS} characters")
    for one in asked:
        check_command("probe.inspections", one.argv, one.env)
        if len(one.watches) > MAX_WATCHES:
            raise InvalidArgument(f"probe.inspections.watches: at most {MAX_WATCHES}")
        for path in one.watches:
            path_parts(path)


class Inspector:
    """Runs a desktop's inspections, and keeps what each gave last."""

    def __init__(self, plan: CellPlan, home: Path) -> None:
        """Run in cells like those of `plan`, but private; what is watched lies below `home`."""
        self._plan, self._home = plan.to_inspect(), home
        self._known: dict[bytes, tuple[Marks, pb.Inspected]] = {}

    async def inspect(self, request: pb.ProbeRequest) -> list[pb.Inspected]:
        """What each inspection of a probe gives, in their order; those not asked for are forgotten."""
        keys = [one.SerializeToString(deterministic=True) for one in request.inspections]
        self._known = {key: self._known[key] for key in keys if key in self._known}
        end_s = asyncio.get_running_loop().time() + (request.inspect_ms or _DEFAULT_MS) / 1000
        turn = asyncio.Semaphore(_AT_ONCE)
        return await asyncio.gather(
            *(
                self._one(turn, key, one, end_s, request.fresh_inspections)
                for key, one in zip(keys, request.inspections)
            )
        )

    async def _one(
        self, turn: asyncio.Semaphore, key: bytes, asked: pb.Inspection, end_s: float, fresh: bool
    ) -> pb.Inspected:
        loop = asyncio.get_running_loop()
        async with turn:
            # What changes while it runs makes it run again the next time.
            marks = await loop.run_in_executor(None, look, self._home, asked.watches)
            known = self._known.get(key)
            if known is not None and not fresh and known[0] == marks:
                return known[1]
            found = await self._run(asked, max(end_s - loop.time(), 0.001))
            if marks is not None and found.HasField("result") and not found.result.timed_out:
                self._known[key] = marks, found
            return found

    async def _run(self, asked: pb.Inspection, limit_s: float) -> pb.Inspected:
        request = pb.ExecRequest(
            argv=asked.argv,
            stdin=asked.stdin,
            timeout_ms=max(round(limit_s * 1000), 1),
            max_output_bytes=asked.max_output_bytes or _DEFAULT_OUTPUT_BYTES,
        )
        found = pb.Inspected(name=asked.name)
        try:
            async for chunk in execute(self._plan, request, asked.env):
                found.stdout += chunk.stdout
                found.stderr += chunk.stderr
                if chunk.HasField("result"):
                    found.result.CopyFrom(chunk.result)
        except AgentError as error:
            found.problem = str(error)[:_MAX_PROBLEM_CHARS]
        return found


def look(home: Path, watches: Sequence[str]) -> Optional[Marks]:
    """What the kernel knows of watched files; None when there is nothing to watch, or too much of it."""
    marks: list[tuple[str, int, int, int, int]] = []
    for watch in watches:
        for path in _below(home / watch):
            try:
                seen = os.lstat(path)
            except OSError:
                continue
            marks.append((path, seen.st_ino, seen.st_mode, seen.st_size, seen.st_ctime_ns))
            if len(marks) > MAX_WATCHED:
                return None
    return tuple(sorted(marks)) if watches else None


def _below(path: Path) -> Iterator[str]:
    """A path and all below it, links not followed."""
    yield str(path)
    try:
        folder = stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return
    if folder:
        for parent, folders, files in os.walk(path):
            yield from (os.path.join(parent, name) for name in (*folders, *files))
