"""What the daemon refuses, over a real socket."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from sci_gym.machines import Endpoint, MachineSpec, SandboxMachine
from sci_gym_protos import PROTOCOL_VERSION
from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_protos import vm_agent_pb2_grpc as rpc

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    machine = SandboxMachine(MachineSpec(width=640, height=480))
    yield machine.start()
    machine.stop()


@pytest.fixture
def stub(endpoint: Endpoint) -> Iterator[rpc.VmAgentStub]:
    options = [("grpc.default_authority", "localhost")]
    with grpc.insecure_channel(endpoint.address, options=options) as channel:
        yield rpc.VmAgentStub(channel)


def metadata(endpoint: Endpoint, version: int = PROTOCOL_VERSION) -> list[tuple[str, str]]:
    return [("authorization", f"Bearer {endpoint.token}"), ("sci-gym-protocol", str(version))]


def refusal(call: Any, *arguments: Any, **options: Any) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as caught:
        call(*arguments, **options)
    return caught.value.code(), caught.value.details()


def test_another_version_is_told_both(endpoint: Endpoint, stub: rpc.VmAgentStub) -> None:
    code, message = refusal(stub.Hello, pb.HelloRequest(), timeout=5, metadata=metadata(endpoint, 99))
    assert code is grpc.StatusCode.FAILED_PRECONDITION
    assert "99" in message
    assert str(PROTOCOL_VERSION) in message


def test_a_call_without_a_deadline_is_refused(endpoint: Endpoint, stub: rpc.VmAgentStub) -> None:
    code, message = refusal(stub.Observe, pb.ObserveRequest(), metadata=metadata(endpoint))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "deadline" in message


@pytest.mark.parametrize(
    ("request_", "named"),
    [
        (pb.Input(kind=pb.Input.KIND_CLICK, x_px=640, y_px=0, count=1), "640x480"),
        (pb.Input(kind=pb.Input.KIND_CLICK, x_px=1, y_px=1, count=9), "input.count"),
        (pb.Input(kind=pb.Input.KIND_PRESS, keys=["NoSuchKey"]), "NoSuchKey"),
        (pb.Input(kind=pb.Input.KIND_SCROLL, clicks_y=10**6), "input.clicks"),
        (pb.Input(kind=99), "input.kind"),
        (pb.Input(kind=pb.Input.KIND_TYPE, text="x" * 70_000), "input.text"),
    ],
)
def test_a_bad_input_is_named(
    endpoint: Endpoint, stub: rpc.VmAgentStub, request_: pb.Input, named: str
) -> None:
    test_a_bad_input_is_named.step += 1  # type: ignore[attr-defined]
    request = pb.StepRequest(step_id=test_a_bad_input_is_named.step, input=request_)  # type: ignore[attr-defined]
    code, message = refusal(stub.Step, request, timeout=10, metadata=metadata(endpoint))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert named in message


test_a_bad_input_is_named.step = 0  # type: ignore[attr-defined]


def test_an_oversized_message_is_refused_and_the_daemon_lives(
    endpoint: Endpoint, stub: rpc.VmAgentStub
) -> None:
    huge = pb.Clipboard(text="x" * 70_000_000)
    code, _ = refusal(stub.SetClipboard, huge, timeout=20, metadata=metadata(endpoint))
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert stub.Hello(pb.HelloRequest(), timeout=5, metadata=metadata(endpoint)).screen.width_px == 640


def test_garbage_in_place_of_a_message_is_refused(endpoint: Endpoint) -> None:
    with grpc.insecure_channel(
        endpoint.address, options=[("grpc.default_authority", "localhost")]
    ) as channel:
        for method in ("Step", "Observe", "Launch", "Exec", "PutFile"):
            call = channel.unary_unary(f"/sci_gym.v1.VmAgent/{method}")
            code, _ = refusal(call, b"\xff" * 999, timeout=5, metadata=metadata(endpoint))
            assert code is not grpc.StatusCode.OK
        hello = channel.unary_unary("/sci_gym.v1.VmAgent/Hello")
        assert hello(b"", timeout=5, metadata=metadata(endpoint))


def test_a_missing_program_is_named(endpoint: Endpoint, stub: rpc.VmAgentStub) -> None:
    request = pb.LaunchRequest(
        name="ghost", argv=["/usr/bin/no-such-program"], register_ms=2000, max_launches=2
    )
    code, message = refusal(stub.Launch, request, timeout=20, metadata=metadata(endpoint))
    assert code is grpc.StatusCode.UNAVAILABLE
    assert "ghost" in message
    assert "no-such-program" in message
    assert not stub.ListPrograms(pb.ListProgramsRequest(), timeout=5, metadata=metadata(endpoint)).programs


def test_a_link_does_not_lead_out_of_the_home(endpoint: Endpoint, stub: rpc.VmAgentStub) -> None:
    links = "ln -s /proc/1/environ ~/link; ln -s / ~/root; mkfifo ~/pipe"
    list(stub.Exec(pb.ExecRequest(argv=["sh", "-c", links]), timeout=10, metadata=metadata(endpoint)))
    for path in ("link", "root/etc/passwd", "pipe"):
        with pytest.raises(grpc.RpcError) as caught:
            list(stub.GetFile(pb.GetFileRequest(path=path), timeout=5, metadata=metadata(endpoint)))
        assert caught.value.code() is grpc.StatusCode.NOT_FOUND


def test_the_generated_code_is_what_the_proto_says_and_loads_on_the_oldest_runtime() -> None:
    subprocess.run([ROOT / "tools/make-protos", "--check", sys.executable], check=True, cwd=ROOT, timeout=240)
