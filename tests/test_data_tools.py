"""`sci-gym data` on episodes of the real KAlgebra: recorded, counted, merged, exported, shown, replayed."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image

from sci_gym.data import DIALECTS, DataSet, Recorder
from sci_gym.data.show import Show
from sci_gym.oracle import play
from sci_gym.specs import STOP_KINDS, Action, Kind
from sci_gym.wrappers import computer13, pyautogui_text
from tests.pages import dump_dom

SCI_GYM = Path(sys.executable).with_name("sci-gym")
TASKS = ("--task", "product-odd", "--task", "vector-sum")
SIZE = (1280, 800)
TIMEOUT_S = 240.0
ACTIONS = (
    Action.click(3, 4),
    Action.double_click(1279, 799),
    Action(Kind.TRIPLE_CLICK, x=5, y=6),
    Action(Kind.MIDDLE_CLICK, x=5, y=6),
    Action.right_click(640, 400),
    Action.move_to(7, 8),
    Action.type('it\'s "x" \\ y\nλ'),
    Action.press("esc"),
    Action.press("f5"),
    Action.hotkey("ctrl", "shift", "s"),
    Action(Kind.KEY_DOWN, key="super"),
    Action(Kind.MOUSE_UP, button="right"),
    Action.done(),
    Action.fail(),
)


def run(*arguments: str, code: int = 0) -> Any:
    result = subprocess.run(
        [str(SCI_GYM), "data", *map(str, arguments), "--json"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert result.returncode == code, result.stderr
    return json.loads(result.stdout) if code < 2 else result.stderr


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two oracles' episodes, and two random ones of the same tasks and seeds."""
    made = tmp_path_factory.mktemp("data") / "runs"
    for policy in ("oracle", "random"):
        told = run("record", str(made), *TASKS, "--policy", policy, "--size", "1280x800", "--jobs", "2")
        assert (told["played"], told["errors"]) == (2, 0)
    return made


def read(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=TIMEOUT_S) as reply:
        return bytes(reply.read())


def test_a_run_that_was_cut_off_is_taken_up_again(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    solved = next(episode for episode in DataSet(copy) if episode.result == "success")
    steps = solved.folder / "steps.jsonl"
    steps.write_bytes(steps.read_bytes()[:-20])
    told = run("record", str(copy), *TASKS, "--size", "1280x800")
    assert (told["played"], told["there_before"]) == (1, 1)
    assert told["episodes"][0]["task"] == solved.meta.task
    assert told["episodes"][0]["result"] == "success"
    assert sum(episode.result == "unfinished" for episode in DataSet(copy)) == 1


def test_stats_count_by_task(folder: Path) -> None:
    found = run("stats", str(folder))
    assert set(found["tasks"]) == {"product-odd", "vector-sum"}
    assert (found["all"]["episodes"], found["all"]["success"]) == (4, 2)
    assert found["screens"]["kept"] < found["screens"]["show"]
    assert run("stats", str(folder), "--result", "success")["all"]["coverage_rate"] == 1.0
    assert "Did you mean 'success'" in run("stats", str(folder), "--result", "sucess", code=2)


def test_merged_episodes_are_there_once_and_whole(folder: Path, tmp_path: Path) -> None:
    into = tmp_path / "all"
    assert run("merge", str(folder), "--into", str(into), "--result", "success")["added"] == 2
    assert run("merge", str(folder), str(folder), "--into", str(into))["episodes"] == 4
    before, after = ({one.meta.started_unix_s: one for one in DataSet(each)} for each in (folder, into))
    for started, episode in after.items():
        for step, old in zip(episode.steps, before[started].steps, strict=True):
            assert step == old
            assert np.array_equal(episode.frame(step), before[started].frame(old))


def test_a_replay_reproduces_the_rewards(folder: Path) -> None:
    told = run("replay", str(folder), "--result", "success")
    assert (told["misses"], len(told["episodes"])) == (0, 2)
    assert all(one["reward"] == pytest.approx(one["recorded_reward"]) for one in told["episodes"])


def test_chats_show_each_screen_before_its_action(folder: Path, tmp_path: Path) -> None:
    count = run("export", str(folder), str(tmp_path), "--result", "success", "--tree")["lines"]
    chats = lines(tmp_path / "sft.jsonl")
    assert len(chats) == count == 2
    episodes = {episode.name: episode for episode in DataSet(folder)}
    for chat in chats:
        episode = episodes[chat["episode"]]
        assert episode.meta.instruction in chat["messages"][0]["content"][0]["text"]
        roles = [message["role"] for message in chat["messages"][1:]]
        assert roles == ["user", "assistant"] * (len(episode.steps) - 1)
        assert "\tpage tab\t" in chat["messages"][1]["content"][1]["text"]
        said = [message["content"][0]["text"] for message in chat["messages"][2::2]]
        for words, (before, step), image in zip(said, episode.transitions(), chat["images"], strict=True):
            assert pyautogui_text.parse(words, *SIZE) == [step.action]
            assert np.array_equal(np.asarray(Image.open(tmp_path / image)), episode.frame(before))


def test_pairs_prefer_what_solved_the_task(folder: Path, tmp_path: Path) -> None:
    assert run("export", str(folder), str(tmp_path), "--format", "dpo", "--dialect", "ui-tars")["lines"] >= 2
    for pair in lines(tmp_path / "dpo.jsonl"):
        assert pair["chosen_value"] > pair["rejected_value"]
        assert pair["chosen"] != pair["rejected"]
        assert pair["prompt"][-1]["content"][0] == {"type": "image"}
        assert (tmp_path / pair["images"][0]).is_file()
    oracles = [pair for pair in lines(tmp_path / "dpo.jsonl") if pair["chosen_value"][0]]
    assert {pair["task"] for pair in oracles} == {"product-odd", "vector-sum"}
    assert all(pair["chosen"][0]["content"][0]["text"].startswith("Action: ") for pair in oracles)


def test_what_shows_nothing_but_may_be_needed_is_not_rejected(tmp_path: Path) -> None:
    env = Recorder(gym.make("SciBoard-KAlgebra-v0", task="product-odd", resolution=SIZE), tmp_path / "data")
    with contextlib.closing(env):
        env.reset(seed=0)
        env.step(Action.hotkey("ctrl", "c"))
        for _ in play(env, env.unwrapped.task.oracle):  # type: ignore[attr-defined]
            pass
    (episode,) = DataSet(tmp_path / "data")
    assert (episode.result, episode.steps[1].tree) == ("success", episode.steps[0].tree)
    assert run("export", str(tmp_path / "data"), str(tmp_path), "--format", "dpo", code=1)["lines"] == 0


@pytest.mark.parametrize("name", ["ui-tars", "os-atlas", "aguvis"])
def test_rows_for_action_models(folder: Path, tmp_path: Path, name: str) -> None:
    run("export", str(folder), str(tmp_path), "--format", "actions", "--dialect", name)
    rows = lines(tmp_path / "actions.jsonl")
    assert len(rows) > 20
    clicks = {
        "ui-tars": r"Action: click\(start_box='<\|box_start\|>\((\d+),(\d+)\)<\|box_end\|>'\)",
        "os-atlas": r"actions:\nCLICK <point>\[\[(\d+), (\d+)\]\]</point>",
        "aguvis": r"pyautogui\.click\(x=([\d.]+), y=([\d.]+)\)",
    }
    full = 1 if name == "aguvis" else 1000
    episodes = {episode.name: episode for episode in DataSet(folder)}
    seen = 0
    for row in rows:
        action = episodes[row["episode"]].steps[row["step"]].action
        assert len(row["history"]) == row["step"] - 1
        if action is not None and action.kind is Kind.CLICK:
            found = re.fullmatch(clicks[name], row["action"])
            assert found, row["action"]
            x, y = (float(found[place]) / full * side for place, side in zip((1, 2), SIZE, strict=True))
            assert abs(x - action.x) <= 1
            assert abs(y - action.y) <= 1
            seen += 1
    assert seen > 5


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: str(action.kind))
def test_osworld_dialects_are_read_back(action: Action) -> None:
    said = DIALECTS["pyautogui"].write(action, SIZE)
    assert said is not None
    assert pyautogui_text.parse(said, *SIZE) == [action]
    said = DIALECTS["computer13"].write(action, SIZE)
    assert said is not None
    assert computer13.parse(said, *SIZE) == [action]
    said = DIALECTS["aguvis"].write(action, SIZE)
    assert said is not None
    if action.kind not in STOP_KINDS:
        (read_back,) = pyautogui_text.parse(said, *SIZE, coordinates="relative")
        assert (read_back.kind, read_back.text, read_back.key) == (action.kind, action.text, action.key)
        assert max(abs(read_back.x - action.x), abs(read_back.y - action.y)) <= 1


def test_parquet_with_pictures(folder: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    count = run("export", str(folder), str(tmp_path), "--format", "parquet")["lines"]
    rows = parquet.read_table(tmp_path / "steps.parquet").to_pylist()
    assert len(rows) == count == sum(len(episode.steps) - 1 for episode in DataSet(folder))
    first = rows[0]
    (action,) = pyautogui_text.parse(first["action_pyautogui"], *SIZE)
    assert json.loads(first["action"])["kind"] == action.kind
    assert Image.open(tmp_path / first["screenshot"]).size == SIZE
    assert first["a11y"].startswith("tag\trole\tname")
    assert sum(row["reward"] for row in rows if row["episode"] == first["episode"]) == pytest.approx(1.0)


def test_hugging_face_reads_it(folder: Path, tmp_path: Path) -> None:
    hub = pytest.importorskip("datasets")
    run("export", str(folder), str(tmp_path / "hub"), "--format", "huggingface", "--result", "success")
    read_back = hub.load_from_disk(str(tmp_path / "hub"))
    episodes = {episode.name: episode for episode in DataSet(folder)}
    assert len(read_back) == sum(len(one.steps) - 1 for one in episodes.values() if one.result == "success")
    for row in read_back:
        step = episodes[row["episode"]].steps[row["step"]]
        assert np.array_equal(np.asarray(row["next_screenshot"]), episodes[row["episode"]].frame(step))


def test_minari_reads_it(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    minari = pytest.importorskip("minari")
    target = tmp_path / "solved"
    told = run(
        "export", str(folder), str(target), "--format", "minari", "--result", "success", "--width", "160"
    )
    assert told["lines"] == 2
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(target))
    read_back = minari.load_dataset("sci-gym/solved-v0")
    for episode in read_back.iterate_episodes():
        assert episode.observations["screenshot"].shape == (len(episode.rewards) + 1, 100, 160, 3)
        assert sum(episode.rewards) == pytest.approx(1.0)
        assert episode.terminations[-1]
        assert any(episode.actions["text"])


def test_the_page_lists_filters_and_plays(folder: Path, tmp_path: Path) -> None:
    data = DataSet(folder)
    page = Show(data)
    try:
        listed = read(page.url).decode()
        rows = json.loads(re.findall(r'id="data">(.*?)</script>', listed, re.DOTALL)[0])
        assert [row["name"] for row in rows] == [episode.name for episode in data]
        solved = next(row for row in rows if row["result"] == "success")
        frame = read(f"{page.url}frame/{solved['frame']}.png")
        episode = next(one for one in data if one.name == solved["name"])
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(frame))), episode.frame(episode.last))
        assert 'id="graph"' in read(f"{page.url}episode/{solved['name']}").decode()
        for wrong in ("episode/EPISODE-999999", "frame/../../etc/passwd", "frame/%2e%2e.png", "else"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                read(page.url + wrong)
        if shutil.which("chromium"):
            shown = dump_dom(f"{page.url}#result=success", tmp_path)
            assert "2 of 4 episodes" in shown
            cards = re.findall(r'<a class="card"[^>]*>', shown)
            assert sum("hidden" not in card for card in cards) == 2
            played = dump_dom(f"{page.url}episode/{solved['name']}#0rb", tmp_path)
            assert played.count('class="box') == len(episode.tree(episode.steps[0]).nodes) - sum(
                node.box is None for node in episode.tree(episode.steps[0])
            )
    finally:
        page.close()
