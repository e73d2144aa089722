"""Ways past the work in the real TeXstudio: each scores 0.

Beside what `test_texstudio_pages.py` shows of text that no reader sees: a file written behind the editor's
back, text that is not saved, and words put into the mouth of the start-up module. A person may write with
whatever editor, though: TeXstudio loads a file anew that another program wrote, unless it has edits of its
own, and a document that came to be what was asked for in that way counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import pytest

import sci_gym  # noqa: F401  (registers the environments)
from sci_gym.oracle import play
from sci_gym.specs import Action
from tests.forging import forge

ENV_ID = "SciBoard-TeXstudio-v0"
Make = Callable[[str], Any]


@pytest.fixture(scope="module")
def env() -> Iterator[gym.Env[Any, Any]]:
    made = gym.make(
        ENV_ID, task="write-abstract", interface="hybrid", resolution=(1280, 800),
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
    report = {"document": "0x1", "path": "/home/user/paper.tex", "clean": True, "open": True}
    line = json.dumps({**report, "bookmarks": [], "text": text, "cut": False})
    *_, info = env.step(Action.code(forge(line), "python"))
    assert "tried" in info["output"]
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


def test_a_pdf_that_shows_something_else_is_not_built(start: Make) -> None:
    """Whoever wrote it: what it shows has to be what the saved document says."""
    env = start("build-pdf")
    for _ in play(env, env.unwrapped.task.oracle[:-1]):
        pass
    assert env.unwrapped.verdict.coverage_rate == 1
    env.reset(seed=2)
    made = "cp paper.tex other.tex; sed -i 's/Today/Now/' other.tex; pdflatex -jobname=paper other.tex"
    *_, info = env.step(Action.code(f"cd ~; {made} > log; pdftotext paper.pdf - | head -9"))
    assert "Now" in info["output"]
    _, _, _, _, info = env.step(Action.done())
    assert (info["success"], info["coverage_rate"]) == (False, 0.0)


def test_a_setting_that_stands_in_the_file_alone_is_none(start: Make) -> None:
    """What counts is what TeXstudio does; of a file that changes while it runs it takes no notice."""
    env = start("editor-settings")
    values = env.unwrapped.task.parameters
    keys = ("Editor/Font Size", values["option"]["key"]), (values["size"], values["option"]["value"])
    lines = "\n".join(f"{key.replace('/', chr(92))}={value}" for key, value in zip(*keys, strict=True))
    path = "/home/user/.config/texstudio/texstudio.ini"
    *_, info = env.step(Action.code(f"open({path!r}, 'a').write({lines!r})", "python"))
    assert "[exit code 0]" in info["output"]
    _, _, _, _, info = env.step(Action.done())
    assert (info["success"], info["coverage_rate"]) == (False, 0.0)


def test_what_is_not_saved_is_not_done(env: gym.Env[Any, Any]) -> None:
    env.reset(seed=2)
    for action, *_ in play(env, env.unwrapped.task.oracle[:-2]):  # type: ignore[attr-defined]
        assert action.key != "s"
    _, _, _, _, info = env.step(Action.done())
    assert not info["success"]
    assert info["graph"]["abstract"] == "Evaluating"
