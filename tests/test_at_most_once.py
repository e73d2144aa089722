"""A step acts at most once, however its call ends, and leaves no key or button pressed."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest

from sci_gym.client import VMAgentClient
from sci_gym.errors import DisconnectedError, InfrastructureError
from sci_gym.loader import load_app
from sci_gym.machines import Endpoint, MachineSpec, SandboxMachine
from sci_gym.specs import State
from sci_gym.trees import TreeStore
from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_protos import vm_agent_pb2_grpc as rpc
from tests.raw import channel, metadata

WAIT_S = 30.0
CLEAR = pb.Input(kind=pb.Input.KIND_PRESS, keys=["Control_L", "a"])
DELETE = pb.Input(kind=pb.Input.KIND_PRESS, keys=["Delete"])


class Cutter:
    """A proxy of a unix socket that forwards requests, and cuts connections on demand."""

    def __init__(self, folder: Path, target: str) -> None:
        self.address = f"unix:{folder / 'cut.sock'}"
        self._target = target.removeprefix("unix:")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / "cut.sock"))
        self._listener.listen()
        self._open: list[socket.socket] = []
        self.drops_replies = False
        self.sent = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Break every connection."""
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near = self._listener.accept()[0]
                far = socket.socket(socket.AF_UNIX)
                far.connect(self._target)
                self._open += [near, far]
                threading.Thread(target=self._copy, args=(near, far, False), daemon=True).start()
                threading.Thread(target=self._copy, args=(far, near, True), daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket, reply: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                if reply and self.drops_replies and len(data) > 500:  # a reply, not HTTP/2's own small talk
                    self.drops_replies = False
                    self.cut()
                    return
                sink.sendall(data)
                if not reply:
                    self.sent.set()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    """A desktop with KAlgebra, whose input line has the focus."""
    machine = SandboxMachine(MachineSpec(width=1280, height=800))
    made = machine.start()
    client = VMAgentClient(made)
    (program,) = load_app("kalgebra").programs
    client.launch(program.name, program.argv, env=program.env, register_s=program.register_s, max_launches=3)
    client.close()
    yield made
    machine.stop()


class Line:
    """KAlgebra's input line, by calls of the test's own; step ids go up for the whole module."""

    step_id = 0

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def request(self, action: pb.Input, deadline_ms: int = 3000) -> pb.StepRequest:
        Line.step_id += 1
        settle = pb.SettlePolicy(quiet_ms=60, deadline_ms=deadline_ms)
        observe = pb.ObserveRequest(tree=pb.ObserveRequest.TREE_SHOWING)
        return pb.StepRequest(step_id=Line.step_id, input=action, settle=settle, observe=observe)

    def send(self, request: pb.StepRequest, timeout_s: float = WAIT_S) -> pb.StepReply:
        with channel(self._endpoint.address) as opened:
            stub = rpc.VmAgentStub(opened)
            return stub.Step(request, timeout=timeout_s, metadata=metadata(self._endpoint.token))

    def type(self, text: str) -> pb.StepRequest:
        return self.request(pb.Input(kind=pb.Input.KIND_TYPE, text=text))

    def clear(self) -> None:
        self.send(self.request(CLEAR))
        self.send(self.request(DELETE))
        assert self.text == ""

    @property
    def text(self) -> str:
        reply = self.send(self.request(pb.Input()))
        return line_of(reply.observation)

    def text_when(self, holds: Callable[[str], bool]) -> str:
        """The line's text as soon as it is as wanted; what it is at the deadline otherwise."""
        end = time.monotonic() + WAIT_S
        while not holds(text := self.text) and time.monotonic() < end:
            pass
        return text


def line_of(observation: pb.Observation) -> str:
    trees = TreeStore()
    trees.apply(observation.tree, {})
    return next(node.text for node in trees.tree if node.role == "text" and node.has(State.FOCUSED))


@pytest.fixture
def line(endpoint: Endpoint) -> Line:
    made = Line(endpoint)
    made.text_when(lambda text: True)
    made.clear()
    return made


def code_of(line: Line, request: pb.StepRequest) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as caught:
        line.send(request)
    return caught.value.code(), caught.value.details()


def test_a_retry_gets_the_same_answer(line: Line) -> None:
    request = line.type("a")
    first = line.send(request)
    assert line.send(request) == first
    assert line_of(first.observation) == "a"
    assert line.text == "a"


def test_an_old_or_altered_step_is_refused(line: Line) -> None:
    first, second = line.type("a"), line.type("b")
    line.send(first)
    line.send(second)
    code, message = code_of(line, first)
    assert code is grpc.StatusCode.FAILED_PRECONDITION
    assert str(second.step_id) in message
    second.input.text = "c"
    code, message = code_of(line, second)
    assert code is grpc.StatusCode.FAILED_PRECONDITION
    assert "another step" in message
    assert line.text == "ab"


def test_a_step_without_an_id_is_refused(line: Line) -> None:
    request = line.type("a")
    request.step_id = 0
    code, message = code_of(line, request)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "step_id" in message
    assert line.text == ""


def test_a_gap_is_a_step_that_never_came(line: Line) -> None:
    Line.step_id += 1000
    line.send(line.type("a"))
    assert line.text == "a"


def test_a_refused_step_is_refused_again(line: Line) -> None:
    request = line.request(pb.Input(kind=pb.Input.KIND_PRESS, keys=["NoSuchKey"]))
    assert code_of(line, request) == code_of(line, request)


@pytest.mark.parametrize("after_s", [0.0, 0.003, 0.02, 0.08, 0.3])
def test_a_step_whose_call_is_cancelled_acts_once(endpoint: Endpoint, line: Line, after_s: float) -> None:
    """The moments range from before it is sent to after it is answered."""
    request = line.type("a漢b")
    with channel(endpoint.address) as opened:
        call = rpc.VmAgentStub(opened).Step.future(request, timeout=WAIT_S, metadata=metadata(endpoint.token))
        with contextlib.suppress(grpc.FutureTimeoutError):
            call.result(timeout=after_s)
        call.cancel()
    assert line_of(line.send(request).observation) == "a漢b"
    assert line.text == "a漢b"


@pytest.mark.parametrize("timeout_s", [0.003, 0.03, 0.1])
def test_a_step_past_its_deadline_acts_once_at_most(line: Line, timeout_s: float) -> None:
    request = line.type("ABC")
    with contextlib.suppress(grpc.RpcError):
        line.send(request, timeout_s)
    with contextlib.suppress(grpc.RpcError):
        line.send(request)
    line.send(line.type("d"))
    assert line.text in ("ABCd", "d")


def test_a_lost_reply_is_asked_for_again(endpoint: Endpoint, line: Line, tmp_path: Path) -> None:
    cutter = Cutter(tmp_path, endpoint.address)
    client = VMAgentClient(Endpoint(cutter.address, endpoint.token))
    client.last_step_id = Line.step_id
    try:
        client.hello()
        cutter.drops_replies = True
        reply = step(client, pb.Input(kind=pb.Input.KIND_TYPE, text="a"))
        Line.step_id = reply.step_id
        assert not cutter.drops_replies, "the first reply was cut off"
        assert line_of(reply.observation) == "a"
        assert line.text == "a"
    finally:
        client.close()
        cutter.close()


def step(client: VMAgentClient, action: pb.Input) -> pb.StepReply:
    settle = pb.SettlePolicy(quiet_ms=60, deadline_ms=3000)
    return client.step(
        action, settle, pb.ObserveRequest(tree=pb.ObserveRequest.TREE_SHOWING), pb.ProbeRequest()
    )


@pytest.mark.parametrize("cut_at", ["request", "action", "settle"])
def test_a_cut_connection_acts_once(endpoint: Endpoint, line: Line, tmp_path: Path, cut_at: str) -> None:
    cutter = Cutter(tmp_path, endpoint.address)
    request = line.type("a")
    try:
        with channel(cutter.address) as opened:
            stub = rpc.VmAgentStub(opened)
            stub.Hello(pb.HelloRequest(), timeout=WAIT_S, metadata=metadata(endpoint.token))
            cutter.sent.clear()
            call = stub.Step.future(request, timeout=WAIT_S, metadata=metadata(endpoint.token))
            assert cutter.sent.wait(WAIT_S)
            with contextlib.suppress(grpc.FutureTimeoutError):
                call.result(timeout={"request": 0.0, "action": 0.003, "settle": 0.04}[cut_at])
            cutter.cut()
            assert call.exception(timeout=WAIT_S) is None or call.code() is grpc.StatusCode.UNAVAILABLE
        assert line_of(line.send(request).observation) == "a"
        assert line.text == "a"
    finally:
        cutter.close()


def test_a_dead_connection_is_an_honest_error(endpoint: Endpoint, line: Line, tmp_path: Path) -> None:
    cutter = Cutter(tmp_path, endpoint.address)
    client = VMAgentClient(Endpoint(cutter.address, endpoint.token))
    client.last_step_id = Line.step_id
    client.hello()
    cutter.close()
    with pytest.raises(DisconnectedError, match="daemon"):
        step(client, pb.Input(kind=pb.Input.KIND_TYPE, text="a"))
    client.close()
    assert line.text == ""


def test_a_lost_observation_is_an_infrastructure_error(endpoint: Endpoint, line: Line) -> None:
    client = VMAgentClient(endpoint)
    client.last_step_id = Line.step_id - 1  # as a second client of the same desktop would count
    with pytest.raises(InfrastructureError, match="step_id"):
        step(client, pb.Input(kind=pb.Input.KIND_TYPE, text="a"))
    client.close()
    assert line.text == ""


@pytest.mark.parametrize(
    "action",
    [
        pb.Input(kind=pb.Input.KIND_PRESS, keys=["Shift_L", "Control_L", "Alt_L"]),
        pb.Input(kind=pb.Input.KIND_TYPE, text="AÄ漢B" * 20),
        pb.Input(kind=pb.Input.KIND_DRAG_TO, x_px=600, y_px=600),
        pb.Input(kind=pb.Input.KIND_CLICK, x_px=640, y_px=5, count=3),
    ],
    ids=["press", "type", "drag", "click"],
)
@pytest.mark.parametrize("timeout_s", [0.004])
def test_nothing_stays_pressed_when_a_step_is_aborted(
    endpoint: Endpoint, action: pb.Input, timeout_s: float
) -> None:
    line = Line(endpoint)  # the last tests here: a click or a drag takes the focus away
    with contextlib.suppress(grpc.RpcError):
        line.send(line.request(action), timeout_s)
    line.send(line.request(pb.Input()))
    assert pressed(endpoint) == ["0", "0"]


def pressed(endpoint: Endpoint) -> list[str]:
    """Modifiers and buttons that are down, and the number of keys that are, as the X server tells."""
    ask = (
        "import ctypes as c; x = c.CDLL('libX11.so.6'); x.XOpenDisplay.restype = c.c_void_p\n"
        "d = c.c_void_p(x.XOpenDisplay(None)); x.XDefaultRootWindow.restype = c.c_ulong\n"
        "a = [c.c_ulong() for _ in range(2)] + [c.c_int() for _ in range(4)]; mask = c.c_uint()\n"
        "x.XQueryPointer(d, c.c_ulong(x.XDefaultRootWindow(d)), *map(c.byref, a), c.byref(mask))\n"
        "keys = c.create_string_buffer(32); x.XQueryKeymap(d, keys)\n"
        "print(mask.value, sum(bin(one).count('1') for one in keys.raw))\n"
    )
    client = VMAgentClient(endpoint)
    try:
        result = client.execute(["/usr/bin/python3", "-"], stdin=ask.encode())
    finally:
        client.close()
    assert not result.stderr
    return result.stdout.split()
