"""Ways past the work in the real TeXstudio: each scores 0.

Beside what `test_texstudio_pages.py` shows of text that no reader sees: a file written behind the editor's
back, text that is not saved, and words put into the mouth of the start-up module. A person may write with
whatever editor, though: TeXstudio loads a file anew that another program wrote, unless it has edits of its
own, and a document that came to be what was asked for in that way counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

import sci_gym  # noqa: F401  (registers the environments)
from sci_gym.oracle import play
from sci_gym.specs import Action

# Says what the start-up module would, to whatever takes it: every descriptor of every process in reach.
FORGE = """
import glob, json, os
line = json.dumps({"document": "0x1", "path": "/home/user/paper.tex", "clean": True, "open": True,
                   "bookmarks": [], "text": text, "cut": False}) + "\\n"
for path in glob.glob("/proc/[0-9]*/fd/*"):
    try:
        os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), line.encode())
    except OSError:
        pass
print("forged")
"""


@pytest.fixture(scope="module")
def env() -> Iterator[gym.Env[Any, Any]]:
    made = gym.make(
        "SciBoard-TeXstudio-v0", task="write-abstract", interface="hybrid", resolution=(1280, 800),
        disable_env_checker=True,
    )  # fmt: skip
    yield made
    made.close()


def solution(env: gym.Env[Any, Any]) -> str:
    """The text that the oracle leaves on disk."""
    env.reset(seed=2)
    for _ in play(env, env.unwrapped.task.oracle[:-1]):  # type: ignore[attr-defined]
        pass
    data = env.unwrapped.last.files["paper.tex"]  # type: ignore[attr-defined]
    return str(data.decode())


def test_a_forged_report_scores_nothing(env: gym.Env[Any, Any]) -> None:
    text = solution(env)
    env.reset(seed=2)
    *_, info = env.step(Action.code(f"text = {text!r}\n{FORGE}", "python"))
    assert "forged" in info["output"]
    _, _, _, _, info = env.step(Action.done())
    assert (info["success"], info["coverage_rate"]) == (False, 0.0)


def test_a_file_behind_the_editors_back_scores_nothing(env: gym.Env[Any, Any]) -> None:
    """The editor has edits of its own, which a file on disk does not have."""
    text = solution(env)
    env.reset(seed=2)
    env.step(Action.type("% mine"))
    env.step(Action.code(f"open('/home/user/paper.tex', 'w').write({text!r})", "python"))
    _, _, _, _, info = env.step(Action.done())
    assert (info["success"], info["coverage_rate"]) == (False, 0.0)


def test_a_file_that_texstudio_loads_anew_counts(env: gym.Env[Any, Any]) -> None:
    text = solution(env)
    env.reset(seed=2)
    env.step(Action.code(f"open('/home/user/paper.tex', 'w').write({text!r})", "python"))
    _, _, _, _, info = env.step(Action.wait(2))
    assert info["coverage_rate"] == 1


def test_what_is_not_saved_is_not_done(env: gym.Env[Any, Any]) -> None:
    env.reset(seed=2)
    for action, *_ in play(env, env.unwrapped.task.oracle[:-2]):  # type: ignore[attr-defined]
        assert action.key != "s"
    _, _, _, _, info = env.step(Action.done())
    assert not info["success"]
    assert info["graph"]["abstract"] == "Evaluating"
