"""The composition root: from the options of `gym.make` to an environment with its machine."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import sci_gym.envs
from sci_gym.app import App
from sci_gym.coordinator import Coordinator
from sci_gym.env import EnvOptions, SciEnv, TaskDraw
from sci_gym.errors import ConfigurationError, UnknownNameError
from sci_gym.machines import LibvirtMachine, Machine, MachineSpec, SandboxMachine
from sci_gym.specs import TaskSpec
from sci_gym.stage import Timing
from sci_gym.tasks import Template, load_template, load_templates

MACHINES: Mapping[str, type[Machine]] = {"sandbox": SandboxMachine, "libvirt": LibvirtMachine}
_MIN_SIDE_PX, _MAX_SIDE_PX = 320, 4096
Selector = str | Path | Sequence[str] | Callable[[Template], bool] | None


def app_names() -> list[str]:
    """The names of all apps: the folders under `envs/`."""
    return sorted(module.name for module in pkgutil.iter_modules(sci_gym.envs.__path__) if module.ispkg)


def load_app(name: str) -> App:
    """The app of a folder under `envs/`.

    Raises:
        UnknownNameError: there is no such folder.
    """
    if name not in app_names():
        raise UnknownNameError("app", name, app_names())
    app: App = importlib.import_module(f"sci_gym.envs.{name}.app").APP
    return app


def select_tasks(app: App, task: Selector) -> TaskDraw:
    """A draw of a task from what `task` selects.

    Args:
        app: whose templates to choose from.
        task: None for all templates, an id, a template file, several ids, or a predicate of templates.

    Raises:
        UnknownNameError: no such template.
        TaskFileError: the file is wrong.
        ConfigurationError: nothing is selected.
    """
    chosen = _choose(app, task)
    if not chosen:
        raise ConfigurationError(f"task: selects none of {app.title}'s tasks")

    def draw(rng: np.random.Generator) -> TaskSpec:
        return chosen[int(rng.integers(len(chosen)))].instantiate(rng)

    return draw


def make(
    *,
    app: str | App,
    task: Selector = None,
    machine: str | Machine = "auto",
    observation: str = "screenshot+a11y",
    reward: str = "graph",
    interface: str = "gui",
    resolution: tuple[int, int] = (1920, 1080),
    render_mode: str | None = None,
    spares: int = 0,
    timing: Timing | None = None,
) -> SciEnv:
    """What `gym.make("SciBoard-...-v0", ...)` calls.

    Args:
        app: name of the app, which the id gives; or an `App` of your own.
        task: see `select_tasks`.
        machine: "auto", which is the sandbox; "sandbox"; "libvirt"; or a `Machine`, whose screen must have
            `resolution`.
        observation: "screenshot", "a11y", "screenshot+a11y" or "som".
        reward: "sparse" or "graph".
        interface: "gui", "cli" or "hybrid".
        resolution: (width, height) of the screen, in pixels.
        render_mode: None, "rgb_array" or "human".
        spares: how many desktops to keep ready for coming resets; each is made in the background, used by
            one episode, and not made when memory is short.
        timing: deadlines, see `Timing`.

    Raises:
        UnknownNameError: an option has no such value.
        ConfigurationError: options that cannot go together.
    """
    loaded = app if isinstance(app, App) else load_app(app)
    width, height = _check_resolution(resolution)
    options = EnvOptions(observation, reward, interface, width, height, render_mode)
    maker = _machine_maker(machine, width, height, spares)
    coordinator = Coordinator(maker, loaded, timing, spares=spares)
    return SciEnv(loaded, select_tasks(loaded, task), coordinator, options)


def _choose(app: App, task: Selector) -> list[Template]:
    if isinstance(task, Path) or (isinstance(task, str) and task.endswith(".toml")):
        return [load_template(Path(task), app)]
    known = load_templates(app)
    if task is None:
        return list(known.values())
    if callable(task):
        return [template for template in known.values() if task(template)]
    names = [task] if isinstance(task, str) else list(task)
    for name in names:
        if name not in known:
            raise UnknownNameError(f"task of {app.title}", name, known)
    return [known[name] for name in names]


def _check_resolution(resolution: Any) -> tuple[int, int]:
    try:
        width, height = (int(side) for side in resolution)
    except (TypeError, ValueError):
        raise ConfigurationError(
            f"resolution: must be (width, height) in pixels, not {resolution!r}"
        ) from None
    if not all(_MIN_SIDE_PX <= side <= _MAX_SIDE_PX for side in (width, height)):
        raise ConfigurationError(
            f"resolution: {width}x{height} is outside {_MIN_SIDE_PX} to {_MAX_SIDE_PX} pixels a side"
        )
    return width, height


def _machine_maker(machine: str | Machine, width: int, height: int, spares: int) -> Callable[[], Machine]:
    if spares < 0:
        raise ConfigurationError(f"spares: must be 0 or more, not {spares}")
    if isinstance(machine, Machine):
        if spares:
            raise ConfigurationError(
                f"spares: one given machine cannot be multiplied; name its kind (machine='sandbox'), or "
                f"leave spares={spares} out"
            )
        if (machine.spec.width, machine.spec.height) != (width, height):
            size = f"{machine.spec.width}x{machine.spec.height}"
            raise ConfigurationError(f"machine: its screen is {size}, resolution is {width}x{height}")
        return lambda: machine
    name = "sandbox" if machine == "auto" else machine
    if name not in MACHINES:
        raise UnknownNameError("machine", name, ["auto", *MACHINES])
    return partial(MACHINES[name], MachineSpec(width=width, height=height))
