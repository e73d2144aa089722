"""What cannot be is said clearly, and leaves no process behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest

from sci_gym.app import ProgramSpec, Requirement
from sci_gym.coordinator import Coordinator
from sci_gym.errors import (
    ActionError,
    ConfigurationError,
    LaunchError,
    MissingDependencyError,
    TaskFileError,
    UnknownNameError,
)
from sci_gym.loader import load_app, select_tasks
from sci_gym.machines import MachineSpec, SandboxMachine
from sci_gym.spaces import from_action, kinds_for, make_action_space, to_action
from sci_gym.specs import Action
from sci_gym.stage import Timing
from tests.processes import family

ENV_ID = "SciBoard-KAlgebra-v0"
SPACE = make_action_space(kinds_for("gui"), 640, 480)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "product-od"}, "Did you mean 'product-odd'"),
        ({"task": ["product-odd", "nope"]}, "'nope'"),
        ({"task": lambda template: False}, "selects none"),
        ({"observation": "pixels"}, "unknown observation 'pixels'"),
        ({"reward": "dense"}, "unknown reward 'dense'"),
        ({"interface": "voice"}, "unknown interface 'voice'"),
        ({"machine": "vm"}, "unknown machine 'vm'"),
        ({"resolution": (10, 10)}, "10x10"),
        ({"resolution": "big"}, "must be"),
        ({"render_mode": "braille"}, "braille"),
    ],
)
def test_an_option_that_is_not_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        gym.make(ENV_ID, disable_env_checker=True, **options)


def test_an_unknown_app_is_named() -> None:
    with pytest.raises(UnknownNameError, match="kalgebra"):
        load_app("kalgebr")


def test_a_malformed_task_file_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text('difficulty = "easy"\ninstruction = "x"\nmax_steps = "many"\n')
    with pytest.raises(TaskFileError, match=rf"^{path}:3: max_steps"):
        gym.make(ENV_ID, task=path, disable_env_checker=True)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (Action.click(640, 10), "outside the screen of 640x480"),
        (Action.click(-1, 10), "outside the screen"),
        (Action.type("a\0b"), r"U\+0000 at 1"),
        (Action.type("\udc80"), r"U\+DC80 at 0"),
        (Action.press("hyper"), "'hyper'"),
        (Action.hotkey("meta", "a"), "'meta'"),
        (Action.code("ls"), "CODE is not allowed"),
        (Action.wait(1e9), "seconds"),
        (Action.scroll(1, 1, 10**6), "amount"),
        ({"kind": 0}, "must be an Action or a dict"),
        ("click", "must be an Action"),
        ({**from_action(Action.click(1, 1), kinds_for("gui")), "x": 640}, "action.x"),
    ],
)
def test_an_action_outside_the_space_is_named(action: Any, message: str) -> None:
    with pytest.raises(ActionError, match=message):
        to_action(action, kinds_for("gui"), SPACE)


def test_an_action_and_its_element_are_twins() -> None:
    for action in (
        Action.click(3, 4),
        Action.hotkey("ctrl", "shift", "s"),
        Action.type("é漢\n"),
        Action.wait(2),
    ):
        element = from_action(action, kinds_for("gui"))
        assert SPACE.contains(element)
        assert to_action(element, kinds_for("gui"), SPACE) == action


def app_with(program: ProgramSpec, *requirements: Requirement) -> Any:
    kalgebra = type(load_app("kalgebra"))

    class Odd(kalgebra):  # type: ignore[misc, valid-type]
        programs: ClassVar[tuple[ProgramSpec, ...]] = (program,)
        requirements: ClassVar[tuple[Requirement, ...]] = ()

    Odd.requirements = requirements
    return Odd()


def reset(app: Any) -> None:
    task = select_tasks(load_app("kalgebra"), "product-odd")(np.random.default_rng(0))
    machine = SandboxMachine(MachineSpec(width=640, height=480))
    coordinator = Coordinator(lambda: machine, app, Timing(resets=2, launches=2))
    try:
        coordinator.reset(task)
    finally:
        coordinator.close()


def test_a_program_that_is_not_installed_is_named_with_its_package() -> None:
    program = ProgramSpec("ghost", ("/usr/bin/ghost",))
    with pytest.raises(MissingDependencyError, match=r"apt-get install .* ghost-package"):
        reset(app_with(program, Requirement("/usr/bin/ghost", "ghost-package", "haunts")))


def test_a_program_that_never_registers_is_named_and_nothing_is_left() -> None:
    with pytest.raises(LaunchError, match=r"sleeper.*did not register.*2 launches"):
        reset(app_with(ProgramSpec("sleeper", ("/usr/bin/sleep", "100"), register_s=0.5)))
    assert not [pid for pid in family(os.getpid()) if b"sleep" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_the_command_line_says_it_in_one_line() -> None:
    script = (
        "import sys; from sci_gym.cli import main; sys.argv = ['sci-gym', 'tasks', 'show', 'nope']; main()"
    )
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert result.stderr.startswith("sci-gym: unknown task of KAlgebra 'nope'")
    assert "Traceback" not in result.stderr
