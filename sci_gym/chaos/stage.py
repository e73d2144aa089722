"""A desktop to break: an environment with a tap, actions under way in another thread, and what must hold."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil

from sci_gym.app import App, ProgramSpec
from sci_gym.chaos.tap import Tap, TappedMachine
from sci_gym.coordinator import Coordinator
from sci_gym.env import EnvOptions, SciEnv
from sci_gym.errors import DeadlineError, SciGymError
from sci_gym.loader import select_tasks
from sci_gym.machines import MachineSpec, load_machine
from sci_gym.specs import A11yNode, Action, State
from sci_gym.stage import Timing

WAIT_S = 3.0
RESET_S = 120.0
_SLACK_S = 2.0
_GONE_S = 10.0
_POLL_S = 0.01
_SIZE_PX = (1280, 800)
_MEMORY_BYTES, _DISK_BYTES = 768 * 2**20, 256 * 2**20
_TIMING = Timing(code_s=20.0)
_BLOCK = Path(__file__).with_name("block.c")


class BrokenPromiseError(SciGymError):
    """A desktop does not do what it should."""


class Stage:
    """One environment of an app, and what chaos does to it."""

    def __init__(
        self, app: App, machine: str, extra: Sequence[ProgramSpec], options: Mapping[str, Any]
    ) -> None:
        """Plan it; `extra` programs run beside the app's own.

        Args:
            app: whose first program can be blocked by `touch ~/.sci-gym-block`.
            machine: a name of `machine_names`.
            extra: further programs.
            options: what the machine takes beside its size.
        """
        self._files = tempfile.TemporaryDirectory(prefix="chaos-")
        self.app = _extended(app, Path(self._files.name), extra)
        width, height = _SIZE_PX
        spec = MachineSpec(width, height, memory_bytes=_MEMORY_BYTES, disk_bytes=_DISK_BYTES)
        self.machine = TappedMachine(load_machine(machine)(spec, **options))
        coordinator = Coordinator(lambda: self.machine, self.app, _TIMING)
        chosen = EnvOptions(interface="hybrid", width=width, height=height)
        self.env = SciEnv(self.app, select_tasks(app, None), coordinator, chosen)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="chaos")
        self._seed = 0

    def close(self) -> None:
        """End everything."""
        self.env.close()
        self._pool.shutdown()
        self._files.cleanup()

    @property
    def program(self) -> ProgramSpec:
        """The app's first program."""
        return self.app.programs[0]

    @property
    def tap(self) -> Tap:
        """The tap on the running machine."""
        assert self.machine.tap is not None  # there is one from the first reset on
        return self.machine.tap

    @property
    def slowness(self) -> float:
        """How many times as long as on this host things may take on the machine."""
        return self.machine.slowness

    def pids(self, part: str) -> list[int]:
        """The processes of a part; "program" is the app's first."""
        name = Path(self.program.argv[0]).name if part == "program" else part
        return list(self.machine.parts().get(name, ()))

    def reset(self) -> None:
        """Begin an episode on a fresh desktop."""
        self._seed += 1
        self.env.reset(seed=self._seed)

    def begin(self, function: Callable[[], Any]) -> Future[Any]:
        """Call a function in another thread."""
        return self._pool.submit(function)

    def end(self, future: Future[Any], deadline_s: float) -> Any:
        """The result of what was begun; past its deadline the machine is ended, so that it ends as well.

        Raises:
            DeadlineError: it did not end in time.
        """
        try:
            return future.result(deadline_s)
        except TimeoutError:
            self.env.close()
            future.exception(_GONE_S)
            raise DeadlineError("chaos", f"did not end within {deadline_s} s") from None

    def step(self, action: Action, fault: Callable[[], None] | None = None) -> dict[str, Any]:
        """The info of a step and whether it was `truncated`; a fault comes once it is on its way."""
        self.tap.sent.clear()
        future = self.begin(lambda: self.env.step(action))
        if fault is not None:
            self.tap.sent.wait(_SLACK_S)
            fault()
        _, _, _, truncated, info = self.end(future, step_deadline_s(action) * self.slowness)
        return {**info, "truncated": truncated}

    def processes(self) -> list[psutil.Process]:
        """Every process of the machine."""
        found = []
        for pid in {pid for pids in self.machine.parts().values() for pid in pids}:
            with contextlib.suppress(psutil.NoSuchProcess):
                process = psutil.Process(pid)
                found += [process, *process.children(recursive=True)]
        return found

    def editable(self) -> A11yNode | None:
        """A text field on screen."""
        marks: Sequence[A11yNode] = self.env._info()["marks"]
        return next((node for node in marks if node.has(State.EDITABLE)), None)

    def check(self) -> None:
        """Hold a desktop to be healthy by its screen, its tree, and what input does.

        Raises:
            BrokenPromiseError: it is not.
        """
        self._work(Action.wait(0))
        if not self.env.last.screenshot.std():
            raise BrokenPromiseError("the screen is blank")
        if not self.env.last.tree.of_program(self.program.name).showing.nodes:
            raise BrokenPromiseError("the tree does not show the program")
        field = self.editable()
        if field is None or field.box is None:
            return
        at = field.box.center
        self._work(Action.click(*at))
        info = self._work(Action.type("42"))
        if self.env.last.cursor != at or not any("42" in node.text for node in info["nodes"]):
            raise BrokenPromiseError(f"typing into the field at {at} has no effect")

    def _work(self, action: Action) -> dict[str, Any]:
        info = self.step(action)
        if "infra_error" in info:
            raise BrokenPromiseError(f"{action.kind}: {info['infra_error']['message']}")
        return info


def step_deadline_s(action: Action) -> float:
    """Until when a step must have ended, whatever breaks."""
    own = {"WAIT": action.seconds, "CODE": _TIMING.code_s}.get(str(action.kind), 0.0)
    return _TIMING.answer_s + _TIMING.settle_s + own + _SLACK_S


def wait_until(holds: Callable[[], Any], deadline_s: float) -> bool:
    """Poll a predicate; tell whether it held before the deadline."""
    end = time.monotonic() + deadline_s
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(_POLL_S)
    return True


def still_alive(processes: Sequence[psutil.Process]) -> list[str]:
    """The names of those that do not end."""
    _, alive = psutil.wait_procs(processes, timeout=_GONE_S)
    left = []
    for process in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.status() != psutil.STATUS_ZOMBIE:
                left.append(process.name())
    return left


def _extended(app: App, folder: Path, extra: Sequence[ProgramSpec]) -> App:
    """The app with a first program whose main loop can be blocked, and with further programs."""
    first, *others = app.programs
    module = folder / "block.c"
    own = first.preload.read_text() if first.preload else ""
    module.write_text(own + _BLOCK.read_text())
    blockable = ProgramSpec(first.name, first.argv, first.env, module, first.register_s)
    kind = type(app)
    extended: App = type(kind.__name__, (kind,), {"programs": (blockable, *others, *extra)})()
    return extended
