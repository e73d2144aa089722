"""Lean's language server, as the guest holds it: what it says of texts, and what follows when it fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from sci_gym.envs.lean.guest import project, server
from sci_gym.loader import load_app
from sci_gym.specs import Action

LEAN = next(one for one in load_app("lean").requirements if one.shown)
pytestmark = pytest.mark.skipif(LEAN.found is None, reason=f"no Lean here: {LEAN.advice}")
SWAP = "theorem swap (p q : Prop) (h : p ∧ q) : q ∧ p := by\n  constructor\n"


@pytest.fixture
def prover() -> Iterator[server.Prover]:
    made = server.Prover(str(LEAN.found))
    yield made
    if made.server:
        made.server.end()


def texts(told: list[dict[str, Any]]) -> list[tuple[int, str, str]]:
    return [(one["line"], one["severity"], one["text"]) for one in told]


def test_it_tells_the_goals_that_are_left_and_forgets_those_that_are_not(prover: server.Prover) -> None:
    told = prover.messages(SWAP + "  done\n")
    assert [one[:2] for one in texts(told)] == [(3, "error")]
    assert "⊢ q" in told[0]["text"]
    assert "⊢ p" in told[0]["text"]
    assert prover.messages(SWAP + "  exact h.right\n  exact h.left\n  done\n") == []
    (wrong,) = prover.messages(SWAP + "  exact missing\n  exact h.left\n")
    assert "missing" in wrong["text"]


def test_a_new_one_takes_the_place_of_one_that_ended(prover: server.Prover) -> None:
    assert prover.messages(SWAP + "  exact h.right\n  exact h.left\n") == []
    assert prover.server is not None
    os.killpg(prover.server.process.pid, signal.SIGKILL)
    prover.server.process.wait()
    ((line, severity, text),) = texts(prover.messages(SWAP))
    assert (line, severity) == (0, "error")
    assert text.startswith("Lean did not finish: ")
    assert prover.messages(SWAP + "  exact h.right\n  exact h.left\n") == []


def test_one_that_does_not_answer_is_ended(prover: server.Prover, monkeypatch: pytest.MonkeyPatch) -> None:
    prover.messages("")
    assert prover.server is not None
    before = prover.server.process
    os.killpg(before.pid, signal.SIGSTOP)
    monkeypatch.setattr(server, "ANSWER_S", 0.2)
    (told,) = prover.messages(SWAP)
    assert told["text"] == "Lean did not finish: not within 0.2 s"
    assert before.returncode == -signal.SIGKILL


def test_clients_are_answered_at_the_door(tmp_path: Path) -> None:
    door = str(tmp_path / "door")
    with subprocess.Popen([sys.executable, "-I", server.__file__, str(LEAN.found), door]) as serving:
        try:
            lean = project.Server(door)
            assert lean.run("Task", SWAP + "  exact h.right\n  exact h.left\n") == (True, [])
            with lean.connected() as rude:
                rude.sendall(b"\xff")
            whole, told = lean.run("Task", SWAP + "  done\n")
            assert not whole
            assert told[0]["text"].startswith("unsolved goals")
        finally:
            serving.terminate()


def test_an_episode_whose_server_was_ended_by_the_policy_goes_on() -> None:
    """What the policy removes is missing to the policy alone: the judge has a Lean of its own."""
    env = gym.make("SciBoard-Lean-v0", task="swap-sides", disable_env_checker=True)
    try:
        env.reset(seed=1)
        env.step(Action.code("rm /tmp/.lean-server"))
        *_, info = env.step(Action.code("intro h", "app"))
        assert "language server does not answer" in info["output"]
        task = env.unwrapped.task  # type: ignore[attr-defined]
        proof = textwrap.indent("\n".join(step.action.text for step in task.oracle[:2]), "  ")
        text = task.setup[0].arguments["text"].replace("  sorry", proof)
        *_, info = env.step(Action.code(f"cat > Task.lean <<'END'\n{text}\nEND"))
        assert info["coverage_rate"] > 0
    finally:
        env.close()
