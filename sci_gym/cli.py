"""The command line: `sci-gym doctor | demo | tasks | image | verify | play | soak | chaos | bench`.

Every command takes `--json`: one object on standard output and nothing else there; progress goes to
standard error. The exit status is 0 when all is well, 1 on a miss, 2 on a wrong call, 130 after Ctrl-C.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import gymnasium as gym
import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

import sci_gym
from sci_gym import doctor as examination
from sci_gym.app import App
from sci_gym.bounds import clean
from sci_gym.errors import ConfigurationError, MissingDependencyError, SciGymError, install_command
from sci_gym.image_cli import image_app
from sci_gym.loader import app_names, load_app
from sci_gym.tasks import Template, load_templates

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Real science programs as Gymnasium environments."
)
tasks_app = typer.Typer(no_args_is_help=True, help="The shipped tasks.")
app.add_typer(tasks_app, name="tasks")
app.add_typer(image_app, name="image")

Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
MachineName = Annotated[str, typer.Option("--machine", help="auto, sandbox, libvirt or remote.")]
MachineOptions = Annotated[
    list[str] | None, typer.Option("--machine-option", help="NAME=VALUE of the machine's, as network=true.")
]
AppName = Annotated[str | None, typer.Option("--app", help="Name of an app; all by default.")]
_INTERRUPTED = 130
_TELL_RESETS = 50
out = Console()
err = Console(stderr=True)


@app.command()
def doctor(
    as_json: Json = False,
    trial: Annotated[bool, typer.Option(help="Start each machine once, and play a few steps.")] = True,
) -> None:
    """Tell what is installed, what each app and machine needs, and the command that gets it."""
    findings = examination.examine(trial)
    missing = examination.missing_packages()
    healthy = all(one.ok for one in findings if one.needed)
    fix = install_command(missing) if missing else ""
    if as_json:
        _print_json({"healthy": healthy, "install": fix, "findings": [one.as_dict() for one in findings]})
    else:
        table = Table("", "of", "what", "found", "get it with", title="sci-gym doctor")
        for one in findings:
            mark = "[green]ok" if one.ok else ("[red]missing" if one.needed else "[yellow]optional")
            table.add_row(mark, *(escape(cell) for cell in (one.subject, one.what, one.detail, one.fix)))
        out.print(table)
        if fix:
            out.print(f"To get all that is missing:\n  [bold]{fix}")
    raise typer.Exit(0 if healthy else 1)


@tasks_app.command("list")
def tasks_list(app_name: AppName = None, as_json: Json = False) -> None:
    """List the tasks of an app, or of all."""
    rows = [_summary(one, template) for one in _apps(app_name) for template in load_templates(one).values()]
    if as_json:
        _print_json({"tasks": rows})
        return
    table = Table(
        "environment", "task", "kind", "difficulty", "subtasks", "parameters", title=f"{len(rows)} tasks"
    )
    for row in rows:
        cells = (row["env_id"], row["id"], row["kind"], row["difficulty"], str(row["subtasks"]))
        table.add_row(*cells, ", ".join(row["parameters"]))
    out.print(table)


@tasks_app.command("show")
def tasks_show(
    task: Annotated[str, typer.Argument(help="Id of a task.")],
    app_name: Annotated[str, typer.Option("--app")] = "kalgebra",
    seed: Annotated[int, typer.Option(help="Draws the parameters.")] = 0,
    as_json: Json = False,
) -> None:
    """Show one task as a seed fills it in: instruction, graph, set-up."""
    import numpy as np

    from sci_gym.loader import select_tasks

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
        _print_json(shown)
        return
    out.print(f"[bold]{spec.id}[/] ({spec.difficulty}, at most {spec.max_steps} steps)\n{spec.instruction}\n")
    for node in graph:
        after = f" after {', '.join(node['after'])}" if node["after"] else ""
        out.print(f"  [cyan]{node['id']}[/]{after}: {node['goal']}", highlight=False)


@app.command()
def verify(
    app_name: AppName = None,
    task: Annotated[list[str] | None, typer.Option("--task", help="Only these tasks.")] = None,
    seeds: Annotated[int, typer.Option(help="How many seeds a task.", min=1)] = 2,
    jobs: Annotated[int, typer.Option(help="Desktops at a time.", min=1)] = 2,
    retries: Annotated[int, typer.Option(help="Repeat a check that misses; it is told as flaky.", min=0)] = 0,
    machine: MachineName = "auto",
    machine_options: MachineOptions = None,
    as_json: Json = False,
) -> None:
    """Hold every task to its promise on the real program; exit 1 on any miss."""
    from sci_gym.verify import Report
    from sci_gym.verify import verify as check

    templates = {one: load_templates(one) for one in _apps(app_name)}
    known = {name for some in templates.values() for name in some}
    for name in task or ():
        if name not in known:
            raise sci_gym.UnknownNameError("task", name, known)
    where = {"machine": machine, "machine_options": _options(machine_options)}
    reports: list[Report] = []
    with _progress() as progress:
        for one, some in templates.items():
            chosen = [name for name in task or some if name in some]
            bar = progress.add_task(one.title, total=len(chosen) * seeds)
            for report in check(_maker(one, where), some, chosen, range(seeds), jobs, retries):
                reports.append(report)
                progress.console.print(
                    f"{report.task} seed {report.seed}: {_result(report)}", highlight=False
                )
                progress.advance(bar)
    _tell(sorted(reports, key=lambda report: (report.task, report.seed)), as_json)


@app.command()
def demo(
    task: Annotated[str, typer.Option(help="Which task to play.")] = "plot-2d-and-value",
    app_name: Annotated[str, typer.Option("--app")] = "kalgebra",
    seed: Annotated[int, typer.Option(help="Draws the parameters.")] = 7,
    folder: Annotated[Path, typer.Option(help="Where the recording and the replay page go.")] = Path(
        "runs/demo"
    ),
    as_json: Json = False,
) -> None:
    """Play one task with its oracle on the real program, and write a replay page."""
    from sci_gym.demo import run_demo

    env_id = load_app(app_name).env_id
    console = err if as_json else out
    with _progress() as progress:
        bar = progress.add_task(f"starting {env_id}", total=None)
        result = run_demo(env_id, task, seed, folder, console, lambda text, total: progress.update(
            bar, description=text, total=total, advance=1))  # fmt: skip
    if as_json:
        _print_json(result)
    else:
        out.print(f"success [bold]{result['success']}[/], coverage {result['coverage_rate']:.2f}, "
                  f"logical consistency {result['logical_consistency']:.2f}")  # fmt: skip
        out.print(f"replay page: [bold]{result['page']}", soft_wrap=True)
    raise typer.Exit(0 if result["success"] else 1)


@app.command()
def play(
    app_name: Annotated[str, typer.Option("--app")] = "kalgebra",
    task: Annotated[str | None, typer.Option(help="Id of a task; drawn by default.")] = None,
    seed: Annotated[int | None, typer.Option(help="Draws the task and its parameters.")] = None,
    minutes: Annotated[float, typer.Option(help="Time limit.")] = 30.0,
    as_json: Json = False,
) -> None:
    """Do a task yourself in the browser, and be scored."""
    from sci_gym.play import play as play_by_hand
    from sci_gym.viewer import Viewer

    env = gym.make(load_app(app_name).env_id, task=task, reward="graph", disable_env_checker=True)
    viewer = Viewer("sci-gym play", interactive=True)
    try:
        url = viewer.open(browser=True)
        err.print(f"Open [bold]{url}[/] in a browser on this machine.", soft_wrap=True)
        info = play_by_hand(env, viewer, seed=seed, deadline_s=minutes * 60)
    finally:
        viewer.close()
        env.close()
    score = {key: info[key] for key in ("task", "success", "coverage_rate", "logical_consistency")}
    if as_json:
        _print_json(score)
    else:
        out.print(score)


@app.command()
def soak(
    app_name: Annotated[str, typer.Option("--app")] = "kalgebra",
    machine: MachineName = "auto",
    machine_options: MachineOptions = None,
    resets: Annotated[int, typer.Option(help="How many episodes.", min=1)] = 20,
    steps: Annotated[int, typer.Option(help="How many steps in all.", min=1)] = 200,
    seed: Annotated[int, typer.Option(help="Draws tasks and actions.")] = 0,
    compare_every: Annotated[int, typer.Option(help="Steps from one fresh tree to the next.", min=1)] = 10,
    as_json: Json = False,
) -> None:
    """Make random steps, check each, and look for what is left behind; exit 1 on any miss."""
    from sci_gym.soak import soak as run_soak
    from sci_gym.stage import Timing

    one = load_app(app_name)
    options: dict[str, Any] = {"interface": "hybrid", "timing": Timing(code_s=5.0)}
    options |= {"machine": machine, "machine_options": _options(machine_options)}
    with _progress() as progress:
        bar = progress.add_task(one.title, total=steps)

        def tell(so_far: Any) -> None:
            progress.update(bar, completed=so_far.steps)
            if so_far.resets % _TELL_RESETS == 0:  # where there is no terminal, no bar is drawn
                met = f"{so_far.resets} resets, {so_far.steps} steps, {len(so_far.misses)} misses"
                progress.console.print(met, highlight=False)

        report = run_soak(
            lambda: gym.make(one.env_id, disable_env_checker=True, **options),
            resets, steps, seed, compare_every, tell,
        )  # fmt: skip
    if as_json:
        _print_json(report.as_dict())
    else:
        out.print(_soak_table(report))
        out.print("\n".join(report.misses) or "no misses", highlight=False, markup=False)
    raise typer.Exit(1 if report.misses else _INTERRUPTED if report.interrupted else 0)


@app.command()
def chaos(
    app_name: Annotated[str, typer.Option("--app")] = "kalgebra",
    machine: MachineName = "sandbox",
    machine_options: MachineOptions = None,
    only: Annotated[list[str] | None, typer.Option(help="Cases whose name contains this.")] = None,
    as_json: Json = False,
) -> None:
    """Kill, stop, fill, flood and block a desktop's parts, each in turn; exit 1 on any miss."""
    from sci_gym.chaos import choose, run

    one, cases, outcomes = load_app(app_name), choose(only, machine), []
    with _progress() as progress:
        bar = progress.add_task(one.title, total=len(cases))
        for outcome in run(one, machine, cases, _options(machine_options)):
            outcomes.append(outcome)
            progress.console.print(f"{outcome.case}: {_result(outcome)}", highlight=False)
            progress.advance(bar)
    misses = sum(len(outcome.misses) for outcome in outcomes)
    if as_json:
        _print_json({"misses": misses, "cases": [outcome.as_dict() for outcome in outcomes]})
    else:
        out.print(_chaos_table(outcomes))
        out.print(f"{len(outcomes)} cases, {misses} misses")
    raise typer.Exit(1 if misses else 0)


@app.command()
def bench(
    name: Annotated[str, typer.Argument(help="A benchmark, all, or list, which tells what there is.")],
    times: Annotated[
        int | None, typer.Option(help="Samples of ours; more give steadier figures.", min=1)
    ] = None,
    program: Annotated[str, typer.Option("--app", help="kalgebra, texstudio or all.")] = "all",
    markdown: Annotated[bool, typer.Option(help="The README's table.")] = False,
    as_json: Json = False,
) -> None:
    """Time ourselves beside peers, in the same run on the same desktop."""
    from sci_gym import benchmarks

    if name == "list":
        _tell_benchmarks(benchmarks.QUESTIONS.values(), as_json)
        return
    machine = benchmarks.machine_now()
    questions = benchmarks.choose(name)
    rows: list[dict[str, Any]] = []
    with _progress() as progress:
        bar = progress.add_task("", total=len(questions))
        for one in questions:
            tell = partial(_describe, progress, bar, one.name)
            try:
                rows += benchmarks.ask(one, program, times, tell)
            except MissingDependencyError as error:
                if len(questions) == 1:
                    raise
                progress.console.print(f"[yellow]{one.name} is left out:[/] {escape(clean(str(error)))}")
            progress.advance(bar)
    if as_json:
        _print_json({"rows": rows, "machine": machine})
    elif markdown:
        sys.stdout.write(benchmarks.make_markdown(rows, machine) + "\n")
    else:
        out.print(benchmarks.make_table(rows))
        out.print(f"{machine['cores']} cores, {machine['cpu']}, load {machine['load']} at the start")
        if machine["warning"]:
            out.print(f"[yellow]{machine['warning']}")


def main() -> None:
    """Run the command line; an error of sci_gym is one line and exit status 2."""
    try:
        app()
    except SciGymError as error:
        err.print(f"[red]sci-gym:[/] {escape(clean(str(error)))}", highlight=False, soft_wrap=True)
        sys.exit(2)


def _apps(name: str | None) -> list[App]:
    return [load_app(one) for one in ([name] if name else app_names())]


def _summary(one: App, template: Template) -> dict[str, Any]:
    return {
        "env_id": one.env_id,
        "id": template.id,
        "kind": template.kind,
        "difficulty": template.difficulty,
        "subtasks": template.subtasks,
        "parameters": list(template.parameters),
    }


def _maker(one: App, where: Mapping[str, Any]) -> Callable[[str], gym.Env[Any, Any]]:
    return lambda task: gym.make(one.env_id, task=task, reward="graph", disable_env_checker=True, **where)


def _options(texts: Iterable[str] | None) -> dict[str, Any]:
    """NAME=VALUE each; a value is JSON, or else as it stands."""
    options: dict[str, Any] = {}
    for name, equals, value in (text.partition("=") for text in texts or ()):
        if not equals:
            raise ConfigurationError(f"machine-option: must be NAME=VALUE, not {name!r}")
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options


def _tell(reports: list[Any], as_json: bool) -> None:
    misses = sum(len(report.misses) for report in reports)
    if as_json:
        _print_json({"misses": misses, "reports": [report.as_dict() for report in reports]})
    else:
        table = Table("task", "seed", "difficulty", "steps", "seconds", "result", title="sci-gym verify")
        for report in reports:
            numbers = (str(report.steps), f"{report.seconds:.1f}")
            table.add_row(report.task, str(report.seed), report.difficulty, *numbers, _result(report))
        out.print(table)
        out.print(f"{len(reports)} checked, {misses} misses")
    raise typer.Exit(1 if misses or not reports else 0)


def _soak_table(report: Any) -> Table:
    table = Table("what", "met", title="sci-gym soak")
    for name in ("resets", "steps", "closed", "crashed", "refused", "retried", "comparisons"):
        table.add_row(name, str(getattr(report, name)))
    for name in ("faults", "mismatches", "leaks"):
        table.add_row(name, str(len(getattr(report, name))))
    for name, (first, last) in report.memory_mib.items():
        table.add_row(f"memory of the {name}, first and last (MiB)", f"{first:.0f}, {last:.0f}")
    table.add_row("steps per second", f"{report.steps_per_s:.1f}")
    table.add_row("seconds", f"{report.seconds:.0f}{', ended by Ctrl-C' if report.interrupted else ''}")
    return table


def _chaos_table(outcomes: list[Any]) -> Table:
    table = Table("what", "expected", "met", "seconds", "deadline", "result", title="sci-gym chaos")
    for one in outcomes:
        times = (f"{one.seconds:.1f}", f"{one.deadline_s:.0f}")
        table.add_row(*map(escape, (one.case, one.expected, one.met)), *times, _result(one))
    return table


def _result(report: Any) -> str:
    flakes = getattr(report, "flaky", ())
    flaky = f" [yellow](flaky: {escape('; '.join(flakes))})" if flakes else ""
    return ("[red]" + escape("; ".join(report.misses)) if report.misses else "[green]holds") + flaky


def _tell_benchmarks(questions: Iterable[Any], as_json: bool) -> None:
    rows = [{"name": one.name, "question": one.text, "peers": list(one.peers)} for one in questions]
    if as_json:
        _print_json({"benchmarks": rows})
        return
    table = Table("name", "question", "peers", title="sci-gym bench NAME")
    for row in rows:
        table.add_row(row["name"], row["question"], "\n".join(row["peers"]))
    out.print(table)


def _describe(progress: Progress, bar: TaskID, name: str, text: str) -> None:
    progress.update(bar, description=f"{name}: {text}")


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=err)


def _print_json(data: Any) -> None:
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False, default=str) + "\n")
