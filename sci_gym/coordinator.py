"""Which desktop an episode is played on: one in use, spares behind it, a restart budget, counters."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from sci_gym.app import App
from sci_gym.client import VMAgentClient
from sci_gym.errors import (
    ConfigurationError,
    DeadlineError,
    DisconnectedError,
    InfrastructureError,
    LaunchError,
)
from sci_gym.machines.base import Machine
from sci_gym.spares import RESERVE_BYTES, SparePool
from sci_gym.specs import Action, Observation, TaskSpec
from sci_gym.stage import Moment, Stage, Timing
from sci_gym.stats import Stats

_DAEMON_PHASES = ("act", "react", "settle", "capture", "tree")
_RESET_PHASES = ("reset", "setup", "observe")


class Coordinator:
    """Owns the stage of the episode and the pool of spares. Not thread-safe."""

    def __init__(
        self,
        make_machine: Callable[[], Machine],
        app: App,
        timing: Timing | None = None,
        *,
        spares: int = 0,
        reserve_bytes: int = RESERVE_BYTES,
    ) -> None:
        """Drive `app` on machines that `make_machine` gives; nothing starts before `reset`.

        Args:
            make_machine: with spares, a new one at each call.
            app: what is started there.
            timing: deadlines.
            spares: how many desktops to keep ready; 0 brings the same machine back at each reset.
            reserve_bytes: see `SparePool`.
        """
        self._make_machine, self._app = make_machine, app
        self._timing = timing or Timing()
        self._stats = Stats()
        # No reference to self: the pool's thread must not keep a forgotten environment alive.
        self._make_stage = partial(_make_stage, make_machine, app, self._timing, self._stats)
        self._spares = spares
        self._pool = SparePool(
            self._make_stage, spares, self._stats,
            patience_s=self._timing.wait_s, reserve_bytes=reserve_bytes,
        )  # fmt: skip
        self._stage: Stage | None = None
        self._phases: tuple[str, ...] = ()  # that the last reset or step went through
        self._forked = False  # the stage's machine restores to a snapshot, not to a fresh desktop

    def reset(self, task: TaskSpec) -> Observation:
        """A fresh desktop with the task's programs started and set up; tried `Timing.resets` times.

        Raises:
            MissingDependencyError: a program is not installed; the message says how to get it.
            LaunchError: it failed every time; the last fault is its cause.
        """
        for attempt in range(1, self._timing.resets + 1):
            self._stats.count("resets")
            try:
                with self._stats.timed("reset"):
                    observation = self._reset(task)
                self._phases = _RESET_PHASES
                self._refill()
                return observation
            except InfrastructureError as error:
                fault = self._explain(error)
                self._stats.fault("reset_faults", fault)
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
        stage = self._played
        try:
            with self._stats.timed("step"):
                observation = stage.act(action)
        except InfrastructureError as error:
            fault = self._explain(error)
            self._stats.fault("step_faults", fault)
            if fault is error:
                raise
            raise fault from error
        self._stats.count("steps")
        self._stats.count("unsettled", not observation.settled)
        for phase in _DAEMON_PHASES:
            self._stats.sample(phase, getattr(stage.phases, phase))
        self._phases = ("step", *_DAEMON_PHASES)
        return observation

    def snapshot(self) -> Moment:
        """Keep the desktop as it is now.

        Raises:
            ConfigurationError: this kind of machine cannot.
            InfrastructureError: a part of the machine failed.
        """
        with self._stats.timed("snapshot"):
            return self._played.snapshot()

    def fork(self, moment: Moment, count: int) -> list[Coordinator]:
        """As many coordinators whose desktops go on from `moment`, all of them or none.

        Raises:
            LaunchError: a desktop did not come up.
        """
        forks = [self._beside() for _ in range(count)]
        try:
            with ThreadPoolExecutor(count, thread_name_prefix="sci-gym-fork") as threads:
                for started in [threads.submit(fork.revert, moment) for fork in forks]:
                    started.result()
        except BaseException:
            for fork in forks:
                fork.close()
            raise
        return forks

    def revert(self, moment: Moment) -> None:
        """Go on from `moment` on a desktop that takes the place of the one in use.

        Raises:
            LaunchError: it did not come up.
        """
        self._drop_stage()
        self._stats.count("forks")
        stage = Stage(moment.machine.fork(), self._app, self._timing, self._stats)
        self._stage, self._forked = stage, True
        try:
            stage.resume(moment)
        except InfrastructureError as error:
            fault = self._explain(error)
            self._drop_stage()
            raise LaunchError("fork", f"failed with: {fault}") from error

    def close(self) -> None:
        """End the machine and the spares; more than once is fine."""
        self._drop_stage()
        self._pool.close()

    @property
    def machine(self) -> Machine:
        """The machine of the episode."""
        return self._played.machine

    @property
    def client(self) -> VMAgentClient:
        """The connection to the daemon of the desktop that runs."""
        return self._played.client

    @property
    def timings_ms(self) -> dict[str, float]:
        """How long the phases of the last reset or step that went well took."""
        return self._stats.last_ms(self._phases)

    def summary(self) -> dict[str, Any]:
        """Counters, timings and spares, see `SciEnv.stats`."""
        return {**self._stats.summary(), "spares": self._pool.summary()}

    @property
    def _played(self) -> Stage:
        if self._stage is None:
            raise DisconnectedError("machine", "is not started; call reset first")
        return self._stage

    def _explain(self, error: InfrastructureError) -> InfrastructureError:
        """A fault as the machine tells it, where the daemon could not."""
        silent = isinstance(error, DeadlineError | DisconnectedError) and self._stage is not None
        return (self._stage.machine.fault() if silent and self._stage else None) or error

    def _reset(self, task: TaskSpec) -> Observation:
        observation = self._take_spare(task)
        if observation is None:
            self._bring_up(task)
        elif not task.setup and self._app.parts == (self._app,):
            return observation
        with self._stats.timed("setup"):
            self._played.set_up(task)
        with self._stats.timed("observe"):
            return self._played.observe()

    def _take_spare(self, task: TaskSpec) -> Observation | None:
        """Put a healthy spare in the place of the used stage, and observe it; None when there is none."""
        if not self._spares:
            return None
        while (spare := self._pool.take()) is not None:
            spare.look_for(task)
            try:
                with self._stats.timed("observe"):
                    observation = spare.inspect()
            except InfrastructureError:
                self._stats.count("spares_dead")
                self._pool.discard(spare)
                continue
            self._stats.count("spares_used")
            used, self._stage, self._forked = self._stage, spare, False
            if used is not None:
                self._pool.discard(used)
            return observation
        return None

    def _bring_up(self, task: TaskSpec) -> None:
        if self._forked:
            self._drop_stage()
        if self._stage is None:
            self._stage = self._make_stage()
        self._stage.bring_up()
        self._stage.look_for(task)

    def _beside(self) -> Coordinator:
        """A coordinator of the same, whose resets leave the machine of this one alone."""
        return Coordinator(_unused(self._make_machine), self._app, self._timing)

    def _drop_stage(self) -> None:
        stage, self._stage, self._forked = self._stage, None, False
        if stage is not None:
            stage.close()

    def _refill(self) -> None:
        # After the reset rather than in it: a start beside it would slow its first observation.
        if self._spares and self._stage is not None:
            self._pool.refill(self._stage.machine)


def _unused(make_machine: Callable[[], Machine]) -> Callable[[], Machine]:
    """A maker whose machine nobody uses yet."""

    def make() -> Machine:
        machine = make_machine()
        if machine.running:
            raise ConfigurationError(
                "reset: the one machine that was given is in use by the environment that was forked; name "
                "its kind (machine='libvirt'), so that each fork can have a fresh one"
            )
        return machine

    return make


def _make_stage(make_machine: Callable[[], Machine], app: App, timing: Timing, stats: Stats) -> Stage:
    return Stage(make_machine(), app, timing, stats)
