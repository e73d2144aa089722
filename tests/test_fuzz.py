"""Whatever is sent to the real daemon is answered with a status that is meant, and it serves on.

A longer run: `SCI_GYM_FUZZ=20 pytest tests/test_fuzz.py` tries twenty times as many messages, new ones each
time.
"""

from __future__ import annotations

import itertools
import os
import socket
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.message import DecodeError
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sci_gym.client import VMAgentClient
from sci_gym.machines import Endpoint, MachineSpec, SandboxMachine
from sci_gym_protos import vm_agent_pb2 as pb
from tests.messages import TEXT, messages
from tests.raw import METHODS, assert_serves, call, channel, message_class, metadata

TIMES = int(os.environ.get("SCI_GYM_FUZZ", "1"))
MEANT = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.DEADLINE_EXCEEDED,
}
CALL_S = 1.0
STEPS = itertools.count(1)
PLANT = """
cd; ln -s /proc/1/environ link; mkfifo pipe; ln -s loop loop; mkdir -p a; truncate -s 300G a/b; ln a/b hard
exec /usr/bin/python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('socket')"
"""
PATHS = (
    "link", "pipe", "socket", "loop/x", "a/b", "a", "hard", "a/../b", "..", "/etc/passwd", ".", "", "new",
    "a/b/c", "x" * 300, "a/" * 600, "x" * 70_000, "\0",
)  # fmt: skip
# Long waits would only slow the fuzzing down, and typed text types for as long as it is.
KNOWN = {
    "quiet_ms": st.sampled_from([0, 10]),
    "deadline_ms": st.sampled_from([0, 50, 2**32 - 1]),
    "claim": st.just(False),  # a claimed desktop answers to its session alone
    "timeout_ms": st.sampled_from([1, 200, 2**32 - 1]),
    "register_ms": st.sampled_from([0, 1, 200]),
    "text": st.one_of(st.text(max_size=30), st.just("x" * 70_000)),
    "path": st.sampled_from(PATHS),
    "files": st.lists(st.sampled_from(PATHS), max_size=3),
    "name": st.one_of(st.sampled_from(["a", "b", "c"]), TEXT),
    "argv": st.one_of(
        st.lists(st.text(max_size=9), max_size=3),
        st.sampled_from([["sleep", "9"], ["x" * 200_000], ["yes"], ["x"] * 200_000, ["a\0"]]),
    ),
    "env": st.dictionaries(st.sampled_from(["", "a=b", "LD_PRELOAD"]), st.text(max_size=5), max_size=2),
}  # fmt: skip


def tries(number: int) -> Any:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
    return settings(
        max_examples=number * TIMES, deadline=None, derandomize=TIMES == 1, database=None,
        suppress_health_check=checks,
    )  # fmt: skip


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    machine = SandboxMachine(MachineSpec(width=640, height=480))
    made = machine.start()
    client = VMAgentClient(made)
    assert client.execute(["/bin/sh", "-s"], stdin=PLANT.encode()).exit_code == 0
    client.close()
    yield made
    machine.stop()


@pytest.fixture(scope="module")
def opened(endpoint: Endpoint) -> Iterator[grpc.Channel]:
    with channel(endpoint.address) as made:
        yield made


def try_call(opened: grpc.Channel, endpoint: Endpoint, name: str, requests: list[bytes]) -> None:
    """A call ends with replies or with a status that the protocol means, part and all."""
    code = grpc.StatusCode.OK
    try:
        call(opened, name, requests, metadata(endpoint.token), CALL_S)
    except grpc.RpcError as error:
        code, details = error.code(), error.details()
        part = dict(error.trailing_metadata() or ()).get("sci-gym-part")
    if code is not grpc.StatusCode.OK and code not in MEANT:
        assert code is grpc.StatusCode.UNAVAILABLE, f"{name}: {code}: {details}"
        assert part not in (None, "daemon"), f"{name}: {code}: {details}"


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"Shutdown"}))
def test_wild_messages(endpoint: Endpoint, opened: grpc.Channel, name: str) -> None:
    kind = message_class(name)
    size = 40 if kind.DESCRIPTOR.fields else 1

    @tries(size)
    @given(st.lists(messages(kind, KNOWN), min_size=1, max_size=3 if name == "PutFile" else 1))
    def send(wild: list[Any]) -> None:
        if name == "Step":
            wild[0].step_id = next(STEPS)
        try_call(opened, endpoint, name, [one.SerializeToString() for one in wild])

    send()
    assert_serves(endpoint)


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"Shutdown"}))
def test_random_bytes(endpoint: Endpoint, opened: grpc.Channel, name: str) -> None:
    @tries(20)
    @given(st.binary(min_size=1, max_size=300))
    def send(data: bytes) -> None:
        assume(name != "Hello" or not claims(data))
        try_call(opened, endpoint, name, [data])

    send()
    assert_serves(endpoint)


def claims(data: bytes) -> bool:
    try:
        return pb.HelloRequest.FromString(data).claim
    except DecodeError:
        return False


def test_what_is_no_http2_is_dropped(endpoint: Endpoint) -> None:
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

    @tries(30)
    @given(st.one_of(st.binary(max_size=2000), st.binary(max_size=2000).map(lambda data: preface + data)))
    def send(data: bytes) -> None:
        with socket.socket(socket.AF_UNIX) as raw:
            raw.settimeout(20)
            raw.connect(endpoint.address.removeprefix("unix:"))
            raw.sendall(data)

    send()
    assert_serves(endpoint)
