"""The first look at a desktop: it takes longer than the next, so a template has had it."""

from __future__ import annotations

import grpc

from sci_gym.errors import LaunchError
from sci_gym.machines._qmp import PART
from sci_gym.machines.base import Endpoint
from sci_gym_protos import PROTOCOL_VERSION
from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_protos import vm_agent_pb2_grpc as rpc

_SETTLE = pb.SettlePolicy(quiet_ms=80, deadline_ms=5000)
_LOOKS = 2


def warm(endpoint: Endpoint, deadline_s: float) -> None:
    """Click beside everything, and look at the screen and the tree, a few times.

    Raises:
        LaunchError: the daemon did not answer within `deadline_s`.
    """
    observe = pb.ObserveRequest(screenshot=True, tree=pb.ObserveRequest.TREE_SHOWING)
    metadata = (("authorization", f"Bearer {endpoint.token}"), ("sci-gym-protocol", str(PROTOCOL_VERSION)))
    click = pb.Input(kind=pb.Input.KIND_CLICK, x_px=1, y_px=1, button=pb.Input.BUTTON_LEFT, count=1)
    options = [("grpc.max_receive_message_length", 2**26), ("grpc.default_authority", "localhost")]
    try:
        with grpc.insecure_channel(endpoint.address, options=options) as channel:
            stub = rpc.VmAgentStub(channel)
            for number in range(1, _LOOKS + 1):
                request = pb.StepRequest(step_id=number, input=click, settle=_SETTLE, observe=observe)
                stub.Step(request, timeout=deadline_s, metadata=metadata, wait_for_ready=True)
    except grpc.RpcError as error:
        raise LaunchError(PART, f"its daemon failed a first step: {error.details()}") from error
