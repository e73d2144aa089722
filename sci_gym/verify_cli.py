"""The command line's `sci-gym verify`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import gymnasium as gym
import typer
from rich.table import Table

from sci_gym.app import App
from sci_gym.console import (
    AppName,
    Json,
    MachineName,
    MachineOptions,
    app_of,
    chosen_apps,
    err,
    make_progress,
    out,
    print_json,
    read_options,
    result_of,
)
from sci_gym.errors import UnknownNameError
from sci_gym.loader import lacking
from sci_gym.machines import SandboxMachine, load_machine
from sci_gym.tasks import Template, load_template, load_templates
from sci_gym.verify import OTHERS, Report
from sci_gym.verify import verify as check
from sci_gym.viewer import open_in_browser
from sci_gym.watch import Wall, Watched

_VISITOR_S = 30.0
Chosen = dict[App, tuple[dict[str, Template], list[str]]]
"""For each app all of its templates by id, and the ids of those to check."""


def verify(
    app_name: AppName = None,
    task: Annotated[
        list[str] | None, typer.Option("--task", help="Only these tasks: ids, or files that end in .toml.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="How many seeds a task.", min=1)] = 2,
    jobs: Annotated[int, typer.Option(help="Desktops at a time.", min=1)] = 2,
    retries: Annotated[int, typer.Option(help="Repeat a check that misses; it is told as flaky.", min=0)] = 0,
    others: Annotated[
        int, typer.Option(help="Other tasks' oracles that must score 0 on each.", min=0)
    ] = OTHERS,
    machine: MachineName = "auto",
    machine_options: MachineOptions = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show the desktops live in the browser.")] = False,
    pace: Annotated[float, typer.Option(help="With --watch: seconds that each step stays.", min=0)] = 0.5,
    as_json: Json = False,
) -> None:
    """Hold every task to its promise on the real program; exit 1 on any miss.

    Left out are apps and tasks whose program you would have to bring and have not.
    """
    chosen = _choose(app_name, task)
    left_out = _leave_out(chosen)
    for what, advice in left_out.items():
        err.print(f"{what} is left out: what it needs is not installed here. {advice}", highlight=False)
    where = {"machine": machine, "machine_options": read_options(machine_options)}
    reports: list[Report] = []
    with _wall(jobs, pace) if watch else nullcontext() as wall, make_progress() as progress:
        for one, (templates, names) in chosen.items():
            bar = progress.add_task(one.title, total=len(names) * seeds)
            # One desktop is played while the next one comes up; more would slow each other down.
            options = {**where, "spares": int(jobs == 1 and load_machine(machine) is SandboxMachine)}
            make = partial(_make_env, one, templates, options, wall)
            for report in check(make, templates, names, range(seeds), jobs, retries, others):
                reports.append(report)
                progress.console.print(
                    f"{report.task} seed {report.seed}: {result_of(report)}", highlight=False
                )
                progress.advance(bar)
    reports.sort(key=lambda report: (report.task, report.seed))
    _tell(reports, list(left_out), as_json)


def _leave_out(chosen: Chosen) -> dict[str, str]:
    """Take away what cannot be played here: titles of apps and ids of tasks, with what to do about each."""
    left_out = {}
    for one, (templates, names) in list(chosen.items()):
        if one.to_bring:
            left_out[one.title] = one.to_bring
            del chosen[one]
            continue
        absent = {name: advice for name in names if (advice := lacking(one, templates[name]))}
        left_out |= absent
        names[:] = [name for name in names if name not in absent]
    return left_out


def _choose(app_name: str | None, tasks: list[str] | None) -> Chosen:
    found: Chosen = {one: (load_templates(one), []) for one in chosen_apps(app_name)}
    for path in (Path(task) for task in tasks or () if task.endswith(".toml")):
        owner = app_of(path, app_name)
        template = load_template(path, owner)
        templates, names = found[owner]
        templates[template.id] = template
        names.append(template.id)
    known = {name for templates, _ in found.values() for name in templates}
    wanted = [task for task in tasks or known if not task.endswith(".toml")]
    for name in wanted:
        if name not in known:
            raise UnknownNameError("task", name, known)
    for templates, names in found.values():
        names += sorted({name for name in wanted if name in templates} - set(names))
    return {one: (templates, names) for one, (templates, names) in found.items() if names}


def _make_env(
    one: App, templates: Mapping[str, Template], options: Mapping[str, Any], wall: Wall | None, task: str
) -> gym.Env[Any, Any]:
    path = templates[task].path
    env = gym.make(one.env_id, task=path, interface="hybrid", disable_env_checker=True, **options)
    return Watched(env, wall) if wall else env


@contextmanager
def _wall(jobs: int, pace_s: float) -> Iterator[Wall]:
    """A page to watch, once somebody does or a while has passed."""
    wall = Wall("sci-gym verify", jobs, pace_s)
    try:
        open_in_browser(wall.url)
        err.print(f"Open [bold]{wall.url}[/] in a browser on this machine.", soft_wrap=True)
        wall.gallery.wait_for_visitor(_VISITOR_S)
        yield wall
    finally:
        wall.close()


def _tell(reports: list[Report], left_out: list[str], as_json: bool) -> None:
    misses = sum(len(report.misses) for report in reports)
    if as_json:
        told = [report.as_dict() for report in reports]
        print_json({"misses": misses, "left_out": left_out, "reports": told})
    else:
        table = Table("task", "seed", "difficulty", "steps", "seconds", "result", title="sci-gym verify")
        for report in reports:
            numbers = (str(report.steps), f"{report.seconds:.1f}")
            table.add_row(report.task, str(report.seed), report.difficulty, *numbers, result_of(report))
        out.print(table)
        out.print(f"{len(reports)} checked, {misses} misses")
    raise typer.Exit(1 if misses or not reports else 0)
