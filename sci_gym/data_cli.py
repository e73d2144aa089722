"""The command line's `sci-gym data`."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Column, Table

from sci_gym.console import (
    Json,
    MachineName,
    MachineOptions,
    err,
    make_progress,
    out,
    print_json,
    read_options,
)
from sci_gym.data.collect import POLICIES, Outcome, collect
from sci_gym.data.dialects import DIALECTS
from sci_gym.data.episodes import DataSet, Episode
from sci_gym.data.exports import EXPORTS, Pictures, Writer, write_lines
from sci_gym.data.merge import merge as merge_episodes
from sci_gym.data.rerun import Rerun, rerun
from sci_gym.data.show import Show
from sci_gym.data.summary import RESULTS, summarise
from sci_gym.errors import SciGymError, UnknownNameError
from sci_gym.loader import load_app
from sci_gym.tasks import load_templates
from sci_gym.viewer import open_in_browser

data_app = typer.Typer(no_args_is_help=True, help="Record episodes, and make data sets of them.")

Folder = Annotated[Path, typer.Argument(help="A data set's folder.")]
Tasks = Annotated[list[str] | None, typer.Option("--task", help="Only of these tasks.")]
Results = Annotated[list[str] | None, typer.Option("--result", help=f"Only these: {', '.join(RESULTS)}.")]
Coverage = Annotated[
    float, typer.Option("--min-coverage", help="Only with this Coverage Rate.", min=0, max=1)
]

_TABLES = ("parquet", "huggingface", "minari")


@data_app.command()
def record(
    folder: Folder,
    app_name: Annotated[str, typer.Option("--app")] = "kalgebra",
    task: Annotated[list[str] | None, typer.Option("--task", help="Ids of tasks; all by default.")] = None,
    policy: Annotated[str, typer.Option(help=f"{' or '.join(POLICIES)}.")] = "oracle",
    episodes: Annotated[
        int | None, typer.Option(help="How many in all; one a task by default.", min=1)
    ] = None,
    jobs: Annotated[int, typer.Option(help="Desktops at a time.", min=1)] = 1,
    seed: Annotated[int, typer.Option(help="The first one.")] = 0,
    size: Annotated[str, typer.Option(help="Of the screen, in pixels.")] = "1920x1080",
    machine: MachineName = "auto",
    machine_options: MachineOptions = None,
    as_json: Json = False,
) -> None:
    """Play tasks and record them; begun again, it goes on where it was cut off. Exit 1 on any error."""
    one = load_app(app_name)
    known = load_templates(one)
    for name in task or ():
        if name not in known:
            raise UnknownNameError(f"task of {one.title}", name, known)
    tasks, count = task or list(known), episodes or len(task or known)
    options = {"machine": machine, "machine_options": read_options(machine_options)}
    options |= {"interface": "hybrid", "resolution": size.split("x")}
    outcomes: list[Outcome] = []
    with make_progress() as progress:
        bar = progress.add_task(f"{one.title}: {policy}", total=count)
        for outcome in collect(
            one, tasks, folder, policy=policy, episodes=count, jobs=jobs, seed=seed, **options
        ):
            outcomes.append(outcome)
            line = f"{outcome.task} seed {outcome.seed}: {outcome.result} {outcome.problem}"
            progress.console.print(line, highlight=False, markup=False)
            progress.advance(bar)
        progress.update(bar, completed=count)
    errors = sum(outcome.result == "error" for outcome in outcomes)
    told = {"played": len(outcomes), "there_before": count - len(outcomes), "errors": errors}
    if as_json:
        print_json({**told, "episodes": [vars(outcome) for outcome in outcomes]})
    else:
        out.print(f"{folder}: {told['played']} played, {told['there_before']} there before, {errors} errors")
    raise typer.Exit(1 if errors else 0)


@data_app.command()
def show(
    folder: Folder,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    minutes: Annotated[float, typer.Option(help="Serve so long at most.")] = 480.0,
    as_json: Json = False,
) -> None:
    """Open a page of the episodes: filter them, and play any with its screens, tree, actions and graph."""
    data = DataSet(folder)
    page = Show(data)
    try:
        err.print(f"Open [bold]{page.url}[/] in a browser on this machine; Ctrl-C ends it.", soft_wrap=True)
        if as_json:
            print_json({"url": page.url, "episodes": len(data)})
        if browser:
            open_in_browser(page.url)
        threading.Event().wait(minutes * 60)
    except KeyboardInterrupt:
        pass
    finally:
        page.close()


@data_app.command()
def stats(
    folder: Folder,
    task: Tasks = None,
    result: Results = None,
    min_coverage: Coverage = 0.0,
    as_json: Json = False,
) -> None:
    """Count episodes by task and result, and tell what they take on disk."""
    data = DataSet(folder)
    found = summarise(data, _chosen(data, task, result, min_coverage))
    if as_json:
        print_json(found)
        return
    columns = ("episodes", *RESULTS, "coverage_rate", "steps", "seconds")
    table = Table(Column("task", min_width=18, overflow="fold"), *columns, title=str(folder))
    for name, one in {**found["tasks"], "all": found["all"]}.items():
        table.add_row(escape(name), *(f"{one[column]:g}" for column in columns))
    out.print(table)
    screens, size = found["screens"], found["bytes"]
    out.print(
        f"median step {found['all']['step_ms']:g} ms; {screens['show']} screens, {screens['kept']} distinct; "
        f"{(size['objects'] + size['episodes']) / 1e6:.1f} MB"
    )


@data_app.command()
def merge(
    sources: Annotated[list[Path], typer.Argument(help="Data sets to take episodes from.")],
    into: Annotated[Path, typer.Option("--into", help="The data set to add them to.")],
    task: Tasks = None,
    result: Results = None,
    min_coverage: Coverage = 0.0,
    as_json: Json = False,
) -> None:
    """Put episodes of several data sets into one; those that it has already are left out."""
    sets = [DataSet(source) for source in sources]
    total = sum(map(len, sets))
    added = 0
    with make_progress() as progress:
        bar = progress.add_task("merging", total=total)
        for data in sets:
            for _ in merge_episodes(_chosen(data, task, result, min_coverage), into):
                added += 1
                progress.advance(bar)
        progress.update(bar, completed=total)
    if as_json:
        print_json({"added": added, "into": str(into), "episodes": len(DataSet(into)) if added else 0})
    else:
        out.print(f"{into}: {added} episodes added")


@data_app.command()
def export(
    folder: Folder,
    target: Annotated[Path, typer.Argument(help="The folder to write to.")],
    kind: Annotated[str, typer.Option("--format", help=f"{', '.join((*EXPORTS, *_TABLES))}.")] = "sft",
    dialect: Annotated[str, typer.Option(help=f"{', '.join(DIALECTS)}.")] = "pyautogui",
    tree: Annotated[bool, typer.Option(help="Show the accessibility tree to models, as text.")] = False,
    width: Annotated[int, typer.Option(help="Of Minari's screens, in pixels; 0: as recorded.", min=0)] = 480,
    task: Tasks = None,
    result: Results = None,
    min_coverage: Coverage = 0.0,
    as_json: Json = False,
) -> None:
    """Write what models are trained on: chats (sft), pairs (dpo), rows (actions), or a table."""
    if kind not in (*EXPORTS, *_TABLES):
        raise UnknownNameError("format", kind, (*EXPORTS, *_TABLES))
    if dialect not in DIALECTS:
        raise UnknownNameError("dialect", dialect, DIALECTS)
    data = DataSet(folder)
    with make_progress() as progress:
        bar = progress.add_task(f"{kind}, {dialect}" if kind in EXPORTS else kind, total=len(data))
        chosen = progress.track(list(_chosen(data, task, result, min_coverage)), task_id=bar)
        if kind in EXPORTS:
            writer = Writer(DIALECTS[dialect], Pictures(target), tree)
            count = write_lines(EXPORTS[kind](chosen, writer), target / f"{kind}.jsonl")
        else:
            count = _write_table(kind, chosen, target, width or None)
    if as_json:
        print_json({"format": kind, "lines": count, "target": str(target)})
    else:
        out.print(f"{target}: {count} {'episodes' if kind == 'minari' else 'lines'}")
    raise typer.Exit(0 if count else 1)


@data_app.command()
def replay(
    folder: Annotated[Path, typer.Argument(help="A data set, or one of its episodes.")],
    task: Tasks = None,
    result: Results = None,
    min_coverage: Coverage = 0.0,
    machine: MachineName = "auto",
    machine_options: MachineOptions = None,
    as_json: Json = False,
) -> None:
    """Play recorded episodes on fresh desktops; exit 1 unless each gives the rewards that it gave."""
    single = (folder / "steps.jsonl").is_file()
    episodes = [Episode(folder)] if single else list(_chosen(DataSet(folder), task, result, min_coverage))
    options = {"machine": machine, "machine_options": read_options(machine_options)}
    runs: list[Rerun] = []
    with make_progress() as progress:
        for episode in progress.track(episodes, description="replaying"):
            runs.append(_rerun(episode, options))
    misses = sum(bool(run.misses) for run in runs)
    if as_json:
        print_json({"misses": misses, "episodes": [run.as_dict() for run in runs]})
    else:
        table = Table("episode", "task", "steps", "reward", "recorded", "same screens", "result")
        for run in runs:
            told = f"[red]{escape('; '.join(run.misses))}" if run.misses else "[green]reproduced"
            screens = f"{run.same_screens} of {run.steps + 1}"
            rewards = (f"{run.reward:.2f}", f"{run.recorded_reward:.2f}")
            table.add_row(run.episode, escape(run.task), str(run.steps), *rewards, screens, told)
        out.print(table)
    raise typer.Exit(1 if misses or not runs else 0)


def _rerun(episode: Episode, options: Mapping[str, Any]) -> Rerun:
    try:
        return rerun(episode, **options)
    except SciGymError as error:  # one that cannot be played is a miss, not the end of the others
        task, reward = episode.meta.task, episode.total_reward
        return Rerun(episode.name, task, 0, 0.0, reward, 0, (f"{type(error).__name__}: {error}",))


def _chosen(
    data: DataSet, tasks: list[str] | None, results: list[str] | None, min_coverage: float
) -> Iterable[Episode]:
    for name in results or ():
        if name not in RESULTS:
            raise UnknownNameError("result", name, RESULTS)
    return data.choose(tasks=tasks or (), results=results or (), min_coverage=min_coverage)


def _write_table(kind: str, episodes: Iterable[Episode], target: Path, width: int | None) -> int:
    from sci_gym.data.minari import to_minari
    from sci_gym.data.tables import to_huggingface, write_parquet

    if kind == "parquet":
        return write_parquet(episodes, target)
    if kind == "huggingface":
        made = to_huggingface(episodes)
        made.save_to_disk(str(target))
        return len(made)
    target.mkdir(parents=True, exist_ok=True)
    os.environ["MINARI_DATASETS_PATH"] = str(target.resolve())
    return int(to_minari(episodes, f"sci-gym/{target.resolve().name}-v0", width).total_episodes)
