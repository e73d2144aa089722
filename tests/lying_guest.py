"""A daemon that lies: it has the token, and answers whatever it is told to."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc

from sci_gym.app import Requirement
from sci_gym.machines import Endpoint, Machine, MachineSpec
from sci_gym_protos import PROTOCOL_VERSION
from sci_gym_protos import vm_agent_pb2 as pb
from tests.raw import METHODS, STREAMED_REPLIES, STREAMED_REQUESTS

WIDTH, HEIGHT = 400, 320
Answer = Callable[[grpc.ServicerContext], Any]
"""Gives a message, the bytes of one, or (of a streaming method) an iterator of either."""


class LyingGuest(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Answers honestly until `lies` has another answer for a method."""

    def __init__(self) -> None:
        self.lies: dict[str, Answer] = {}

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        name = details.method.rsplit("/", 1)[-1]
        if name in STREAMED_REQUESTS:
            return grpc.stream_unary_rpc_method_handler(lambda _, context: wire(self.answer(name, context)))
        if name in STREAMED_REPLIES:
            return grpc.unary_stream_rpc_method_handler(
                lambda _, context: map(wire, self.answer(name, context))
            )
        return grpc.unary_unary_rpc_method_handler(lambda _, context: wire(self.answer(name, context)))

    def answer(self, name: str, context: grpc.ServicerContext) -> Any:
        honest: dict[str, Any] = {
            "Hello": pb.HelloReply(protocol_version=PROTOCOL_VERSION),
            "Step": reply(),
            "Observe": observation(),
            "Launch": pb.Program(id=1, name="kalgebra", running=True, launches=1),
            "Exec": iter([pb.ExecChunk(result=pb.ExecResult())]),
            "GetFile": iter([pb.FileChunk(data=b"data")]),
        }
        if name in self.lies:
            return self.lies[name](context)
        return honest.get(name, getattr(pb, METHODS[name].output_type.name)())


def wire(message: Any) -> bytes:
    return message if isinstance(message, bytes) else bytes(message.SerializeToString())


def image(width: int = WIDTH, height: int = HEIGHT) -> pb.Image:
    """A whole screen of black."""
    place = pb.Rect(width_px=width, height_px=height)
    tiles = [pb.Tile(place=place, data=bytes(4 * width * height))]
    return pb.Image(
        encoding=pb.Image.ENCODING_RAW, width_px=width, height_px=height, generation=1, tiles=tiles
    )


def node(role: str, **fields: Any) -> bytes:
    shown = pb.Rect(x_px=1, y_px=1, width_px=20, height_px=20)
    honest = {"extents": shown, "states": 1 << 25 | 1 << 30 | 1 << 8, "program_id": 1}
    return wire(pb.Node(role=role, **{**honest, **fields}))


def ready_tree(nodes: Sequence[bytes] = ()) -> pb.Tree:
    """What KAlgebra looks like when it is ready, and more nodes below."""
    shape = [("application", -1, ""), ("panel", 0, ""), ("page tab list", 1, "Calculator"),
             ("page tab", 2, "Calculator"), ("layered pane", 1, ""), ("panel", 4, ""), ("text", 5, ""),
             ("document web", 5, "")]  # fmt: skip
    return pb.Tree(
        generation=1,
        parents=[parent for _, parent, _ in shape] + [0] * len(nodes),
        nodes=[node(role, name=name) for role, _, name in shape] + list(nodes),
    )


def observation(tree: pb.Tree | None = None, **fields: Any) -> pb.Observation:
    """An honest one of a KAlgebra that is ready."""
    honest = {
        "screenshot": image(),
        "tree": tree or ready_tree(),
        "pointer": pb.Pointer(),
        "consistent": True,
    }
    return pb.Observation(**{**honest, **fields})


def probe(**fields: Any) -> pb.ProbeReply:
    program = pb.Program(**{"id": 1, "name": "kalgebra", "running": True, "launches": 1, **fields})
    return pb.ProbeReply(programs=[program])


def reply(probed: pb.ProbeReply | None = None, **fields: Any) -> pb.StepReply:
    """The honest answer to a step, but for what is given."""
    return pb.StepReply(settled=True, observation=observation(**fields), probe=probed or probe())


class LyingMachine(Machine):
    """A machine whose daemon is the lying guest; it listens in this process."""

    def __init__(self, guest: LyingGuest) -> None:
        super().__init__(MachineSpec(width=WIDTH, height=HEIGHT))
        self._guest = guest
        self._server: grpc.Server | None = None

    def start(self) -> Endpoint:
        self.stop()
        self._folder = tempfile.TemporaryDirectory(prefix="lying-")
        address = f"unix:{Path(self._folder.name) / 'agent.sock'}"
        options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
        self._server = grpc.server(ThreadPoolExecutor(4), handlers=[self._guest], options=options)
        self._server.add_insecure_port(address)
        self._server.start()
        return Endpoint(address, secrets.token_urlsafe(32))

    restore = start

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop(0).wait(10)
            self._folder.cleanup()
            self._server = None

    def require(self, requirements: Sequence[Requirement]) -> None:
        pass

    @property
    def running(self) -> bool:
        return self._server is not None

    @classmethod
    def missing(cls) -> dict[str, str]:
        return {}


@contextmanager
def lying() -> Iterator[tuple[LyingGuest, LyingMachine]]:
    guest = LyingGuest()
    machine = LyingMachine(guest)
    try:
        yield guest, machine
    finally:
        machine.stop()


def field(number: int, data: bytes) -> bytes:
    """A field of bytes, as it stands on the wire."""
    tag, size = number << 3 | 2, len(data)
    out = bytearray([tag])
    while size > 0x7F:
        out.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes(out) + bytes([size]) + data
