"""What is done to a desktop, and which part each fault must be told as."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sci_gym.app import ProgramSpec
from sci_gym.chaos.stage import RESET_S, WAIT_S, BrokenPromiseError, Stage, step_deadline_s, wait_until
from sci_gym.machines.libvirt import LibvirtMachine
from sci_gym.specs import Action

PROGRAM = "program"
VIRTUAL = "virtual machine"
PARTS = (
    PROGRAM, "display", "session bus", "accessibility bus", "accessibility registry", "window manager",
    "daemon", "sandbox", VIRTUAL,
)  # fmt: skip
SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}
_PYTHON = "/usr/bin/python3"
_FLOOD = Path(__file__).with_name("flood.py")
_EAT = """
import os, time
while not os.path.exists(".sci-gym-eat"): time.sleep(0.05)
keep = []
while True: keep.append(b"x" * (8 << 20)); time.sleep(0.01)
"""
_EXTRA = {
    "eater": ProgramSpec("eater", (_PYTHON, "-c", _EAT), register_s=0),
    "flood": ProgramSpec("flood", (_PYTHON, "-c", _FLOOD.read_text()), register_s=0),
}
_BLOCK = "touch ~/.sci-gym-block"
_EAT_NOW = "touch ~/.sci-gym-eat"
_FILL = "for at in ~ /tmp /dev/shm; do cat /dev/zero > $at/fill; done"
_GROW = "keep = []\nwhile True: keep.append(b'x' * (8 << 20))"
_MANY = """
import os, time
for _ in range(40):
    if not os.fork():
        keep = b"x" * (60 << 20)
        time.sleep(3)
        os._exit(0)
while True: os.wait()
"""
_NO_DEVICES = b"these are no devices"
_WATCHED = 3
_TYPED = "97"

Faults = dict[str, str]
"""What was told: part to message."""


@dataclass(frozen=True)
class Case:
    """One thing that is done to a desktop.

    Attributes:
        name: what is done, and when.
        blames: the parts of which one must be told; "program" is the app's first, "" stands for none.
        deadline_s: until when it must be over.
        do: does it, and returns the faults that were told.
        extra: a program that runs beside the app's own.
        needs: parts whose processes this host must see.
    """

    name: str
    blames: tuple[str, ...]
    deadline_s: float
    do: Callable[[Stage], Faults]
    extra: ProgramSpec | None = None
    needs: tuple[str, ...] = ()


def all_cases() -> list[Case]:
    """Every case, those of one set of programs together."""
    wait_s = step_deadline_s(Action.wait(WAIT_S))
    code_s = step_deadline_s(Action.code(""))
    return [
        *(_broken_in_step(part, verb, wait_s) for part in PARTS for verb in SIGNALS),
        *(_broken_in_reset(part, verb) for part in PARTS for verb in SIGNALS),
        Case(
            "crash program in a step",
            (PROGRAM,),
            wait_s,
            partial(_in_step, PROGRAM, signal.SIGSEGV),
            needs=(PROGRAM,),
        ),
        Case("damage the saved machine", (VIRTUAL,), RESET_S, _damage_saved, needs=(VIRTUAL,)),
        Case("block the program's main loop", (PROGRAM,), 2 * code_s, _until_told(_BLOCK, Action.type("1"))),
        Case("lose a step's reply", ("",), wait_s, _lose_reply, needs=(PROGRAM,)),
        Case("fill the disk", ("",), code_s, _code(_FILL)),
        Case("use up memory by code", ("",), code_s, _code(_GROW, "python")),
        Case("use up memory by many processes", ("",), code_s, _code(_MANY, "python")),
        Case("open a modal dialog", ("",), 3 * wait_s, _open_dialog),
        Case("the policy quits the program", ("",), 4 * wait_s, _close(Action.hotkey("ctrl", "q"))),
        Case("the policy closes the window", ("",), 4 * wait_s, _close(Action.hotkey("alt", "f4"))),
        Case("the policy kills all it can", ("",), code_s, _code("kill -9 -1")),
        Case(
            "use up memory by a program",
            ("eater",),
            3 * code_s,
            _until_told(_EAT_NOW, Action.wait(WAIT_S)),
            _EXTRA["eater"],
        ),
        Case("flood the screen with changes", ("",), 3 * wait_s, _work_under_flood, _EXTRA["flood"]),
    ]


def _broken_in_step(part: str, verb: str, deadline_s: float) -> Case:
    do = partial(_in_step, part, SIGNALS[verb])
    return Case(f"{verb} {part} in a step", _blamed(part, verb), deadline_s, do, needs=(part,))


def _broken_in_reset(part: str, verb: str) -> Case:
    # A program that dies or stops while it starts is launched again, which need not be told.
    blames = (*_blamed(part, verb), "") if part == PROGRAM else _blamed(part, verb)
    do = partial(_in_reset, part, SIGNALS[verb])
    return Case(f"{verb} {part} in a reset", blames, RESET_S, do, needs=(part,))


def _blamed(part: str, verb: str) -> tuple[str, ...]:
    """The sandbox's first process only waits for the others: stopping it hinders nobody."""
    return ("",) if (part, verb) == ("sandbox", "stop") else (part,)


def _told(info: dict[str, Any]) -> Faults:
    if "infra_error" not in info:
        return {}
    if not info["truncated"]:
        raise BrokenPromiseError("a step with infra_error is not truncated")
    return {info["infra_error"]["part"]: info["infra_error"]["message"]}


def _send(stage: Stage, part: str, number: int) -> None:
    for pid in stage.pids(part):
        os.kill(pid, number)


def _in_step(part: str, number: int, stage: Stage) -> Faults:
    return _told(stage.step(Action.wait(WAIT_S), lambda: _send(stage, part, number)))


def _in_reset(part: str, number: int, stage: Stage) -> Faults:
    """Break a part while the program starts; the reset must be tried again until it succeeds."""
    watched = part if part == VIRTUAL else PROGRAM
    old = set(stage.pids(watched))

    def send() -> None:
        future = stage.begin(stage.reset)
        wait_until(lambda: future.done() or set(stage.pids(watched)) - old, RESET_S)
        if not future.done():
            _send(stage, part, number)
        stage.end(future, RESET_S * stage.slowness)

    return _told_by_resets(stage, send)


def _damage_saved(stage: Stage) -> Faults:
    """Change what the coming machines would be cloned from."""
    machine = stage.machine.inner
    assert isinstance(machine, LibvirtMachine)  # no other needs VIRTUAL
    assert machine.saved is not None  # it runs
    with (machine.saved.folder / "devices").open("r+b") as devices:
        devices.write(_NO_DEVICES)
    return _told_by_resets(stage, stage.reset)


def _told_by_resets(stage: Stage, reset: Callable[[], None]) -> Faults:
    """The parts that were told before a reset succeeded."""
    before = stage.env.stats()["faults"]
    reset()
    after = stage.env.stats()["faults"]
    told = [part for part in after if after[part] > before.get(part, 0)]
    return dict.fromkeys(told, "the reset was tried again")


def _code(text: str, language: str = "shell") -> Callable[[Stage], Faults]:
    """Run code; if no fault is told, the desktop must still work."""

    def run(stage: Stage) -> Faults:
        told = _told(stage.step(Action.code(text, language)))
        if not told:
            stage.check()
        return told

    return run


def _close(action: Action) -> Callable[[Stage], Faults]:
    def close(stage: Stage) -> Faults:
        told = _told(stage.step(action))
        for _ in range(_WATCHED):  # a slow program may take longer than the screen is quiet
            if not told and any(one.running for one in stage.env.last.programs):
                told = _told(stage.step(Action.wait(WAIT_S)))
        if not told and any(one.running for one in stage.env.last.programs):
            raise BrokenPromiseError("the program still runs")
        return told

    return close


def _lose_reply(stage: Stage) -> Faults:
    """The program is stopped meanwhile, so that the step cannot have ended before the connection is cut."""
    field = stage.editable()
    if field is not None and field.box is not None:
        stage.step(Action.click(*field.box.center))

    def cut() -> None:
        stage.tap.drop()
        _send(stage, PROGRAM, signal.SIGCONT)

    _send(stage, PROGRAM, signal.SIGSTOP)
    told = _told(stage.step(Action.type(_TYPED), cut))
    if told:
        return told
    info = stage.step(Action.wait(WAIT_S))  # the program begins to run again just before the step ends
    typed = {node.text.count(_TYPED) for node in info["nodes"]}
    if field is not None and max(typed) != 1:
        raise BrokenPromiseError(f"the text was typed {max(typed)} times")
    return _told(info)


def _open_dialog(stage: Stage) -> Faults:
    before = len(stage.env.last.windows)
    for key in ("s", "o"):
        told = _told(stage.step(Action.hotkey("ctrl", key)))
        if told or len(stage.env.last.windows) > before:
            return told or _told(stage.step(Action.press("esc")))
    raise BrokenPromiseError("neither Ctrl+S nor Ctrl+O opens a dialog")


def _until_told(text: str, then: Action) -> Callable[[Stage], Faults]:
    """Run code that sets something off, and act until a fault is told."""

    def run(stage: Stage) -> Faults:
        told = _told(stage.step(Action.code(text)))
        for _ in range(_WATCHED):
            told = told or _told(stage.step(then))
        return told

    return run


def _work_under_flood(stage: Stage) -> Faults:
    told = _told(stage.step(Action.wait(1)))
    if not told:
        stage.check()
    return told
