"""The command line's `sci-gym tasks list | show | new | check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from sci_gym.app import App
from sci_gym.console import AppName, Json, app_of, chosen_apps, make_progress, out, print_json
from sci_gym.loader import load_app, select_tasks
from sci_gym.tasks import load_templates
from sci_gym.tasks.checking import Finding, check_file
from sci_gym.tasks.interface import INTERFACES
from sci_gym.tasks.scaffold import write_scaffold
from sci_gym.tasks.summary import DIFFICULTIES, Summary, overview

tasks_app = typer.Typer(no_args_is_help=True, help="The shipped tasks, and tools to write more.")


@tasks_app.command("list")
def tasks_list(app_name: AppName = None, as_json: Json = False) -> None:
    """List the tasks of an app, or of all, and count them."""
    found = {
        one: [Summary.of(each) for each in load_templates(one).values()] for one in chosen_apps(app_name)
    }
    apps = [{"app": one.name, "env_id": one.env_id, **overview(some)} for one, some in found.items()]
    if as_json:
        rows = [{"env_id": one.env_id, **each.as_dict()} for one, some in found.items() for each in some]
        print_json({"apps": apps, "tasks": rows})
        return
    for one, some in found.items():
        out.print(_list_table(one, some))
    out.print(_apps_table(apps))


@tasks_app.command("show")
def tasks_show(
    task: Annotated[str, typer.Argument(help="Id of a task.")],
    app_name: Annotated[str, typer.Option("--app")] = "kalgebra",
    seed: Annotated[int, typer.Option(help="Draws the parameters.")] = 0,
    as_json: Json = False,
) -> None:
    """Show one task as a seed fills it in: instruction, graph, set-up."""
    spec = select_tasks(load_app(app_name), task)(np.random.default_rng(seed))
    graph = [{"id": node.id, "goal": node.goal, "after": list(node.after)} for node in spec.graph.nodes]
    shown = {
        "id": spec.id,
        "difficulty": spec.difficulty,
        "instruction": spec.instruction,
        "parameters": dict(spec.parameters),
        "setup": [{"verb": verb.name, **verb.arguments} for verb in spec.setup],
        "graph": graph,
        "max_steps": spec.max_steps,
        "oracle_steps": len(spec.oracle),
    }
    if as_json:
        print_json(shown)
        return
    out.print(f"[bold]{spec.id}[/] ({spec.difficulty}, at most {spec.max_steps} steps)\n{spec.instruction}\n")
    for node in graph:
        after = f" after {', '.join(node['after'])}" if node["after"] else ""
        out.print(f"  [cyan]{node['id']}[/]{after}: {node['goal']}", highlight=False)


@tasks_app.command("new")
def tasks_new(
    app_name: Annotated[str, typer.Argument(metavar="APP", help="Name of an app.")],
    name: Annotated[str, typer.Argument(help="The new task's id: lower case words with hyphens.")],
    into: Annotated[
        Path | None, typer.Option(help="Where to write it; the app's own tasks by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a task to start from, with comments; it is right as it is, and says what to fill in."""
    one = load_app(app_name)
    path = write_scaffold(one, name, into or one.folder / "tasks")
    finding = check_file(path, one, range(1))
    if as_json:
        print_json(finding.as_dict())
        return
    out.print(f"wrote [bold]{escape(str(path))}[/]; fill in:", soft_wrap=True)
    _print_marks(finding)


@tasks_app.command("check")
def tasks_check(
    files: Annotated[list[Path] | None, typer.Argument(help="Task files; all by default.")] = None,
    app_name: AppName = None,
    seeds: Annotated[int, typer.Option(help="How many seeds draw parameters to try.", min=1)] = 50,
    as_json: Json = False,
) -> None:
    """Tell all that is wrong with task files, as far as it shows without the program; exit 1 on any fault."""
    chosen = [(path, app_of(path, app_name)) for path in files or ()]
    if not files:
        chosen = [(path, one) for one in chosen_apps(app_name) for path in _task_files(one)]
    findings = []
    with make_progress() as progress:
        for path, one in progress.track(chosen, description="checking"):
            findings.append(check_file(path, one, range(seeds)))
    faults = sum(len(one.faults) for one in findings)
    if as_json:
        print_json({"faults": faults, "files": [one.as_dict() for one in findings]})
    else:
        for finding in findings:
            for fault in finding.faults:
                out.print(f"[red]{escape(str(fault))}", highlight=False, soft_wrap=True)
            _print_marks(finding)
        out.print(f"{len(findings)} checked, {faults} faults")
    raise typer.Exit(1 if faults else 0)


def _task_files(app: App) -> list[Path]:
    return sorted((app.folder / "tasks").glob("*.toml"))


def _print_marks(finding: Finding) -> None:
    for line, what in finding.fill_in:
        text = f"{finding.file}:{line}: fill in: {what}"
        out.print(f"[yellow]{escape(text)}", highlight=False, soft_wrap=True)


def _list_table(app: App, summaries: list[Summary]) -> Table:
    table = Table(title=f"{app.env_id}: {len(summaries)} tasks")
    table.add_column("task", no_wrap=True)
    for column in ("kind", "difficulty", "interface", "subtasks", "depth", "instances"):
        table.add_column(column)
    for one in summaries:
        figures = (str(one.subtasks), str(one.depth), f"{one.instances:,}")
        table.add_row(one.id, one.kind, one.difficulty, one.interface, *figures)
    return table


def _apps_table(apps: list[dict[str, Any]]) -> Table:
    table = Table("", *(row["env_id"] for row in apps), title="all together")
    table.add_row("tasks", *(str(row["tasks"]) for row in apps))
    for what, names in (("difficulty", DIFFICULTIES), ("interface", INTERFACES)):
        for name in names:
            table.add_row(f"{what}: {name}", *(str(row[what].get(name, 0)) for row in apps))
    for what in ("subtasks", "depth"):
        table.add_row(f"{what}: median (min to max)", *(_spread(row[what]) for row in apps))
    table.add_row("instances", *(f"{row['instances']:,}" for row in apps))
    return table


def _spread(sizes: dict[str, float]) -> str:
    return f"{sizes['median']:g} ({sizes['min']:g} to {sizes['max']:g})" if sizes else ""
