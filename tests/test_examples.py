"""Every example runs as its first lines say, on the real program."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from sci_gym.loader import load_app
from sci_gym.oracle import play
from sci_gym.specs import Action
from tests.virtual import make_machine

EXAMPLES = Path(__file__).parents[1] / "examples"
SHORT = {
    "quickstart.py": ([], "success: True"),
    "vector_rollouts.py": (["--desktops", "2", "--steps", "3"], "screens: (2, 800, 1280, 3)"),
    "behaviour_cloning.py": (["3", "3"], "success on held-out seeds: "),
    "dpo.py": (["1", "1"], "success on held-out seeds: "),
    "grpo_fork.py": (["1", "2"], "mean rewards of 1 groups: "),
    "llm_agent.py": ([], "success: False"),
    "ppo_marks.py": (["32", "2"], "sparse reward: "),
    "prove_by_tactics.py": ([], "success: True"),
}
FIRST_CLICKS = sorted((EXAMPLES / "first_clicks").glob("*.toml"))
NEEDS = {"dpo.py": "trl", "grpo_fork.py": "trl", "ppo_marks.py": "sb3_contrib"}


def test_every_example_has_a_short_run() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SHORT)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SHORT)
def test_it_runs(name: str, tmp_path: Path) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason="needs an extra that its first lines name")
    if name == "grpo_fork.py":
        make_machine()  # skips where no virtual machine runs
    arguments, expected = SHORT[name]
    if name == "prove_by_tactics.py" and any(one.found is None for one in load_app("lean").requirements):
        pytest.skip("no Lean here")
    result = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        capture_output=True,
        text=True,
        timeout=850,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    assert expected in result.stdout


@pytest.mark.parametrize("path", FIRST_CLICKS, ids=lambda path: path.stem)
def test_its_tasks_can_be_done(env: gym.Env[Any, Any], path: Path) -> None:
    env.reset(seed=0, options={"task": path})
    assert env.step(Action.done())[-1]["success"] is False
    env.reset(seed=0, options={"task": path})
    *_, (*_, info) = play(env, env.unwrapped.task.oracle)  # type: ignore[attr-defined]
    assert info["success"] is True
