"""What can go wrong in the guest, as gRPC status codes: raised anywhere, translated once, in `server`."""

from __future__ import annotations

import grpc


class AgentError(Exception):
    """An error with the gRPC status that the caller sees."""

    code = grpc.StatusCode.INTERNAL


class InvalidArgument(AgentError):
    """A field of the request is wrong; the message names it."""

    code = grpc.StatusCode.INVALID_ARGUMENT


class NotFound(AgentError):
    """No such program, window or path."""

    code = grpc.StatusCode.NOT_FOUND


class LimitExceeded(AgentError):
    """A limit on size or number; the message names it."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED


class Replayed(AgentError):
    """A step id that was used before, for this or another step."""

    code = grpc.StatusCode.FAILED_PRECONDITION


class TooLate(AgentError):
    """It did not end within its deadline."""

    code = grpc.StatusCode.DEADLINE_EXCEEDED


class PartUnavailable(AgentError):
    """A part of the desktop does not answer; the message starts with its name."""

    code = grpc.StatusCode.UNAVAILABLE

    def __init__(self, part: str, message: str) -> None:
        """Name the part."""
        super().__init__(f"{part}: {message}")
        self.part = part


class Taken(AgentError):
    """The desktop belongs to another session."""

    code = grpc.StatusCode.ABORTED
