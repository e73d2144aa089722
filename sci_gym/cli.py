"""The command line: `sci-gym doctor | demo | tasks | data | image | import | verify | play | soak | ...`.

Every command takes `--json`: one object on standard output and nothing else there; progress goes to
standard error. The exit status is 0 when all is well, 1 on a miss, 2 on a wrong call, 130 after Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import gymnasium as gym
import typer
from rich.markup import escape
from rich.progress import Progress, TaskID
from rich.table import Table

from sci_gym import doctor as examination
from sci_gym.bounds import clean
from sci_gym.console import (
    Json,
    MachineName,
    MachineOptions,
    err,
    make_progress,
    out,
    print_json,
    read_options,
    result_of,
)
from sci_gym.data_cli import data_app
from sci_gym.errors import MissingDependencyError, SciGymError, install_command
from sci_gym.image_cli import image_app
from sci_gym.import_cli import import_app
from sci_gym.loader import load_app
from sci_gym.tasks_cli import tasks_app
from sci_gym.verify_cli import verify

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Real science programs as Gymnasium environments."
)
app.add_typer(tasks_app, name="tasks")
app.add_typer(data_app, name="data")
app.add_typer(image_app, name="image")
app.add_typer(import_app, name="import")
app.command()(verify)

_INTERRUPTED = 130
_TELL_RESETS = 50


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
        print_json({"healthy": healthy, "install": fix, "findings": [one.as_dict() for one in findings]})
    else:
        table = Table("", "of", "what", "found", "get it with", title="sci-gym doctor")
        for one in findings:
            mark = "[green]ok" if one.ok else ("[red]missing" if one.needed else "[yellow]optional")
            table.add_row(mark, *(escape(cell) for cell in (one.subject, one.what, one.detail, one.fix)))
        out.print(table)
        if fix:
            out.print(f"To get all that is missing:\n  [bold]{fix}")
    raise typer.Exit(0 if healthy else 1)


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
    with make_progress() as progress:
        bar = progress.add_task(f"starting {env_id}", total=None)
        result = run_demo(env_id, task, seed, folder, console, lambda text, total: progress.update(
            bar, description=text, total=total, advance=1))  # fmt: skip
    if as_json:
        print_json(result)
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

    env_id = load_app(app_name).env_id
    env = gym.make(env_id, task=task, reward="graph", interface="gui", disable_env_checker=True)
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
        print_json(score)
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
    options |= {"machine": machine, "machine_options": read_options(machine_options)}
    with make_progress() as progress:
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
        print_json(report.as_dict())
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
    with make_progress() as progress:
        bar = progress.add_task(one.title, total=len(cases))
        for outcome in run(one, machine, cases, read_options(machine_options)):
            outcomes.append(outcome)
            progress.console.print(f"{outcome.case}: {result_of(outcome)}", highlight=False)
            progress.advance(bar)
    misses = sum(len(outcome.misses) for outcome in outcomes)
    if as_json:
        print_json({"misses": misses, "cases": [outcome.as_dict() for outcome in outcomes]})
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
    with make_progress() as progress:
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
        print_json({"rows": rows, "machine": machine})
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
        table.add_row(*map(escape, (one.case, one.expected, one.met)), *times, result_of(one))
    return table


def _tell_benchmarks(questions: Iterable[Any], as_json: bool) -> None:
    rows = [{"name": one.name, "question": one.text, "peers": list(one.peers)} for one in questions]
    if as_json:
        print_json({"benchmarks": rows})
        return
    table = Table("name", "question", "peers", title="sci-gym bench NAME")
    for row in rows:
        table.add_row(row["name"], row["question"], "\n".join(row["peers"]))
    out.print(table)


def _describe(progress: Progress, bar: TaskID, name: str, text: str) -> None:
    progress.update(bar, description=f"{name}: {text}")
