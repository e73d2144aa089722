"""The door of the daemon: token, version, deadline and form of every call, and the translation of errors."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import sys
import traceback
from typing import Any, AsyncIterator, Awaitable, Callable, TypeVar

import grpc
from google.protobuf.message import DecodeError

from sci_gym_protos import PROTOCOL_VERSION
from sci_gym_vm_agent.errors import AgentError, InvalidArgument, PartUnavailable, Taken, TooLate

T = TypeVar("T")
PART_METADATA = "sci-gym-part"
_LONGEST_CALL_S = 3600.0
_SHUTDOWN = "/sci_gym.v1.VmAgent/Shutdown"
_TAKEN = "sci-gym-session: another session has this desktop; begin one with Hello"
_MAX_DETAILS_CHARS = 1000  # gRPC drops a call whose metadata is larger than 8 KiB


class Gate(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Refuses a call without the token, of another protocol version or session, or without a deadline."""

    def __init__(self, token: str) -> None:
        """Let calls with `token` pass."""
        self.renew(token)

    def renew(self, token: str) -> None:
        """From now on let calls with `token` pass, and none with the one before."""
        self._expected = f"Bearer {token}".encode()
        self._session = ""

    def claim(self) -> str:
        """Let only calls with the returned session pass from now on.

        Raises:
            Taken: someone was faster.
        """
        if self._session:
            raise Taken(_TAKEN)
        self._session = secrets.token_hex(16)
        return self._session

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], details: grpc.HandlerCallDetails
    ) -> Any:
        """Check one call's metadata."""
        metadata = {key: value for key, value in details.invocation_metadata or ()}
        given = metadata.get("authorization", "")
        if not hmac.compare_digest(str(given).encode(), self._expected):
            return _refuse(grpc.StatusCode.UNAUTHENTICATED, "authorization: the token is missing or wrong")
        version = metadata.get("sci-gym-protocol", "")
        if version != str(PROTOCOL_VERSION):
            return _refuse(
                grpc.StatusCode.FAILED_PRECONDITION,
                f"sci-gym-protocol: the host speaks version {version or 'none'}, this daemon "
                f"{PROTOCOL_VERSION}; install the same sci_gym on both sides",
            )
        session = metadata.get("sci-gym-session", "")
        if session != self._session and (session or details.method != _SHUTDOWN):
            return _refuse(grpc.StatusCode.ABORTED, _TAKEN)
        return _parse_within(await continuation(details))


def _parse_within(handler: Any) -> Any:
    """Let a call of one request refuse what is no such message, which gRPC would call an unknown error."""
    if handler is None or handler.request_streaming:
        return handler

    def parse(data: bytes) -> Any:
        try:
            return handler.request_deserializer(data)
        except DecodeError as error:
            return InvalidArgument(f"message: {error}")

    async def answer(request: Any, context: grpc.aio.ServicerContext) -> Any:
        await _refuse_garbage(request, context)
        return await handler.unary_unary(request, context)

    async def stream(request: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
        await _refuse_garbage(request, context)
        async for reply in handler.unary_stream(request, context):
            yield reply

    if handler.response_streaming:
        return grpc.unary_stream_rpc_method_handler(stream, parse, handler.response_serializer)
    return grpc.unary_unary_rpc_method_handler(answer, parse, handler.response_serializer)


async def _refuse_garbage(request: Any, context: grpc.aio.ServicerContext) -> None:
    if isinstance(request, InvalidArgument):
        await context.abort(request.code, str(request))


def _refuse(code: grpc.StatusCode, message: str) -> Any:
    async def refuse(_: Any, context: grpc.aio.ServicerContext) -> Any:
        await context.abort(code, message)

    # One handler serves every kind of call: this one reads no message before it ends the call.
    return grpc.stream_stream_rpc_method_handler(refuse)


async def guard(
    context: grpc.aio.ServicerContext, function: Callable[..., Awaitable[T]], *arguments: Any
) -> T:
    """Call a function within the caller's deadline; an error becomes its gRPC status, here only."""
    left = context.time_remaining()
    try:
        if left is None or left > _LONGEST_CALL_S:
            raise InvalidArgument(f"deadline: a call must carry one of at most {_LONGEST_CALL_S:.0f} s")
        return await asyncio.wait_for(function(*arguments), left)
    except asyncio.TimeoutError:
        failure: AgentError = TooLate(f"not done within its {left:.1f} s")
    except AgentError as error:
        failure = error
    except DecodeError as error:
        failure = InvalidArgument(f"message: {error}")
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        failure = PartUnavailable("daemon", f"met an unexpected {type(error).__name__}; its log has it")
    if isinstance(failure, PartUnavailable):
        context.set_trailing_metadata(((PART_METADATA, failure.part),))
    await context.abort(failure.code, str(failure)[:_MAX_DETAILS_CHARS])
    raise AssertionError("abort raises")
