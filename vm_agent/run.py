"""Exec: a command in a cell of its own, its output streamed, its time and output bounded."""

from __future__ import annotations

import asyncio
from typing import AsyncGenerator, Callable, Mapping, Optional

from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_vm_agent.cells import Cell, CellPlan, check_command, exit_code, start_cell

_CHUNK_BYTES = 65_536
_DEFAULT_TIMEOUT_MS = 60_000
_DEFAULT_OUTPUT_BYTES = 2**20


async def execute(
    plan: CellPlan, request: pb.ExecRequest, env: Optional[Mapping[str, str]] = None
) -> AsyncGenerator[pb.ExecChunk, None]:
    """Yield the output as it comes and the result at the end; whatever happens, the cell is ended.

    Args:
        plan: of the cell.
        request: what to run.
        env: variables beside the plan's.

    Raises:
        InvalidArgument: there is no argv, or one that no process can have.
        PartUnavailable: the guest starts no process.
    """
    check_command("exec", request.argv, env or {})
    pipe = asyncio.subprocess.PIPE
    cell = await start_cell(plan, request.argv, env or {}, stdin=pipe, stdout=pipe, stderr=pipe)
    parts: asyncio.Queue[pb.ExecChunk] = asyncio.Queue(maxsize=16)
    feeding = asyncio.create_task(_feed(cell, request.stdin, parts))
    loop = asyncio.get_running_loop()
    end = loop.time() + (request.timeout_ms or _DEFAULT_TIMEOUT_MS) / 1000
    left, truncated, timed_out = request.max_output_bytes or _DEFAULT_OUTPUT_BYTES, False, False
    try:
        while True:
            try:
                chunk = await asyncio.wait_for(parts.get(), max(end - loop.time(), 0))
            except asyncio.TimeoutError:
                timed_out = True
                break
            if chunk.HasField("result"):
                break
            size = len(chunk.stdout or chunk.stderr)
            truncated = truncated or size > left
            if size <= left:
                left -= size
                yield chunk
    finally:
        feeding.cancel()
        await asyncio.gather(feeding, return_exceptions=True)
        await asyncio.gather(cell.end(0), *map(_drain, (cell.process.stdout, cell.process.stderr)))
    code = exit_code(cell.process.returncode or 0)
    yield pb.ExecChunk(result=pb.ExecResult(exit_code=code, timed_out=timed_out, truncated=truncated))


async def _feed(cell: Cell, stdin: bytes, parts: "asyncio.Queue[pb.ExecChunk]") -> None:
    process = cell.process
    assert process.stdin is not None  # all three are piped by execute
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(stdin)
    process.stdin.close()
    await asyncio.gather(
        _copy(process.stdout, lambda data: pb.ExecChunk(stdout=data), parts),
        _copy(process.stderr, lambda data: pb.ExecChunk(stderr=data), parts),
    )
    await process.wait()
    await parts.put(pb.ExecChunk(result=pb.ExecResult()))


async def _drain(stream: Optional[asyncio.StreamReader]) -> None:
    """Read to the end: asyncio takes no process for ended while output of it is unread."""
    while stream is not None and await stream.read(_CHUNK_BYTES):
        pass


async def _copy(
    stream: asyncio.StreamReader,
    chunk: Callable[[bytes], pb.ExecChunk],
    parts: "asyncio.Queue[pb.ExecChunk]",
) -> None:
    while data := await stream.read(_CHUNK_BYTES):
        await parts.put(chunk(data))
