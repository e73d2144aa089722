"""`sci-gym bench`: rows of the agreed format, peers run for real, and told when they cannot be had."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sci_gym.benchmarks import QUESTIONS, make_markdown, make_table
from sci_gym.benchmarks.desk import open_desk
from sci_gym.benchmarks.peers import CUA, PYATSPI, Guest, install
from sci_gym.benchmarks.rows import Peers, PeerUnavailableError, make_row

SCI_GYM = Path(sys.executable).with_name("sci-gym")


def run(*arguments: str, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Exit status and standard output; pip finds nothing, so that no test depends on an index."""
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull}
    command = [str(SCI_GYM), "bench", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=250, env={**os.environ, **offline, **(env or {})}
    )
    return done.returncode, done.stdout


def refuse() -> list[float]:
    raise PeerUnavailableError("not today")


def example_rows() -> list[dict[str, Any]]:
    peers = Peers()
    peers.ask("slow", lambda: [30.0, 10.0])
    peers.ask("slow", lambda: [20.0])
    peers.ask("gone", lambda: [1.0])
    peers.ask("gone", refuse)
    peers.ask("gone", lambda: [1.0])
    return [make_row("a step, slowly", "ms", [2.0, 4.0, 9.0], peers)]


def test_a_row_has_the_agreed_format() -> None:
    (row,) = example_rows()
    assert row["ours"] == {"min": 2, "median": 4, "max": 9, "n": 3}
    assert row["peers"] == {"slow": {"min": 10, "median": 20, "max": 30, "n": 3}}
    assert row["ratio"] == {"slow": 5}
    assert row["unavailable"] == {"gone": "not today"}
    assert {"cores", "cpu", "python"} <= set(row["machine"])


def test_a_table_tells_the_ratio_and_why_a_peer_is_missing() -> None:
    text = make_markdown(example_rows(), {"cores": 2, "cpu": "some", "load": 0.1})
    assert "| a step, slowly (ms) | 4 (2 to 9) | slow: 20 (10 to 30), **5x**; gone: not available |" in text
    assert text.endswith("gone was not available for a step: not today.")
    table = make_table(example_rows())
    assert table.row_count == 3
    assert "not today" in str(table.caption)


def test_every_benchmark_is_listed() -> None:
    status, printed = run("list", "--json")
    listed = {one["name"]: one for one in json.loads(printed)["benchmarks"]}
    assert status == 0
    assert (
        set(listed)
        == set(QUESTIONS)
        == {"a11y", "screenshot", "step", "reset", "footprint", "vector", "fork", "density", "record"}
    )
    assert all(one["question"].endswith("?") and one["peers"] for one in listed.values())


@pytest.mark.parametrize("arguments", [["nonsense"], ["a11y", "--app", "nonsense"], ["a11y", "--times", "0"]])
def test_a_wrong_call_exits_with_2(arguments: list[str]) -> None:
    assert run(*arguments) == (2, "")


def test_a_benchmark_runs_beside_pyatspi_and_without_what_cannot_be_had(tmp_path: Path) -> None:
    env = {"XDG_CACHE_HOME": str(tmp_path)}
    status, printed = run("a11y", "--times", "2", "--app", "kalgebra", "--json", env=env)
    assert status == 0
    unchanged, changed = json.loads(printed)["rows"]
    assert (unchanged["ours"]["n"], unchanged["peers"][PYATSPI]["n"]) == (2, 2)
    assert 1 <= changed["ours"]["n"] == changed["peers"][PYATSPI]["n"] <= 6
    for row in (unchanged, changed):
        assert row["unit"] == "ms"
        assert 0 < row["ours"]["min"] <= row["ours"]["median"] <= row["ours"]["max"]
        assert row["ratio"][PYATSPI] == round(row["peers"][PYATSPI]["median"] / row["ours"]["median"], 2)
        assert CUA in row["unavailable"]


def test_a_peer_that_cannot_be_installed_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with pytest.raises(PeerUnavailableError, match="No matching distribution"):
        install(CUA, lambda text: None)
    assert not list((tmp_path / "sci_gym" / "peers").iterdir())


def test_a_script_that_fails_in_the_guest_is_a_peer_that_is_unavailable() -> None:
    with open_desk() as desk, pytest.raises(PeerUnavailableError, match=r"walk\.py ended with 1"):
        Guest(desk.client, lambda text: None).run("walk.py", "no number")
