"""One desktop with an app's programs on it: a machine, its client, and what can be done there."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from sci_gym import codec
from sci_gym.app import App, Command, ProgramSpec
from sci_gym.client import VMAgentClient
from sci_gym.errors import (
    ConfigurationError,
    CrashError,
    DeadlineError,
    DisconnectedError,
    InfrastructureError,
    ProtocolError,
)
from sci_gym.guest_api import call_api
from sci_gym.machines.base import Endpoint, Machine, Snapshot
from sci_gym.specs import STOP_KINDS, Action, Inspection, Kind, Observation, Program, TaskSpec
from sci_gym.stats import Stats
from sci_gym_protos import vm_agent_pb2 as pb

_WAIT_FOR_CHANGE_S = 0.5
_HEALTH_S = 1.0
_MAX_FILE_BYTES = 2**20
_LONGEST_INSPECT_S = 60.0  # the daemon allows no more
_INTERPRETERS = {"shell": ("/bin/bash", "-s"), "python": ("/usr/bin/python3", "-")}


@dataclass(frozen=True, slots=True)
class Timing:
    """How long to wait for what, at this host's own speed; machines that emulate get more.

    Attributes:
        quiet_s: the screen counts as settled after so long without a change.
        settle_s: deadline for the screen to settle.
        answer_s: what a call to the daemon may take beyond the time that it waits itself; a daemon without a
            sign of life for so long counts as gone.
        wait_s: deadline of `Desktop.wait_for`, for a program to be ready, and for a spare in the making.
        code_s: time limit of a CODE action.
        inspect_s: time limit of all of a step's inspections together.
        resets: how often a reset is tried before it fails.
        launches: how often a program is launched until it registers with the accessibility bus.
    """

    quiet_s: float = 0.08
    settle_s: float = 5.0
    answer_s: float = 10.0
    wait_s: float = 30.0
    code_s: float = 60.0
    inspect_s: float = 30.0
    resets: int = 3
    launches: int = 3

    def stretched(self, factor: float) -> Timing:
        """The same for a machine on which all takes `factor` times as long."""
        return replace(
            self, quiet_s=self.quiet_s * factor, settle_s=self.settle_s * factor,
            answer_s=self.answer_s * factor, wait_s=self.wait_s * factor,
            code_s=self.code_s * factor, inspect_s=min(self.inspect_s * factor, _LONGEST_INSPECT_S),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Moment:
    """A stage at one moment.

    Attributes:
        machine: RAM, disk and clock.
        files: what is probed there.
        inspections: what is run there after each step.
        cursor: where the pointer was last seen.
        last_step_id: the last step that its daemon knows of.
    """

    machine: Snapshot
    files: tuple[str, ...]
    inspections: tuple[Inspection, ...]
    cursor: tuple[int, int]
    last_step_id: int


class Stage:
    """A machine on which an app is played. Not thread-safe, but for `stop`."""

    def __init__(self, machine: Machine, app: App, timing: Timing, stats: Stats) -> None:
        """Plan it; nothing starts before `bring_up`."""
        self.machine = machine
        self._files: tuple[str, ...] = ()
        self._inspections: tuple[Inspection, ...] = ()
        self.phases = pb.Phases()
        quiet_s = max(timing.quiet_s, *(part.quiet_s for part in app.parts))
        self._app, self._stats = app, stats
        self._timing = replace(timing, quiet_s=quiet_s).stretched(machine.slowness)
        self._client: VMAgentClient | None = None
        self._cursor = (0, 0)

    def bring_up(self) -> None:
        """Start the machine, or restore it, launch the app's programs, and wait until they are ready.

        Raises:
            MissingDependencyError: a program is not installed; the message says how to get it.
            InfrastructureError: a part did not come up.
        """
        self._disconnect()
        self._files = self._inspections = ()
        self.machine.require(self._app.requirements)
        key = _launched(self._app)
        with self._stats.timed("machine"):
            kept = self.machine.recall(key)
            endpoint = kept or (self.machine.restore() if self.machine.running else self.machine.start())
            self._connect(endpoint)
        if kept is None:
            with self._stats.timed("launch"):
                self._launch(self.client, self._app.programs)
        with self._stats.timed("ready"):
            self.wait_for(f"{self._app.title} ready", self._app.ready)
            self._bring_to_front(self._app.parts[0])
        if kept is None and (moved := self.machine.keep(key)) is not None:
            self._disconnect()
            self._connect(moved)

    def look_for(self, task: TaskSpec) -> None:
        """From now on observe what the checks of a task rest on."""
        self._files, self._inspections = task.files, task.inspections

    def snapshot(self) -> Moment:
        """Keep this moment; raises what `Machine.snapshot` raises."""
        return Moment(
            self.machine.snapshot(), self._files, self._inspections, self._cursor, self.client.last_step_id
        )

    def resume(self, moment: Moment) -> None:
        """Start the machine, a fork of `moment`, and go on where that stage was.

        Raises:
            InfrastructureError: a part did not come up.
        """
        with self._stats.timed("fork"):
            endpoint = self.machine.start()
            self._connect(endpoint, moment.last_step_id)
        self._files, self._inspections, self._cursor = moment.files, moment.inspections, moment.cursor

    def inspect(self) -> Observation:
        """Observe, and hold that every part and program is as well as after `bring_up`.

        Raises:
            InfrastructureError: one is not.
        """
        if not self.machine.running:
            raise DisconnectedError("machine", "ended while it waited")
        for part, detail in self.client.health(_HEALTH_S).items():
            if detail:
                raise InfrastructureError(part, detail)
        observation = self.observe()
        if not self._app.ready(observation):
            raise InfrastructureError(self._app.title, "is not ready any more")
        return observation

    def set_up(self, task: TaskSpec) -> None:
        """Start what only some tasks need, and run a task's set-up.

        Raises:
            MissingDependencyError: such a program is not installed; the message says how to get it.
            InfrastructureError: a part did not come up.
        """
        parts = {part.name: part for part in self._app.parts}
        for part in self._app.late_parts(task):
            self.machine.require((*self._app.requirements, *part.requirements))
            self._launch(self.client, part.programs)
            self.wait_for(f"{part.title} ready", part.ready)
        for verb in task.setup:
            name, _, function = verb.name.partition(".")
            if name not in parts or function not in parts[name].verbs:
                raise ConfigurationError(f"task {task.id}: needs {verb.name}; make an environment for it")
            self._bring_to_front(parts[name])
            parts[name].verbs[function](self, **verb.arguments)
        self._bring_to_front(self._app.parts[0])

    def act(self, action: Action) -> Observation:
        """Act at most once, wait for the screen to settle, and observe that moment.

        Raises:
            InfrastructureError: a part of the machine failed, or a program was ended by a signal.
            ActionError: the guest refused the action.
        """
        output = ""
        if action.kind is Kind.CODE:
            output = self._run_code(action)
        elif action.kind is Kind.API:
            output = call_api(self.client, action.text)
        waits = action.kind is Kind.WAIT and self._app.screen  # without one, nothing is to change
        seconds = action.seconds if waits else 0.0
        width, height = self.machine.spec.width, self.machine.spec.height
        # What an episode is judged by at its end rests on nothing that was read before.
        return self._step(
            codec.pack_input(action, self._cursor, width, height), seconds, output,
            fresh=action.kind in STOP_KINDS, final=action.kind in STOP_KINDS,
        )  # fmt: skip

    def observe(self) -> Observation:
        """Settle and observe without acting."""
        return self._step(pb.Input(kind=pb.Input.KIND_NONE))

    def wait_for(self, what: str, holds: Callable[[Observation], bool]) -> Observation:
        """Observe until a condition holds, waking up at each change of the screen."""
        deadline = time.monotonic() + self._timing.wait_s
        observation = self.observe()
        while not holds(observation):
            if time.monotonic() > deadline:
                raise DeadlineError(what, f"not reached within {self._timing.wait_s} s")
            for program in observation.programs:
                if not program.running:
                    raise InfrastructureError(program.name, f"ended with {program.exit_code} before: {what}")
            observation = self._step(pb.Input(kind=pb.Input.KIND_NONE), _WAIT_FOR_CHANGE_S, fresh=True)
        return observation

    def put_file(self, path: str, data: bytes) -> None:
        """Write a file below the guest's home."""
        self.client.put_file(path, data)

    @property
    def client(self) -> VMAgentClient:
        """The connection to the machine's daemon."""
        if self._client is None:
            raise InfrastructureError("machine", "is not started; call reset first")
        return self._client

    def close(self) -> None:
        """End the machine; more than once is fine. What could not be ended is counted, not raised."""
        self._disconnect()
        self.stop()

    def stop(self) -> None:
        """End the machine under whatever goes on here, which then fails; from any thread."""
        if not self.machine.stop():
            self._stats.count("unstoppable")

    def _bring_to_front(self, part: App) -> None:
        """Raise the windows of one of several apps, so that set-up and the first step meet it in front."""
        names = {program.name for program in part.programs}
        if len(self._app.parts) < 2 or not names or not part.screen:
            return
        seen = self.observe()
        if not _is_active(seen, names):
            for window in seen.windows:
                if window.program in names:
                    self.client.activate_window(window.id)
            self.wait_for(f"{part.title} in front", lambda shown: _is_active(shown, names))

    def _connect(self, endpoint: Endpoint, last_step_id: int = 0) -> None:
        self._client = VMAgentClient(endpoint, self._timing.answer_s, last_step_id=last_step_id)
        self._client.hello()

    def _disconnect(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _launch(self, client: VMAgentClient, programs: Sequence[ProgramSpec]) -> None:
        for program in programs:
            launched = client.launch(
                program.name,
                program.argv,
                env=program.env,
                **program.module,
                register_s=program.register_s * self.machine.slowness,
                max_launches=self._timing.launches,
            )
            self._stats.count("relaunches", launched.launches - 1)

    def _step(
        self, act: pb.Input, change_s: float = 0.0, output: str = "", *,
        fresh: bool = False, final: bool = False,
    ) -> Observation:  # fmt: skip
        settle = pb.SettlePolicy(
            quiet_ms=round(self._timing.quiet_s * 1000),
            deadline_ms=round((self._timing.settle_s + change_s) * 1000),
            change_ms=round(change_s * 1000),
        )
        inspect_s = self._timing.inspect_s if self._inspections else 0.0
        probe = codec.probe_request(self._files, _MAX_FILE_BYTES, self._inspections, inspect_s, fresh=final)
        reply = self.client.step(act, settle, codec.observe_request(fresh=fresh), probe)
        observation = codec.unpack_observation(
            reply.observation,
            self.client.frame,
            self.client.tree,
            reply.probe,
            settled=reply.settled,
            output=output,
        )
        if observation.screenshot.shape[:2] != (self.machine.spec.height, self.machine.spec.width):
            raise ProtocolError("daemon", f"sent a screen of shape {observation.screenshot.shape}")
        self._cursor = observation.cursor
        self.phases = reply.phases
        _check_programs(observation.programs)
        return observation

    def _run_code(self, action: Action) -> str:
        command = self._command(action)
        if command is None:
            return f"{self._app.title} has no command language; use shell or python"
        result = self.client.execute(command.argv, stdin=command.stdin, timeout_s=self._timing.code_s)
        ended = "timed out" if result.timed_out else f"exit code {result.exit_code}"
        return f"{result.stdout}{result.stderr}[{ended}]"

    def _command(self, action: Action) -> Command | None:
        if action.language in _INTERPRETERS:
            return Command(_INTERPRETERS[action.language], action.text.encode())
        return self._app.command(action.text)


def _is_active(observation: Observation, programs: Collection[str]) -> bool:
    return any(window.active and window.program in programs for window in observation.windows)


def _launched(app: App) -> str:
    """What a desktop is kept by on which an app's programs stand ready: all that starts them."""
    parts = [(one.name, one.argv, sorted(one.env.items()), *one.module.values()) for one in app.programs]
    return repr((app.name, parts))


def _check_programs(programs: Sequence[Program]) -> None:
    """Raise for a program that a signal ended: no policy can send one into a program's cell."""
    for program in programs:
        if not program.running and program.exit_code < 0:
            raise CrashError(
                program.name,
                f"was ended by signal {-program.exit_code}; its stderr ends: {program.stderr_tail[-500:]!r}",
            )
