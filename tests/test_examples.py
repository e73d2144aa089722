"""Every example runs as its first lines say, on the real program."""

import subprocess
import sys
from pathlib import Path

import pytest

from sci_gym.loader import load_app

EXAMPLES = Path(__file__).parents[1] / "examples"
SHORT = {
    "quickstart.py": ([], "success: True"),
    "vector_rollouts.py": (["--desktops", "2", "--steps", "3"], "screens: (2, 800, 1280, 3)"),
    "behaviour_cloning.py": (["3", "3"], "success on held-out seeds: "),
    "dpo.py": (["1", "1"], "success on held-out seeds: "),
    "llm_agent.py": ([], "success: False"),
    "prove_by_tactics.py": ([], "success: True"),
}
NEEDS = {"dpo.py": "trl"}


def test_every_example_has_a_short_run() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SHORT)


@pytest.mark.parametrize("name", SHORT)
def test_it_runs(name: str, tmp_path: Path) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason="needs an extra that its first lines name")
    arguments, expected = SHORT[name]
    if name == "prove_by_tactics.py" and any(one.found is None for one in load_app("lean").requirements):
        pytest.skip("no Lean here")
    result = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        capture_output=True,
        text=True,
        timeout=250,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    assert expected in result.stdout
