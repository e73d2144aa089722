"""Data sets of the real KAlgebra: written as they happen, cut off by a kill, read, played again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from sci_gym.data import DataSet, Episode, Recorder
from sci_gym.data.objects import ObjectStore
from sci_gym.data.rerun import rerun
from sci_gym.errors import ActionError, ConfigurationError
from sci_gym.observation import find_marks
from sci_gym.oracle import play
from sci_gym.specs import Action
from sci_gym.wrappers import MarkActions, PyAutoGuiText

SCI_GYM = Path(sys.executable).with_name("sci-gym")
TASK = "product-odd"
SMALL = {"resolution": (1280, 800), "disable_env_checker": True}
KILL_S = 60.0
STEPPER = """
import sys
import gymnasium as gym
from sci_gym import Action
from sci_gym.data import Recorder

env = Recorder(gym.make("SciBoard-KAlgebra-v0", task="product-odd", resolution=(1280, 800)), sys.argv[1])
env.reset(seed=1)
while True:
    for text in "1234567":
        env.step(Action.type(text))
        print(text, flush=True)
    env.reset(seed=2)
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> DataSet:
    """An oracle's episode, and one that does nothing useful, of the same task and seed."""
    folder = tmp_path_factory.mktemp("data") / "set"
    env = Recorder(gym.make("SciBoard-KAlgebra-v0", task=TASK, **SMALL), folder, {"policy": "oracle"})
    env.reset(seed=3)
    screens = [env.unwrapped.last.screenshot]  # type: ignore[attr-defined]
    for _ in play(env, env.unwrapped.task.oracle):  # type: ignore[attr-defined]
        screens.append(env.unwrapped.last.screenshot)  # type: ignore[attr-defined]
    shown = env.unwrapped.last.showing  # type: ignore[attr-defined]
    env.reset(seed=3)
    with pytest.raises(ActionError):
        env.step(Action.click(9999, 0))
    env.step(Action.wait(0.0))
    env.step(Action.done())
    env.close()
    data = DataSet(folder)
    solved, _ = data
    for step, screen in zip(solved.steps, screens, strict=True):
        assert np.array_equal(solved.frame(step), screen)
    assert solved.tree(solved.last).nodes == shown.nodes
    return data


def test_an_episode_says_what_it_is_and_how_it_went(recorded: DataSet) -> None:
    solved, idle = recorded
    meta = solved.meta
    assert (meta.task, meta.seed, meta.notes, meta.machine) == (
        TASK,
        3,
        {"policy": "oracle"},
        "SandboxMachine",
    )
    assert meta.parameters["name"] in meta.instruction
    assert meta.versions["debian:kalgebra"]
    assert (solved.result, solved.total_reward, solved.last.coverage_rate) == ("success", 1.0, 1.0)
    assert [step.graph["stored"] for step in solved.steps] == ["Evaluating", "Completed", "Completed"]
    assert (idle.result, idle.total_reward) == ("failure", 0.0)
    assert [str(one.action.kind) for one in idle.steps[1:] if one.action] == ["WAIT", "DONE"]
    assert solved.steps[0].timings_ms["call"] >= solved.steps[0].timings_ms["reset"] > 0
    assert {"step", "act", "settle", "tree"} <= set(solved.last.timings_ms)


def test_marks_are_those_that_the_policy_saw(recorded: DataSet) -> None:
    solved, _ = recorded
    for step in solved.steps:
        tree = solved.tree(step)
        assert solved.marks(step) == find_marks(tree, 1280, 800)
        assert any(node.role == "page tab" for node in solved.marks(step))


def test_equal_screens_and_trees_are_kept_once(recorded: DataSet) -> None:
    steps = [step for episode in recorded for step in episode.steps]
    names = {step.frame for step in steps} | {step.tree for step in steps}
    assert {path.parent.name + path.name for path in (recorded.folder / "objects").glob("*/*")} == names
    assert len({step.frame for step in steps}) < len(steps), "two episodes begin with the same screen"


def test_a_damaged_frame_is_named(recorded: DataSet, tmp_path: Path) -> None:
    store = ObjectStore(tmp_path)
    name = store.put(b"as it was")
    (tmp_path / name[:2] / name[2:]).write_bytes(b"and is now")
    with pytest.raises(ConfigurationError, match="damaged"):
        store.get(name)
    with pytest.raises(ConfigurationError, match="not the name"):
        store.get("../../../../etc/passwd")


def test_the_episode_reproduces_its_reward_on_a_fresh_desktop(recorded: DataSet) -> None:
    solved, _ = recorded
    again = rerun(solved)
    assert (again.misses, again.reward, again.steps) == ((), 1.0, 2)
    assert again.same_screens >= 1


def test_a_forged_reward_is_told(recorded: DataSet, tmp_path: Path) -> None:
    solved, _ = recorded
    (tmp_path / "objects").symlink_to(recorded.folder / "objects")
    forged = tmp_path / solved.name
    forged.mkdir()
    (forged / "meta.json").write_bytes((solved.folder / "meta.json").read_bytes())
    lines = [json.loads(line) for line in (solved.folder / "steps.jsonl").read_text().splitlines()]
    lines[1]["action"]["text"] = "1+1\n"
    (forged / "steps.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "step 1: reward was 1.0, now 0.0" in rerun(Episode(forged)).misses


def test_what_models_said_is_kept_beside_what_was_done(tmp_path: Path) -> None:
    env = PyAutoGuiText(Recorder(gym.make("SciBoard-KAlgebra-v0", task=TASK, **SMALL), tmp_path))
    env.reset(seed=1)
    code = "pyautogui.moveTo(300, 300)\npyautogui.press('a')"
    env.step(code)
    marked = MarkActions(env.env, stops=("FAIL",))
    marked.reset(seed=1)
    marked.step(marked.action_space.n - 1)  # type: ignore[attr-defined]
    env.close()
    spoken, numbered = DataSet(tmp_path)
    assert [(str(one.action.kind), one.said) for one in spoken.steps[1:] if one.action] == [
        ("moveTo", code), ("press", code)
    ]  # fmt: skip
    assert (numbered.last.said, str(numbered.last.action.kind)) == (64, "FAIL")  # type: ignore[union-attr]


def test_a_kill_in_mid_episode_loses_the_step_under_way_at_most(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", STEPPER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    told = [process.stdout.readline().strip() for _ in range(9)]
    process.send_signal(signal.SIGKILL)
    process.wait(KILL_S)
    first, second = DataSet(tmp_path)
    typed = [step.action.text for step in (*first.steps[1:], *second.steps[1:]) if step.action]
    assert typed[:9] == told
    assert len(typed) <= len(told) + 1
    assert (first.result, second.result) == ("unfinished", "unfinished")
    for episode in (first, second):
        assert {episode.frame(step).shape for step in episode.steps} == {(800, 1280, 3)}
    env = Recorder(gym.make("SciBoard-KAlgebra-v0", task=TASK, **SMALL), tmp_path)
    env.reset(seed=1)
    env.close()
    assert env.episode.name == "EPISODE-000003"


def test_each_desktop_of_a_vector_writes_its_own_episodes(tmp_path: Path) -> None:
    wrap: Any = partial(Recorder, folder=tmp_path)
    options: dict[str, Any] = {"task": TASK, "resolution": (1280, 800), "observation": "screenshot"}
    envs = gym.make_vec("SciBoard-KAlgebra-v0", num_envs=2, wrap=wrap, **options)
    envs.reset(seed=5)
    envs.step([Action.wait(0.0), Action.done()])
    envs.step([Action.wait(0.0), Action.wait(0.0)])
    envs.close()
    assert sorted((one.meta.seed or 0, len(one.steps), one.result) for one in DataSet(tmp_path)) == [
        (0, 1, "unfinished"), (5, 3, "unfinished"), (6, 2, "failure")
    ]  # fmt: skip
