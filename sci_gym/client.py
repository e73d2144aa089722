"""The daemon's client: token, deadline and step id of each call, and the one place that meets gRPC errors."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import grpc

from sci_gym import codec
from sci_gym.bounds import MAX_WINDOWS, at_most, clean_error, counted
from sci_gym.errors import (
    ActionError,
    ConfigurationError,
    DeadlineError,
    DisconnectedError,
    InfrastructureError,
    LaunchError,
    ProtocolError,
    SciGymError,
)
from sci_gym.frames import FrameStore
from sci_gym.machines.base import Endpoint
from sci_gym.specs import A11yTree, Frame
from sci_gym.trees import TreeStore
from sci_gym_protos import PROTOCOL_VERSION
from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_protos import vm_agent_pb2_grpc as rpc

MAX_MESSAGE_BYTES = 64 * 2**20
_CHUNK_BYTES = 2**20
_PART = "sci-gym-part"
_STEP_TRIES = 2
_ASKING = frozenset(
    {"PutFile", "GetFile", "SetClipboard", "Launch", "Close", "ActivateWindow", "CloseWindow"}
)
_ALIVE_SHARE = 0.5
_READY, _FAILED = grpc.ChannelConnectivity.READY, grpc.ChannelConnectivity.TRANSIENT_FAILURE
_LONGEST_PAUSE_S = 1.0
_DISTRUST = "handshake"  # how gRPC says that it does not trust a certificate


@dataclass(frozen=True, slots=True)
class ExecResult:
    """What a command in the guest gave.

    Attributes:
        stdout: its output, decoded.
        stderr: its errors, decoded.
        exit_code: negative is the signal that ended it.
        timed_out: it was killed at its time limit.
        truncated: output beyond the limit was dropped.
    """

    stdout: str
    stderr: str
    exit_code: int
    timed_out: bool
    truncated: bool


class VMAgentClient:
    """One connection to one daemon. Not thread-safe."""

    def __init__(self, endpoint: Endpoint, call_s: float = 30.0, *, last_step_id: int = 0) -> None:
        """Connect lazily; the first call is `hello`.

        Args:
            endpoint: where the daemon listens, and its token.
            call_s: deadline of calls that name none, and what others may take beyond what they wait for. A
                daemon that gives no sign of life for so long, however long the call, counts as gone.
            last_step_id: what the daemon has answered, where it goes on from another machine's state.
        """
        self._call_s = call_s
        self._metadata = [
            ("authorization", f"Bearer {endpoint.token}"),
            ("sci-gym-protocol", str(PROTOCOL_VERSION)),
        ]
        if endpoint.session:
            self._metadata.append(("sci-gym-session", endpoint.session))
        options = [
            ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
            ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
            ("grpc.keepalive_time_ms", round(call_s * 1000 * (1 - _ALIVE_SHARE))),
            ("grpc.keepalive_timeout_ms", round(call_s * 1000 * _ALIVE_SHARE)),
            ("grpc.http2.ping_timeout_ms", round(call_s * 1000 * _ALIVE_SHARE)),
            ("grpc.http2.max_pings_without_data", 0),
            ("grpc.enable_retries", 0),  # a retry must be ours, with the same step id
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", round(_LONGEST_PAUSE_S * 1000)),
        ]
        self._channel = _open(endpoint, options)
        self._closed = False
        self._stub = rpc.VmAgentStub(_CountedChannel(self._channel))
        self.last_step_id = last_step_id
        self._frames = FrameStore(endpoint.frame_memory)
        self._trees = TreeStore()
        self._names: dict[int, str] = {}

    def close(self) -> None:
        """Close the connection; more than once is fine."""
        self._closed = True
        self._channel.close()

    @property
    def frame(self) -> Frame:
        """The screen of the last `step` or `observe` that asked for it, pointer drawn; read-only.

        uint8 `[H, W, 3]`; without pixels before the first.
        """
        return self._frames.frame

    @property
    def tree(self) -> A11yTree:
        """The accessibility tree of the last `step` or `observe` that asked for it."""
        return self._trees.tree

    def hello(self) -> pb.HelloReply:
        """Check token and version, and tell what the daemon is."""
        reply: pb.HelloReply = self.send("Hello", pb.HelloRequest())
        if reply.protocol_version != PROTOCOL_VERSION:
            raise ProtocolError(
                "daemon", f"speaks protocol {reply.protocol_version}, this host {PROTOCOL_VERSION}; "
                "install the same sci_gym on both sides"
            )  # fmt: skip
        return reply

    def claim(self, wait_s: float = 0.0) -> pb.HelloReply:
        """Take the desktop for a session, which is told and which an `Endpoint` then carries.

        Args:
            wait_s: how long to try again while nobody listens; a wrong certificate is told at once.

        Raises:
            DisconnectedError: of part "machine" where another session has it.
        """
        end = time.monotonic() + wait_s
        while True:
            try:
                reply: pb.HelloReply = self.send("Hello", pb.HelloRequest(claim=True))
                return reply
            except DisconnectedError as error:
                left_s = end - time.monotonic()
                final = error.part != "daemon" or _DISTRUST in str(error).lower()
                if final or self._closed or left_s <= 0:
                    raise
            # Until it tries to connect again, which it does ever more rarely.
            self._await_state(lambda state: state is not _FAILED, min(left_s, _LONGEST_PAUSE_S), connect=True)

    def step(
        self, action: pb.Input, settle: pb.SettlePolicy, observe: pb.ObserveRequest, probe: pb.ProbeRequest
    ) -> pb.StepReply:
        """Act at most once, settle and observe, in one round trip.

        A reply that was lost is asked for again with the same step id, which never acts again.
        """
        self.last_step_id += 1
        request = pb.StepRequest(
            step_id=self.last_step_id, input=action, settle=settle,
            observe=self._of_what_is_known(observe), probe=probe,
        )  # fmt: skip
        end = time.monotonic() + self._call_s + (settle.deadline_ms + probe.inspect_ms) / 1000
        for attempt in range(1, _STEP_TRIES + 1):
            try:
                if attempt > 1:
                    self._reconnect()
                reply: pb.StepReply = self.send("Step", request, max(end - time.monotonic(), 0.001))
                break
            except DisconnectedError:
                if attempt == _STEP_TRIES:
                    raise
        if not reply.HasField("observation"):
            raise ProtocolError("daemon", f"lost the observation of step {request.step_id}")
        self._names = {program.id: program.name for program in codec.unpack_programs(reply.probe.programs)}
        self._see(observe, reply.observation)
        return reply

    def observe(self, request: pb.ObserveRequest) -> pb.Observation:
        """Observe without acting."""
        reply: pb.Observation = self.send("Observe", self._of_what_is_known(request))
        self._see(request, reply)
        return reply

    def probe(self, request: pb.ProbeRequest) -> pb.ProbeReply:
        """Read what predicates need."""
        reply: pb.ProbeReply = self.send("Probe", request, self._call_s + request.inspect_ms / 1000)
        return reply

    def execute(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float = 60.0,
        max_output_bytes: int = 2**20,
    ) -> ExecResult:
        """Run a command in the guest, in a cell of its own."""
        request = pb.ExecRequest(
            argv=argv, stdin=stdin, timeout_ms=round(timeout_s * 1000), max_output_bytes=max_output_bytes
        )
        out, err, result = bytearray(), bytearray(), None
        for chunk in self._stream("Exec", request, timeout_s + self._call_s):
            out += chunk.stdout
            err += chunk.stderr
            at_most("bytes of output", len(out) + len(err), max_output_bytes)
            if chunk.HasField("result"):
                result = chunk.result
        if result is None:
            raise ProtocolError("daemon", "Exec ended without a result")
        return ExecResult(
            out.decode("utf-8", "replace"), err.decode("utf-8", "replace"),
            result.exit_code, result.timed_out, result.truncated,
        )  # fmt: skip

    def put_file(self, path: str, data: bytes) -> None:
        """Write a file below the guest's home."""

        def chunks() -> Iterator[pb.PutFileChunk]:
            for start in range(0, max(len(data), 1), _CHUNK_BYTES):
                yield pb.PutFileChunk(path=path, data=data[start : start + _CHUNK_BYTES])

        self.send("PutFile", chunks())

    def get_file(self, path: str, max_bytes: int = 2**28) -> bytes:
        """Read a file below the guest's home; ConfigurationError when there is none or it is larger."""
        request = pb.GetFileRequest(path=path, max_bytes=max_bytes)
        data = bytearray()
        for chunk in self._stream("GetFile", request, self._call_s):
            data += chunk.data
            at_most("bytes of a file", len(data), max_bytes)
        return bytes(data)

    def launch(
        self,
        name: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        preload_c: str = "",
        preload_py: str = "",
        await_report: bool = False,
        register_s: float = 0.0,
        max_launches: int = 1,
    ) -> pb.Program:
        """Launch a program; with `register_s`, again until it has registered with the accessibility bus.

        Raises:
            LaunchError: it did not register.
        """
        request = pb.LaunchRequest(
            name=name, argv=argv, env=env or {}, preload_c=preload_c, preload_py=preload_py,
            await_report=await_report, register_ms=round(register_s * 1000), max_launches=max_launches,
        )  # fmt: skip
        timeout_s = self._call_s + register_s * max_launches
        try:
            reply: pb.Program = self.send("Launch", request, timeout_s)
        except InfrastructureError as error:
            if error.part == name:
                raise LaunchError(name, str(error).partition(": ")[2]) from error
            raise
        return reply

    def end_program(self, program_id: int, grace_s: float = 2.0) -> pb.Program:
        """End a launched program."""
        request = pb.CloseRequest(id=program_id, grace_ms=round(grace_s * 1000))
        reply: pb.Program = self.send("Close", request)
        return reply

    def programs(self) -> list[pb.Program]:
        """The launched programs."""
        return list(self.send("ListPrograms", pb.ListProgramsRequest()).programs)

    def windows(self) -> list[pb.Window]:
        """The top-level windows, bottom to top."""
        windows = self.send("ListWindows", pb.ListWindowsRequest()).windows
        at_most("windows", len(windows), MAX_WINDOWS)
        return list(windows)

    def activate_window(self, window_id: int) -> None:
        """Raise and focus a window."""
        self.send("ActivateWindow", pb.WindowRequest(id=window_id))

    def close_window(self, window_id: int) -> None:
        """Ask a window to close."""
        self.send("CloseWindow", pb.WindowRequest(id=window_id))

    def get_clipboard(self) -> str:
        """The clipboard's text."""
        return str(self.send("GetClipboard", pb.GetClipboardRequest()).text)

    def set_clipboard(self, text: str) -> None:
        """Set the clipboard's text."""
        self.send("SetClipboard", pb.Clipboard(text=text))

    def cursor(self) -> tuple[int, int]:
        """Where the pointer is, as (x, y) in pixels."""
        point = self.send("GetCursor", pb.GetCursorRequest())
        return point.x_px, point.y_px

    def screen_size(self) -> tuple[int, int]:
        """The screen's (width, height) in pixels."""
        size = self.send("GetScreenSize", pb.GetScreenSizeRequest())
        return size.width_px, size.height_px

    def health(self, timeout_s: float | None = None) -> dict[str, str]:
        """What is wrong with each part of the desktop, "" for nothing."""
        parts = self.send("Health", pb.HealthRequest(), timeout_s).parts
        return {
            clean_error(part.name): "" if part.healthy else clean_error(part.detail) or "does not run"
            for part in parts
        }

    def shutdown(self) -> None:
        """End every program and the daemon, and wait until it has hung up.

        Raises:
            DeadlineError: it did not.
        """
        self.send("Shutdown", pb.ShutdownRequest())
        if self._await_state(lambda state: state is not _READY, self._call_s) is None:
            raise DeadlineError("daemon", f"did not end within {self._call_s} s of Shutdown")

    def send(self, name: str, request: Any, timeout_s: float | None = None) -> Any:
        """Make one call of the protocol that answers with one message; the methods above are easier."""
        method = getattr(self._stub, name)
        try:
            return method(request, timeout=timeout_s or self._call_s, metadata=self._metadata)
        except grpc.RpcError as error:
            _translate(name, error)
        except ValueError as error:
            raise DisconnectedError("daemon", f"{name}: the connection is closed") from error

    def _of_what_is_known(self, asked: pb.ObserveRequest) -> pb.ObserveRequest:
        request = self._frames.request(asked)
        request.known_tree = self._trees.generation
        return request

    def _see(self, asked: pb.ObserveRequest, seen: pb.Observation) -> None:
        if asked.screenshot:
            self._frames.apply(seen.screenshot, seen.pointer)
        if asked.tree != pb.ObserveRequest.TREE_NONE:
            self._trees.apply(seen.tree, self._names)

    def _reconnect(self) -> None:
        """Wait for a connection, which a daemon that is gone refuses and a stopped one never gives."""
        state = self._await_state(
            lambda state: state in (_READY, _FAILED), self._call_s * _ALIVE_SHARE, connect=True
        )
        if state is not _READY:
            how = "not taken" if state is None else "refused"
            raise DisconnectedError("daemon", f"the connection is gone, and a new one is {how}")

    def _await_state(
        self, wanted: Callable[[grpc.ChannelConnectivity], bool], limit_s: float, connect: bool = False
    ) -> grpc.ChannelConnectivity | None:
        """The first wanted state of the connection, None when it did not come in time."""
        states: queue.Queue[grpc.ChannelConnectivity] = queue.Queue()
        end = time.monotonic() + limit_s
        self._channel.subscribe(states.put, try_to_connect=connect)
        try:
            while not wanted(state := states.get(timeout=max(end - time.monotonic(), 0.001))):
                pass
            return state
        except queue.Empty:
            return None
        finally:
            self._channel.unsubscribe(states.put)

    def _stream(self, name: str, request: Any, timeout_s: float) -> Iterator[Any]:
        replies = getattr(self._stub, name)(request, timeout=timeout_s, metadata=self._metadata)
        try:
            yield from replies
        except grpc.RpcError as error:
            _translate(name, error)
        finally:
            replies.cancel()


def _open(endpoint: Endpoint, options: list[tuple[str, Any]]) -> grpc.Channel:
    if endpoint.ca is None:
        options = [*options, ("grpc.default_authority", "localhost")]  # a socket's path is none
        return grpc.insecure_channel(endpoint.address, options=options)
    credentials = grpc.ssl_channel_credentials(root_certificates=endpoint.ca)
    return grpc.secure_channel(endpoint.address, credentials, options=options)


class _CountedChannel:
    """A channel whose replies are counted before they are parsed, as `bounds` tells."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._channel = channel

    def __getattr__(self, kind: str) -> Any:
        make = getattr(self._channel, kind)
        return lambda *names, response_deserializer, **options: make(
            *names, response_deserializer=counted(response_deserializer), **options
        )


def _translate(name: str, error: grpc.RpcError) -> NoReturn:
    """Raise the sci_gym error that a gRPC error stands for."""
    code, details = error.code(), clean_error(error.details() or "")
    metadata = {key: value for key, value in error.trailing_metadata() or ()}
    part = metadata.get(_PART)
    translated: SciGymError
    if part is not None:
        translated = InfrastructureError(str(part), details.removeprefix(f"{part}: "))
    elif code is grpc.StatusCode.UNAVAILABLE or code is grpc.StatusCode.CANCELLED:
        translated = DisconnectedError("daemon", f"{name}: the connection is gone ({details})")
    elif code is grpc.StatusCode.ABORTED:
        translated = DisconnectedError("machine", f"{name}: {details}")
    elif code is grpc.StatusCode.DEADLINE_EXCEEDED:
        translated = DeadlineError("daemon", f"{name} was not answered within its deadline")
    elif code in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.FAILED_PRECONDITION):
        translated = ProtocolError("daemon", f"{name}: {details}")
    elif code is grpc.StatusCode.INVALID_ARGUMENT:
        translated = ActionError(details) if name == "Step" else ConfigurationError(f"{name}: {details}")
    elif name in _ASKING and code in (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.RESOURCE_EXHAUSTED):
        translated = ConfigurationError(f"{name}: {details}")
    else:
        translated = ProtocolError("daemon", f"{name} failed with {code.name}: {details}")
    raise translated from error
