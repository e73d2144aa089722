"""The daemon below the client: its own channel, with metadata of the test's choice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc

from sci_gym.machines import Endpoint
from sci_gym_protos import PROTOCOL_VERSION
from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_protos import vm_agent_pb2_grpc as rpc

SERVICE = pb.DESCRIPTOR.services_by_name["VmAgent"]
METHODS = {method.name: method for method in SERVICE.methods}
STREAMED_REQUESTS = {"PutFile"}
STREAMED_REPLIES = {"Exec", "GetFile"}


def metadata(token: str, version: object = PROTOCOL_VERSION) -> tuple[tuple[str, str], ...]:
    return ("authorization", f"Bearer {token}"), ("sci-gym-protocol", str(version))


@contextmanager
def channel(address: str) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(address, options=[("grpc.default_authority", "localhost")]) as opened:
        yield opened


def message_class(name: str) -> Any:
    """The class of a method's request."""
    return getattr(pb, METHODS[name].input_type.name)


def call(
    opened: grpc.Channel, name: str, requests: list[bytes], given: Any, timeout_s: float | None
) -> list[bytes]:
    """Send raw bytes to a method, and give the raw replies; raises grpc.RpcError."""
    path = f"/{SERVICE.full_name}/{name}"
    options = {"timeout": timeout_s, "metadata": given}
    if name in STREAMED_REQUESTS:
        return [opened.stream_unary(path)(iter(requests), **options)]
    if name in STREAMED_REPLIES:
        return list(opened.unary_stream(path)(requests[0], **options))
    return [opened.unary_unary(path)(requests[0], **options)]


def assert_serves(endpoint: Endpoint) -> None:
    """A new connection is greeted, and shown the desktop."""
    with channel(endpoint.address) as opened:
        stub = rpc.VmAgentStub(opened)
        given = metadata(endpoint.token)
        assert stub.Hello(pb.HelloRequest(), timeout=20, metadata=given).protocol_version == PROTOCOL_VERSION
        request = pb.ObserveRequest(screenshot=True, tree=pb.ObserveRequest.TREE_SHOWING)
        assert stub.Observe(request, timeout=30, metadata=given).screenshot.width_px
