"""One machine, one client, a restart budget and counters: a desktop that a task can be played on."""

from __future__ import annotations

import contextlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sci_gym import codec
from sci_gym.app import App
from sci_gym.client import VMAgentClient
from sci_gym.errors import (
    ActionError,
    CrashError,
    DeadlineError,
    DisconnectedError,
    InfrastructureError,
    LaunchError,
    ProtocolError,
)
from sci_gym.machines.base import Machine
from sci_gym.specs import Action, Kind, Observation, Program, TaskSpec, Verb
from sci_gym_protos import vm_agent_pb2 as pb

T = TypeVar("T")
_WAIT_FOR_CHANGE_S = 0.5
_MAX_FILE_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Timing:
    """How long to wait for what.

    Attributes:
        quiet_s: the screen counts as settled after so long without a change.
        settle_s: deadline for the screen to settle.
        answer_s: what a call to the daemon may take beyond the time that it waits itself; a daemon without a
            sign of life for so long counts as gone.
        wait_s: deadline of `Desktop.wait_for`, and for a program to be ready.
        code_s: time limit of a CODE action.
        resets: how often a reset is tried before it fails.
        launches: how often a program is launched until it registers with the accessibility bus.
    """

    quiet_s: float = 0.08
    settle_s: float = 5.0
    answer_s: float = 10.0
    wait_s: float = 30.0
    code_s: float = 60.0
    resets: int = 3
    launches: int = 3


class Coordinator:
    """Owns a machine and its client. Not thread-safe."""

    def __init__(self, machine: Machine, app: App, timing: Timing | None = None) -> None:
        """Drive `app` on `machine`; nothing starts before `reset`."""
        self._machine = machine
        self._app = app
        self._timing = timing or Timing()
        self._client: VMAgentClient | None = None
        self._files: tuple[str, ...] = ()
        self._cursor = (0, 0)
        self.counters: Counter[str] = Counter()
        self.phases_s: dict[str, float] = {}

    def reset(self, task: TaskSpec) -> Observation:
        """A fresh desktop with the task's programs started and set up; tried `Timing.resets` times.

        Raises:
            MissingDependencyError: a program is not installed; the message says how to get it.
            LaunchError: it failed every time; the last fault is its cause.
        """
        for attempt in range(1, self._timing.resets + 1):
            self.counters["resets"] += 1
            try:
                with self._explained():
                    return self._reset(task)
            except InfrastructureError as error:
                self.counters["reset_faults"] += 1
                fault = error
                if attempt == self._timing.resets:
                    break
        self.close()
        raise LaunchError("reset", f"failed {self._timing.resets} times, at last with: {fault}") from fault

    def act(self, action: Action) -> Observation:
        """Act at most once, wait for the screen to settle, and observe that moment.

        Raises:
            InfrastructureError: a part of the machine failed, or a program was ended by a signal.
            ActionError: the guest refused the action.
        """
        with self._explained():
            return self._act(action)

    def _act(self, action: Action) -> Observation:
        output = ""
        if action.kind is Kind.CODE:
            output = self._run_code(action)
        elif action.kind is Kind.API:
            output = self._call_api(action)
        seconds = action.seconds if action.kind is Kind.WAIT else 0.0
        width, height = self._machine.spec.width, self._machine.spec.height
        return self._step(codec.pack_input(action, self._cursor, width, height), seconds, output)

    def observe(self) -> Observation:
        """Settle and observe without acting."""
        return self._step(pb.Input(kind=pb.Input.KIND_NONE), 0.0, "")

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
            observation = self._step(pb.Input(kind=pb.Input.KIND_NONE), _WAIT_FOR_CHANGE_S, "")
        return observation

    def put_file(self, path: str, data: bytes) -> None:
        """Write a file below the guest's home."""
        self._connected.put_file(path, data)

    def close(self) -> None:
        """End the machine; more than once is fine."""
        if self._client is not None:
            self._client.close()
            self._client = None
        self._machine.stop()

    @property
    def machine(self) -> Machine:
        """The machine that it owns."""
        return self._machine

    @property
    def client(self) -> VMAgentClient:
        """The connection to the daemon of the desktop that runs."""
        return self._connected

    @property
    def _connected(self) -> VMAgentClient:
        if self._client is None:
            raise InfrastructureError("machine", "is not started; call reset first")
        return self._client

    def _reset(self, task: TaskSpec) -> Observation:
        if self._client is not None:
            self._client.close()
            self._client = None
        self._files = task.files
        self._machine.require(self._app.requirements)
        endpoint = self._timed(
            "machine", self._machine.restore if self._machine.running else self._machine.start
        )
        self._client = VMAgentClient(endpoint, self._timing.answer_s)
        self._client.hello()
        self._timed("launch", self._launch)
        self._timed("ready", lambda: self.wait_for(f"{self._app.title} ready", self._app.ready))
        self._timed("setup", lambda: self._set_up(task.setup))
        return self.observe()

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Count a fault by its part; ask the machine about one that its daemon could not tell."""
        try:
            yield
        except InfrastructureError as error:
            silent = isinstance(error, DeadlineError | DisconnectedError)
            fault = (self._machine.fault() if silent else None) or error
            self.counters[f"fault: {fault.part}"] += 1
            if fault is error:
                raise
            raise fault from error

    def _launch(self) -> None:
        for program in self._app.programs:
            launched = self._connected.launch(
                program.name,
                program.argv,
                env=program.env,
                preload_c=program.preload.read_text() if program.preload else "",
                register_s=program.register_s,
                max_launches=self._timing.launches,
            )
            self.counters["relaunches"] += launched.launches - 1

    def _set_up(self, verbs: Sequence[Verb]) -> None:
        for verb in verbs:
            function = self._app.verbs[verb.name.removeprefix(f"{self._app.name}.")]
            function(self, **verb.arguments)

    def _step(self, request: pb.Input, change_s: float, output: str) -> Observation:
        settle = pb.SettlePolicy(
            quiet_ms=round(self._timing.quiet_s * 1000),
            deadline_ms=round((self._timing.settle_s + change_s) * 1000),
            change_ms=round(change_s * 1000),
        )
        probe = pb.ProbeRequest(files=self._files, max_file_bytes=_MAX_FILE_BYTES)
        reply = self._timed(
            "step", lambda: self._connected.step(request, settle, codec.observe_request(), probe)
        )
        observation = codec.unpack_observation(
            reply.observation,
            self._connected.frame,
            self._connected.tree,
            reply.probe,
            settled=reply.settled,
            output=output,
        )
        if observation.screenshot.shape[:2] != (self._machine.spec.height, self._machine.spec.width):
            raise ProtocolError("daemon", f"sent a screen of shape {observation.screenshot.shape}")
        self.counters["steps"] += 1
        self.counters["unsettled"] += not reply.settled
        self._cursor = observation.cursor
        _check_programs(observation.programs)
        return observation

    def _run_code(self, action: Action) -> str:
        commands = {"shell": ("/bin/bash", "-s"), "python": ("/usr/bin/python3", "-")}
        if action.language not in commands:
            raise ActionError(
                f"action.language: {self._app.title} has no command language; use shell or python"
            )
        result = self._connected.execute(
            commands[action.language], stdin=action.text.encode(), timeout_s=self._timing.code_s
        )
        ended = "timed out" if result.timed_out else f"exit code {result.exit_code}"
        return f"{result.stdout}{result.stderr}[{ended}]"

    def _call_api(self, action: Action) -> str:
        name, arguments = _parse_api(action.text)
        functions: Mapping[str, Callable[..., Any]] = {
            "clipboard.get": self._connected.get_clipboard,
            "clipboard.set": self._connected.set_clipboard,
            "windows.list": self._list_windows,
            "windows.activate": self._activate_window,
            "windows.close": self._close_window,
        }
        if name not in functions:
            raise ActionError(f"action.text: unknown API {name!r}; known are {', '.join(functions)}")
        try:
            return json.dumps(functions[name](**arguments), ensure_ascii=False)
        except TypeError as error:
            raise ActionError(f"action.text: {name}: {error}") from error

    def _list_windows(self) -> list[dict[str, Any]]:
        return [{"title": one.title, "active": one.active} for one in self._connected.windows()]

    def _activate_window(self, title: str) -> None:
        self._connected.activate_window(self._window_id(title))

    def _close_window(self, title: str) -> None:
        self._connected.close_window(self._window_id(title))

    def _window_id(self, title: str) -> int:
        windows = self._connected.windows()
        for one in windows:
            if title in one.title:
                return int(one.id)
        raise ActionError(f"action.text: no window {title!r}; there are {[one.title for one in windows]}")

    def _timed(self, phase: str, function: Callable[[], T]) -> T:
        start = time.perf_counter()
        try:
            return function()
        finally:
            self.phases_s[phase] = time.perf_counter() - start


def _check_programs(programs: Sequence[Program]) -> None:
    """Raise for a program that a signal ended: no policy can send one into a program's cell."""
    for program in programs:
        if not program.running and program.exit_code < 0:
            raise CrashError(
                program.name,
                f"was ended by signal {-program.exit_code}; its stderr ends: {program.stderr_tail[-500:]!r}",
            )


def _parse_api(text: str) -> tuple[str, dict[str, Any]]:
    try:
        call = json.loads(text)
        return str(call["name"]), dict(call.get("args", {}))
    except (ValueError, TypeError, KeyError) as error:
        raise ActionError(
            f'action.text: an API call is {{"name": "clipboard.get", "args": {{}}}}, not {text!r}'
        ) from error
