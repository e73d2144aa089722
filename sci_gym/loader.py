"""The composition root: from the options of `gym.make` to an environment with its machine."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import DtypeObservation, RescaleObservation

import sci_gym.envs
from sci_gym.app import App
from sci_gym.cluster import Cluster, ClusterEnv
from sci_gym.composition import Composition
from sci_gym.coordinator import Coordinator
from sci_gym.env import EnvOptions, SciEnv, TaskDraw
from sci_gym.errors import ConfigurationError, UnknownNameError
from sci_gym.installation import BroughtApp
from sci_gym.machines import Machine, MachineSpec, load_machine
from sci_gym.scienceboard import PREFIX, Adapter, Player, extended, survey
from sci_gym.specs import TaskSpec
from sci_gym.stage import Timing
from sci_gym.tasks import Template, load_template, load_templates
from sci_gym.vector import Curriculum, MakeEnv, SciVectorEnv
from sci_gym.wrappers import MarkActions, ScreenshotOnly

_DTYPES, _ZERO, _ONE = ("uint8", "float32"), np.float32(0), np.float32(1)
_MIN_SIDE_PX, _MAX_SIDE_PX = 320, 4096
Draw = Callable[[np.random.Generator], TaskSpec]
Choice = str | Path | Sequence[str] | Callable[[Template], bool] | None
Selector = Choice | TaskSpec


def app_names() -> list[str]:
    """The names of all apps: the folders under `envs/`."""
    return sorted(module.name for module in pkgutil.iter_modules(sci_gym.envs.__path__) if module.ispkg)


def load_app(name: str, installation: str | Path | None = None) -> App:
    """The app of a folder under `envs/`.

    Args:
        name: of the folder.
        installation: where the program is that the user brings, see `Installation.find`.

    Raises:
        UnknownNameError: there is no such folder.
        ConfigurationError: the user brings no program for this app.
    """
    if name not in app_names():
        raise UnknownNameError("app", name, app_names())
    app: App = importlib.import_module(f"sci_gym.envs.{name}.app").APP
    if isinstance(app, Composition):
        app = app.of([load_app(member) for member in app.members])
    return _placed(app, installation)


def _placed(app: App, installation: str | Path | None) -> App:
    if isinstance(app, BroughtApp):
        return app.at(installation)
    if installation is not None:
        raise ConfigurationError(f"installation: {app.title} has no program that a user brings; leave it out")
    return app


def load_adapter(app: App) -> Adapter | None:
    """How an app plays ScienceBoard's tasks: ADAPTER of `scienceboard.py` in its folder, None without one."""
    package = type(app).__module__.rpartition(".")[0]
    name = f"{package}.scienceboard"
    if not package or importlib.util.find_spec(name) is None:
        return None
    adapter: Adapter | None = getattr(importlib.import_module(name), "ADAPTER", None)
    return adapter


def players() -> dict[str, Player]:
    """The apps that play ScienceBoard's tasks, by the program as ScienceBoard names it."""
    adapted = [(app, load_adapter(app)) for app in map(load_app, app_names())]
    return {adapter.program: Player.of(app, adapter) for app, adapter in adapted if adapter is not None}


def select_tasks(app: App, task: Selector) -> TaskDraw:
    """A draw of a task from what `task` selects.

    Args:
        app: whose templates to choose from.
        task: None for all templates, an id, a template file, several ids, a predicate of templates, or a
            task itself; or "scienceboard:PATH", a task file of ScienceBoard or a folder of them. What is not
            named is left out where it needs a program that nobody brought, see `App.lacking`.

    Raises:
        UnknownNameError: no such template.
        TaskFileError: the file is wrong.
        ConfigurationError: nothing is selected.
    """
    drawn = _draw_published(app, str(task)) if _is_published(task) else _draw_template(app, task)

    def draw(rng: np.random.Generator, instead: Selector = None) -> TaskSpec:
        return drawn(rng) if instead is None else select_tasks(app, instead)(rng)

    return draw


def _draw_template(app: App, task: Selector) -> Draw:
    if isinstance(task, TaskSpec):
        return lambda rng: task
    templates = _choose(app, task)
    return lambda rng: templates[int(rng.integers(len(templates)))].instantiate(rng)


def _is_published(task: Selector) -> bool:
    return isinstance(task, str) and task.startswith(PREFIX)


def _draw_published(app: App, task: str) -> Draw:
    tasks = _published_tasks(app, task)
    return lambda rng: tasks[int(rng.integers(len(tasks)))]


def _published_tasks(app: App, task: str) -> list[TaskSpec]:
    """Those of ScienceBoard's files that the app plays.

    Raises:
        ConfigurationError: it plays none of them; the message says why not.
    """
    adapter = load_adapter(app)
    if adapter is None:
        raise ConfigurationError(f"task: {app.title} plays none of ScienceBoard's tasks")
    path = Path(task.removeprefix(PREFIX)).expanduser()
    own = {adapter.program: Player.of(app, adapter)}
    entries = list(survey(path, own, beside={**players(), **own}))
    tasks = [entry.task for entry in entries if entry.task is not None]
    if not tasks:
        told = ([entry for entry in entries if entry.program in ("", adapter.program)] or entries)[0]
        raise ConfigurationError(f"task: {told.path}: {told.wrong or told.cannot}")
    return tasks


def _playing(app: App, task: Selector, interface: str) -> App:
    """The app as the tasks need it, with the programs that ScienceBoard's launch beside it."""
    offered, adapter = app.offering(interface), load_adapter(app) if _is_published(task) else None
    if adapter is None:
        return offered
    named = {name for each in _published_tasks(app, str(task)) for name in each.apps} - {app.name}
    others = [load_app(name) for name in app_names() if name in named]
    beside = [(one.offering(interface), load_adapter(one)) for one in others]
    return Composition.around(
        extended(offered, adapter), [extended(one, its) for one, its in beside if its is not None]
    )


def make(
    *,
    app: str | App,
    task: Selector = None,
    machine: str | Machine = "auto",
    machine_options: Mapping[str, Any] | None = None,
    observation: str | None = None,
    reward: str = "graph",
    interface: str | None = None,
    resolution: tuple[int, int] = (1920, 1080),
    render_mode: str | None = None,
    installation: str | Path | None = None,
    spares: int = 0,
    timing: Timing | None = None,
) -> SciEnv:
    """What `gym.make("SciBoard-...-v0", ...)` calls.

    Args:
        app: name of the app, which the id gives; or an `App` of your own.
        task: see `select_tasks`.
        machine: "auto", a name of `machine_names`, or a `Machine`, whose screen must have `resolution`.
        machine_options: what the constructor of the named machine takes beside its size.
        observation: "screenshot", "a11y", "screenshot+a11y", "som" or "text"; None: "screenshot+a11y", or
            "text" where the app shows nothing.
        reward: "sparse" or "graph".
        interface: "gui", "cli" or "hybrid"; None: "gui", or "cli" where the app shows nothing.
        resolution: (width, height) of the screen, in pixels.
        render_mode: None, "rgb_array", "ansi" or "human".
        installation: root or executable of a program that you bring, see `sci_gym.installation`; without it,
            what is named by its environment variable or found.
        spares: how many desktops to keep ready for coming resets; each is made in the background, used by
            one episode, and not made when memory is short.
        timing: deadlines, see `Timing`.

    Raises:
        UnknownNameError: an option has no such value.
        ConfigurationError: options that cannot go together.
    """
    loaded = _placed(app, installation) if isinstance(app, App) else load_app(app, installation)
    width, height = _check_resolution(resolution)
    works = interface or ("gui" if loaded.screen else "cli")
    playing = _playing(loaded, task, works)
    looks = observation or ("screenshot+a11y" if playing.screen else "text")
    if not playing.screen and (looks != "text" or works == "gui"):
        raise ConfigurationError(
            f"{loaded.title} shows nothing with interface={works!r}; use observation='text' and code"
        )
    options = EnvOptions(looks, reward, works, width, height, render_mode)
    maker = _machine_maker(machine, machine_options or {}, MachineSpec(width=width, height=height), spares)
    draw = select_tasks(loaded, task)
    coordinator = Coordinator(maker, playing, timing, spares=spares)
    return SciEnv(playing, draw, coordinator, options)


def make_marks(
    *,
    max_marks: int = 64,
    texts: Sequence[str] = (),
    keys: Sequence[str] = (),
    stops: Sequence[str] = ("DONE",),
    size: tuple[int, int] = (84, 84),
    dtype: str = "uint8",
    observation: str = "screenshot",
    **options: Any,
) -> gym.Env[Any, Any]:
    """What `gym.make("SciBoard-...-Marks-v0", ...)` calls: actions are numbers, observations are images.

    Args:
        max_marks: see `MarkActions`.
        texts: see `MarkActions`.
        keys: see `MarkActions`.
        stops: see `MarkActions`.
        size: width and height of the image, `[H, W, 3]`, see `ScreenshotOnly`.
        dtype: "uint8", from 0 to 255; or "float32", from 0 to 1, as RLlib's networks take it.
        observation: one with a screenshot, see `make`.
        options: see `make`.

    Raises:
        UnknownNameError: an option has no such value.
    """
    if dtype not in _DTYPES:
        raise UnknownNameError("dtype", dtype, _DTYPES)
    env = make(observation=observation, **options)
    seen = ScreenshotOnly(MarkActions(env, max_marks, texts, keys, stops), size)
    return seen if dtype == "uint8" else RescaleObservation(DtypeObservation(seen, np.float32), _ZERO, _ONE)


def make_vector(
    num_envs: int = 1,
    *,
    tasks: Sequence[Selector] | None = None,
    curriculum: Curriculum | None = None,
    autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    copy: bool = True,
    wrap: Callable[[SciEnv], gym.Env[Any, Any]] | None = None,
    cluster: Cluster | None = None,
    **options: Any,
) -> SciVectorEnv:
    """What `gym.make_vec("SciBoard-...-v0", num_envs=...)` calls.

    Args:
        num_envs: how many desktops.
        tasks: the `task` of each slot, where they differ.
        curriculum: see `SciVectorEnv`.
        autoreset_mode: see `SciVectorEnv`.
        copy: see `SciVectorEnv`.
        wrap: puts a wrapper around each environment, such as `partial(Recorder, folder="runs/data")`.
        cluster: where the desktops run, in the place of this machine. Environments and wrappers are made
            there, so that paths are the nodes'; tasks are drawn there, what `curriculum` returns is sent.
        options: of each environment, see `make`.

    Raises:
        ConfigurationError: `tasks` has not one for each slot, or an option cannot be had on a cluster.
        MissingDependencyError: a cluster is asked for, and Ray is not installed.
    """
    if tasks is not None and ("task" in options or len(tasks) != num_envs):
        raise ConfigurationError(
            f"tasks: must be {num_envs}, one a slot, in the place of task; not {len(tasks)}"
        )
    each = [{**options, "task": task} for task in tasks] if tasks is not None else [options] * num_envs
    make_envs: list[MakeEnv] = [partial(_make_wrapped, wrap, one) for one in each]
    if cluster is not None:
        _check_for_cluster(options)
        make_envs = [partial(ClusterEnv, make_env, cluster) for make_env in make_envs]
    return SciVectorEnv(make_envs, autoreset_mode=autoreset_mode, curriculum=curriculum, copy=copy)


def _check_for_cluster(options: Mapping[str, Any]) -> None:
    if isinstance(options.get("machine"), Machine):
        raise ConfigurationError(
            "machine: one that is made here cannot go to a cluster; name its kind, such as 'sandbox'"
        )
    if options.get("render_mode") == "human":
        raise ConfigurationError(
            "render_mode: 'human' would show pages on the cluster's nodes; use 'rgb_array'"
        )


def _make_wrapped(
    wrap: Callable[[SciEnv], gym.Env[Any, Any]] | None, options: Mapping[str, Any]
) -> gym.Env[Any, Any]:
    env = make(**options)
    return env if wrap is None else wrap(env)


def _choose(app: App, task: Choice) -> list[Template]:
    chosen = _find(app, task)
    if not chosen:
        raise ConfigurationError(f"task: selects none of {app.title}'s tasks")
    return chosen


def _find(app: App, task: Choice) -> list[Template]:
    if isinstance(task, Path) or (isinstance(task, str) and task.endswith(".toml")):
        return [load_template(Path(task), app)]
    known = load_templates(app)
    if task is None or callable(task):
        return [one for one in known.values() if (task is None or task(one)) and not lacking(app, one)]
    names = [task] if isinstance(task, str) else list(task)
    for name in names:
        if name not in known:
            raise UnknownNameError(f"task of {app.title}", name, known)
    return [known[name] for name in names]


def lacking(app: App, template: Template) -> str:
    """How to get what a template's tasks need and nobody brought, beside what all of the app's need."""
    if not any(part.to_bring for part in app.parts):
        return ""
    return app.lacking(template.instantiate(np.random.default_rng(0)))


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


def _machine_maker(
    machine: str | Machine, options: Mapping[str, Any], spec: MachineSpec, spares: int
) -> Callable[[], Machine]:
    if spares < 0:
        raise ConfigurationError(f"spares: must be 0 or more, not {spares}")
    if isinstance(machine, Machine):
        _check_single(spares, "one given machine")
        _check_given(machine, options, spec)
        return lambda: machine
    kind = load_machine(machine)
    if kind.single:
        _check_single(spares, kind.title)
    return _named_maker(kind, options, spec)


def _check_single(spares: int, what: str) -> None:
    if spares:
        raise ConfigurationError(
            f"spares: {what} cannot be multiplied; use machine='sandbox', or leave spares={spares} out"
        )


def _check_given(machine: Machine, options: Mapping[str, Any], spec: MachineSpec) -> None:
    if options:
        raise ConfigurationError("machine_options: are for a named machine; this one is made already")
    if (machine.spec.width, machine.spec.height) != (spec.width, spec.height):
        size = f"{machine.spec.width}x{machine.spec.height}"
        raise ConfigurationError(f"machine: its screen is {size}, resolution is {spec.width}x{spec.height}")


def _named_maker(kind: type[Machine], options: Mapping[str, Any], spec: MachineSpec) -> Callable[[], Machine]:
    try:
        inspect.signature(kind).bind(spec, **options)
    except TypeError as error:
        known = ", ".join(list(inspect.signature(kind).parameters)[1:]) or "none"
        raise ConfigurationError(f"machine_options: {error}; {kind.title} takes: {known}") from error
    make = partial(kind, spec, **options)
    make()  # nothing starts, and what cannot be is told now
    return make
