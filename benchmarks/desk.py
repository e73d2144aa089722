"""A program on a desktop of its own, through the client calls that a step of an environment makes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sci_gym import codec
from sci_gym.app import App
from sci_gym.client import VMAgentClient
from sci_gym.errors import DeadlineError
from sci_gym.machines import Endpoint, MachineSpec, SandboxMachine
from sci_gym.specs import A11yTree, Action, Frame, Observation
from sci_gym_protos import vm_agent_pb2 as pb

_QUIET_MS, _SETTLE_MS = 80, 5000
_READY_TRIES, _CHANGE_MS = 60, 500
_LAUNCHES = 3


class SharedSandbox(SandboxMachine):
    """A sandbox to which peers' scripts can be brought beside whoever steps it."""

    endpoint: Endpoint

    def start(self) -> Endpoint:
        """Start it, and remember where its daemon listens."""
        self.endpoint = super().start()
        return self.endpoint


class Desk:
    """A client of a desktop, and what benchmarks do there."""

    def __init__(self, client: VMAgentClient, spec: MachineSpec) -> None:
        """Work through a client."""
        self.client, self._spec = client, spec

    def start(self, app: App) -> None:
        """Launch an app's programs, and wait until they are ready.

        Raises:
            LaunchError: one did not register with the accessibility bus.
            DeadlineError: the app was not ready in time.
        """
        for program in app.programs:
            self.client.launch(
                program.name, program.argv, env=program.env,
                **program.module,
                register_s=program.register_s, max_launches=_LAUNCHES,
            )  # fmt: skip
        for _ in range(_READY_TRIES):
            if app.ready(self.look(change_ms=_CHANGE_MS)):
                return
        raise DeadlineError(app.title, f"not ready after {_READY_TRIES * _CHANGE_MS / 1000} s")

    def end_programs(self) -> None:
        """End every program."""
        for program in self.client.programs():
            self.client.end_program(program.id)

    def act(self, action: Action) -> None:
        """Act and wait until the screen has settled, without looking at it."""
        request = codec.pack_input(action, (0, 0), self._spec.width, self._spec.height)
        self.client.step(request, _settle(), pb.ObserveRequest(), pb.ProbeRequest())

    def tree(self) -> A11yTree:
        """What is on screen, as a policy gets it."""
        self.client.observe(pb.ObserveRequest(tree=pb.ObserveRequest.TREE_SHOWING))
        return self.client.tree

    def frame(self) -> Frame:
        """The screenshot as a policy gets it, uint8 `[height, width, 3]`."""
        self.client.observe(pb.ObserveRequest(screenshot=True))
        return self.client.frame

    def flip_to(self, window_id: int) -> None:
        """Raise a window, and wait until the screen has settled."""
        self.client.activate_window(window_id)
        self.act(Action.wait())

    def look(self, change_ms: int = 0) -> Observation:
        """Observe everything once the screen has settled; first wait so long for a change."""
        reply = self.client.step(pb.Input(), _settle(change_ms), codec.observe_request(), pb.ProbeRequest())
        return codec.unpack_observation(
            reply.observation, self.client.frame, self.client.tree, reply.probe, settled=reply.settled
        )


@contextmanager
def open_desk(app: App | None = None) -> Iterator[Desk]:
    """A desktop of its own, 1920x1080, on which an app's programs are ready.

    Raises:
        MissingDependencyError: a program is not installed; the message says how to get it.
    """
    machine = SandboxMachine(MachineSpec())
    if app is not None:
        machine.require(app.requirements)
    try:
        client = VMAgentClient(machine.start())
        try:
            desk = Desk(client, machine.spec)
            if app is not None:
                desk.start(app)
            yield desk
        finally:
            client.close()
    finally:
        machine.stop()


def _settle(change_ms: int = 0) -> pb.SettlePolicy:
    return pb.SettlePolicy(quiet_ms=_QUIET_MS, deadline_ms=_SETTLE_MS + change_ms, change_ms=change_ms)
