"""The gRPC service: every call of the protocol over the desktop's parts."""

from __future__ import annotations

import asyncio
import platform
from typing import Any, AsyncIterator, Awaitable, Callable, Optional, TypeVar

import grpc

from sci_gym_protos import PROTOCOL_VERSION
from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_protos import vm_agent_pb2_grpc as rpc
from sci_gym_vm_agent import __version__
from sci_gym_vm_agent.desktop import Desktop
from sci_gym_vm_agent.door import Door
from sci_gym_vm_agent.errors import InvalidArgument, PartUnavailable
from sci_gym_vm_agent.files import Upload, check_probe, read_file
from sci_gym_vm_agent.gate import Gate, guard
from sci_gym_vm_agent.inspections import check_inspections
from sci_gym_vm_agent.once import StepsOnce
from sci_gym_vm_agent.run import execute
from sci_gym_vm_agent.session import Session

T = TypeVar("T")
MAX_MESSAGE_BYTES = 64 * 2**20


class Service(rpc.VmAgentServicer):
    """Every call of the protocol, each a few lines over the desktop's parts."""

    def __init__(self, desktop: Desktop, gate: Gate, stopped: asyncio.Event) -> None:
        """Serve a started desktop behind `gate`; `stopped` is set by Shutdown."""
        self._desktop, self._gate = desktop, gate
        self._session = Session(desktop)
        self._steps = StepsOnce(self._session.step)
        self._stopped = stopped

    def forget_steps(self) -> None:
        """Begin a new series of step ids: the next caller is another one."""
        self._steps = StepsOnce(self._session.step)

    async def Hello(self, request: pb.HelloRequest, context: grpc.aio.ServicerContext) -> pb.HelloReply:
        """Tell what this daemon is."""
        return await guard(context, self._hello, request)

    async def Step(self, request: pb.StepRequest, context: grpc.aio.ServicerContext) -> pb.StepReply:
        """Act, settle, observe."""
        return await self._guard(context, self._step, request, context)

    async def Observe(self, request: pb.ObserveRequest, context: grpc.aio.ServicerContext) -> pb.Observation:
        """Observe without acting."""
        return await self._guard(context, self._session.observe, request)

    async def Probe(self, request: pb.ProbeRequest, context: grpc.aio.ServicerContext) -> pb.ProbeReply:
        """Read what predicates need."""
        return await self._guard(context, self._probe, request)

    async def Exec(
        self, request: pb.ExecRequest, context: grpc.aio.ServicerContext
    ) -> AsyncIterator[pb.ExecChunk]:
        """Run a command in a cell of its own."""
        chunks = execute(self._desktop.plan, request)
        try:
            while (chunk := await self._guard(context, _next, chunks)) is not None:
                yield chunk
        finally:
            await chunks.aclose()

    async def PutFile(
        self, chunks: AsyncIterator[pb.PutFileChunk], context: grpc.aio.ServicerContext
    ) -> pb.PutFileReply:
        """Write a file."""
        return await self._guard(context, self._put, chunks)

    async def GetFile(
        self, request: pb.GetFileRequest, context: grpc.aio.ServicerContext
    ) -> AsyncIterator[pb.FileChunk]:
        """Read a file."""
        data = read_file(self._desktop.home, request.path, request.max_bytes)
        while (part := await self._guard(context, _pull, data)) is not None:
            yield pb.FileChunk(data=part)

    async def Launch(self, request: pb.LaunchRequest, context: grpc.aio.ServicerContext) -> pb.Program:
        """Launch a program."""
        return await self._guard(context, self._desktop.programs.launch, request)

    async def Close(self, request: pb.CloseRequest, context: grpc.aio.ServicerContext) -> pb.Program:
        """End a program."""
        return await self._guard(context, self._desktop.programs.close, request)

    async def ListPrograms(
        self, request: pb.ListProgramsRequest, context: grpc.aio.ServicerContext
    ) -> pb.ListProgramsReply:
        """List the launched programs."""
        return await guard(context, self._programs)

    async def ListWindows(
        self, request: pb.ListWindowsRequest, context: grpc.aio.ServicerContext
    ) -> pb.ListWindowsReply:
        """List the windows."""
        return await self._guard(context, self._windows)

    async def ActivateWindow(
        self, request: pb.WindowRequest, context: grpc.aio.ServicerContext
    ) -> pb.ListWindowsReply:
        """Raise and focus a window."""
        await self._guard(context, self._desktop.call, self._desktop.display.activate, request.id)
        return await self._guard(context, self._windows)

    async def CloseWindow(
        self, request: pb.WindowRequest, context: grpc.aio.ServicerContext
    ) -> pb.ListWindowsReply:
        """Ask a window to close."""
        await self._guard(context, self._desktop.call, self._desktop.display.close_window, request.id)
        return await self._guard(context, self._windows)

    async def GetClipboard(
        self, request: pb.GetClipboardRequest, context: grpc.aio.ServicerContext
    ) -> pb.Clipboard:
        """Return the clipboard's text."""
        return pb.Clipboard(text=await self._guard(context, self._desktop.clipboard.get))

    async def SetClipboard(self, request: pb.Clipboard, context: grpc.aio.ServicerContext) -> pb.Clipboard:
        """Set the clipboard's text."""
        await self._guard(context, self._set_clipboard, request.text)
        return request

    async def GetCursor(self, request: pb.GetCursorRequest, context: grpc.aio.ServicerContext) -> pb.Point:
        """Return where the pointer is."""
        x, y = await self._guard(context, self._desktop.call, self._desktop.display.cursor)
        return pb.Point(x_px=x, y_px=y)

    async def GetScreenSize(
        self, request: pb.GetScreenSizeRequest, context: grpc.aio.ServicerContext
    ) -> pb.ScreenSize:
        """Return the screen's size."""
        return await self._guard(context, self._screen)

    async def Health(self, request: pb.HealthRequest, context: grpc.aio.ServicerContext) -> pb.HealthReply:
        """Tell which parts live."""
        return await guard(context, self._health)

    async def Shutdown(
        self, request: pb.ShutdownRequest, context: grpc.aio.ServicerContext
    ) -> pb.ShutdownReply:
        """End everything."""
        return await guard(context, self._shut_down)

    async def _guard(
        self, context: grpc.aio.ServicerContext, function: Callable[..., Awaitable[T]], *arguments: Any
    ) -> T:
        """Call a function within the caller's deadline, while every part of the desktop is watched."""
        left_s = context.time_remaining()
        return await guard(context, self._desktop.health.guard, left_s, function, *arguments)

    async def _hello(self, request: pb.HelloRequest) -> pb.HelloReply:
        return pb.HelloReply(
            protocol_version=PROTOCOL_VERSION,
            agent_version=__version__,
            python_version=platform.python_version(),
            screen=await self._screen(),
            session=self._gate.claim() if request.claim else "",
        )

    async def _step(self, request: pb.StepRequest, context: grpc.aio.ServicerContext) -> pb.StepReply:
        check_probe(request.probe)
        check_inspections(request.probe)
        reply = await self._steps.step(request, context.time_remaining())
        self._desktop.health.check()  # a dead window manager, for one, hinders no step
        if not reply.settled or reply.observation.tree.truncated:
            await self._desktop.programs.answer()  # of one that is blocked for good, the deadline tells
        return reply

    async def _probe(self, request: pb.ProbeRequest) -> pb.ProbeReply:
        check_probe(request)
        check_inspections(request)
        return await self._session.probe(request)

    async def _programs(self) -> pb.ListProgramsReply:
        return pb.ListProgramsReply(programs=[program.message() for program in self._desktop.programs])

    async def _health(self) -> pb.HealthReply:
        parts = await self._desktop.health.report()
        return pb.HealthReply(
            parts=[
                pb.HealthReply.Part(name=name, healthy=not what, detail=what) for name, what in parts.items()
            ]
        )

    async def _shut_down(self) -> pb.ShutdownReply:
        self._stopped.set()
        return pb.ShutdownReply()

    async def _screen(self) -> pb.ScreenSize:
        display = self._desktop.display
        return pb.ScreenSize(width_px=display.width, height_px=display.height)

    async def _windows(self) -> pb.ListWindowsReply:
        return pb.ListWindowsReply(windows=await self._session.windows())

    async def _set_clipboard(self, text: str) -> None:
        self._desktop.clipboard.set(text)

    async def _put(self, chunks: AsyncIterator[pb.PutFileChunk]) -> pb.PutFileReply:
        upload: Optional[Upload] = None
        try:
            async for chunk in chunks:
                if upload is None:
                    upload = Upload(self._desktop.home, chunk.path)
                upload.write(chunk.data)
            if upload is None:
                raise InvalidArgument("path: the stream has no chunk")
            upload.commit()
            return pb.PutFileReply(size=upload.size)
        finally:
            if upload is not None:
                upload.close()


async def _next(chunks: AsyncIterator[Any]) -> Any:
    try:
        return await chunks.__anext__()
    except StopAsyncIteration:
        return None


async def _pull(data: Any) -> Any:
    return next(data, None)


def make_server(door: Door, gate: Gate, service: Service) -> grpc.aio.Server:
    """Build a server that listens at `door`.

    Raises:
        PartUnavailable: it cannot.
    """
    server = grpc.aio.server(
        interceptors=[gate],
        options=[
            ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
            ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
            ("grpc.so_reuseport", 0),
            # The host asks for signs of life while a call is under way.
            ("grpc.http2.max_ping_strikes", 0),
            ("grpc.http2.min_ping_interval_without_data_ms", 0),
        ],
    )
    rpc.add_VmAgentServicer_to_server(service, server)
    try:
        bound = door.open(server)
    except RuntimeError as error:
        raise PartUnavailable("daemon", f"cannot listen on {door.address}: {error}") from error
    if not bound:
        raise PartUnavailable("daemon", f"cannot listen on {door.address}")
    return server
