"""Rows as a table for people, and as the README's table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from sci_gym.benchmarks.rows import Row

_COMMAND = "sci-gym bench all --markdown"


def make_table(rows: Sequence[Row]) -> Table:
    """A line for ours and one for each peer."""
    heads = ("what", "who", "min", "median", "max", "n", "ratio")
    caption = escape("\n".join(_reasons(rows)))
    table = Table(*heads, title="sci-gym bench", caption=caption, caption_justify="left")
    for row in rows:
        note = f"\n[dim]{escape(row['note'])}" if row["note"] else ""
        what = f"{escape(row['name'])} ({escape(row['unit'])}){note}"
        table.add_row(what, "[bold]sci_gym", *_cells(row["ours"]), "1", end_section=not _others(row))
        for number, (peer, cells, ratio) in enumerate(_others(row), start=1):
            table.add_row("", escape(peer), *cells, ratio, end_section=number == len(_others(row)))
    return table


def make_markdown(rows: Sequence[Row], machine: Mapping[str, Any]) -> str:
    """The README's table: a line a row, medians with min and max, the ratio of the medians to ours."""
    lines = [
        f"Measured with `{_COMMAND}` on {machine['cores']} cores ({machine['cpu']}), load {machine['load']}, "
        f"1920x1080: median (min to max), and how many times ours that is.",
        "",
        "| what | sci_gym | beside it, in the same run |",
        "| --- | --- | --- |",
    ]
    for row in rows:
        beside = "; ".join(_beside(row))
        unit = "" if row["unit"] == "count" else f" ({row['unit']})"
        lines.append(f"| {row['name']}{unit} | {_short(row['ours'])} | {beside} |")
    return "\n".join([*lines, "", *_reasons(rows)])


def _beside(row: Row) -> Iterator[str]:
    for peer, numbers in row["peers"].items():
        ratio = row["ratio"][peer]
        yield f"{peer}: {_short(numbers)}" + (f", **{_times(ratio)}**" if ratio is not None else "")
    for peer in row["unavailable"]:
        yield f"{peer}: not available"


def _reasons(rows: Sequence[Row]) -> list[str]:
    """Why peers were not available, each once."""
    lines = [
        f"{peer} was not available for {row['name'].partition(',')[0]}: {reason}."
        for row in rows
        for peer, reason in row["unavailable"].items()
    ]
    return list(dict.fromkeys(lines))


def _others(row: Row) -> list[tuple[str, list[str], str]]:
    """Each peer's name, cells and ratio."""
    measured = [(peer, _cells(numbers), _times(row["ratio"][peer])) for peer, numbers in row["peers"].items()]
    empty = ["", "", "", ""]
    return measured + [(f"{peer}: not available", empty, "") for peer in row["unavailable"]]


def _cells(numbers: Mapping[str, float]) -> list[str]:
    return [*(_digits(numbers[key]) for key in ("min", "median", "max")), str(numbers["n"])]


def _short(numbers: Mapping[str, float]) -> str:
    low, middle, high = (_digits(numbers[key]) for key in ("min", "median", "max"))
    return middle if low == high else f"{middle} ({low} to {high})"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{_digits(ratio)}x"


def _digits(value: float) -> str:
    """Three digits that say something."""
    if value == int(value) or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
