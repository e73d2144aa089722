"""Replay pages: complete in themselves, safe against what was typed, true to the recording."""

from __future__ import annotations

import base64
import html
import io
import json
import re
import shutil
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from sci_gym.data.objects import ObjectStore, pack_frame, pack_tree
from sci_gym.data.recorder import OBJECTS
from sci_gym.drawing import describe_action, mark_action
from sci_gym.errors import ConfigurationError
from sci_gym.layout import NODE_PX, layout_graph
from sci_gym.replay import write_replay
from sci_gym.specs import A11yNode, A11yTree, Action, Box, Frame
from tests.pages import dump_dom

GRAPH = [
    {"id": "define", "goal": "Define p & q", "after": [], "application": "kalgebra"},
    {"id": "use", "goal": "Use p", "after": ["define"], "application": "kalgebra"},
    {"id": "plot", "goal": "Plot both", "after": ["use", "define"], "application": "kalgebra"},
]
TREE = A11yTree(
    (A11yNode(0, -1, "application", "sums"), A11yNode(1, 0, "push button", "<OK>", box=Box(5, 6, 7, 8)))
)
LOADING = {"src", "href", "xlink:href", "srcset", "data", "action", "poster", "background"}
WAITING = {"define": "Evaluating", "use": "Waiting", "plot": "Waiting"}
BEGUN = {"define": "Completed", "use": "Evaluating", "plot": "Waiting"}


def picture(shade: int) -> Frame:
    pixels = np.full((90, 160, 3), shade, np.uint8)
    pixels[10:20, 10:20] = (shade, 255, 0)
    return pixels


def step(action: dict[str, Any] | None = None, shade: int = 0, **more: Any) -> dict[str, Any]:
    line = {"action": action, "shade": shade, "reward": 0.0, "terminated": False, "truncated": False}
    line |= {"success": False, "logical_consistency": 1.0, "pointer": [0, 0], "time_s": 0.0}
    return {**line, "infra_error": None, "coverage_rate": 0.0, "graph": WAITING, "marks": [1], **more}


def record(folder: Path, steps: Sequence[dict[str, Any]], **meta: Any) -> Path:
    """An episode as a recorder leaves it; `shade` of a step is that of its screen."""
    folder.mkdir(parents=True)
    objects = ObjectStore(folder.parent / OBJECTS)
    lines = []
    for number, line in enumerate(steps):
        names = {
            "frame": objects.put(pack_frame(picture(line["shade"]))),
            "tree": objects.put(pack_tree(TREE)),
        }
        lines.append(json.dumps({"step": number, **line, **names}) + "\n")
    about = {"env_id": "SciBoard-KAlgebra-v0", "app": "kalgebra", "task": "sum", "instruction": "Add."}
    about |= {"parameters": {}, "graph": GRAPH, "max_steps": 9, "versions": {}, "started_unix_s": 0.0}
    about |= {"options": {"width": 160, "height": 90}}
    (folder / "meta.json").write_text(json.dumps({**about, **meta}))
    (folder / "steps.jsonl").write_text("".join(lines))
    return folder


def replay(episode: Path) -> str:
    target = episode / "replay.html"
    assert write_replay(episode, target) == target
    return target.read_text(encoding="utf-8")


def data_of(page: str) -> dict[str, Any]:
    blocks = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert len(blocks) == 1
    data: dict[str, Any] = json.loads(blocks[0])
    return data


class Markup(HTMLParser):
    """The tags of a page, and what a browser would load for it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.loads: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.loads += [f"{tag} {name}={value}" for name, value in attrs if name in LOADING]


def test_page_refers_to_nothing_outside_itself(tmp_path: Path) -> None:
    page = replay(record(tmp_path / "e", [step(), step({"kind": "click", "x": 3, "y": 4})]))
    markup = Markup(page)
    assert markup.loads == []
    assert not markup.tags & {"link", "iframe", "object", "embed", "base"}
    assert not re.search(r"https?://|@import|\bimport\b|fetch\(|XMLHttpRequest|WebSocket|url\((?!#)", page)
    assert "default-src 'none'; img-src data:;" in page


def test_each_distinct_frame_is_embedded_once_and_exactly(tmp_path: Path) -> None:
    page = replay(record(tmp_path / "e", [step(shade=shade) for shade in (9, 200, 9)]))
    data = data_of(page)
    assert [line["frame"] for line in data["steps"]] == [0, 1, 0]
    assert page.count("data:image/") == len(data["frames"]) == 2
    for url, shade in zip(data["frames"], (9, 200), strict=True):
        shown = Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
        assert np.array_equal(np.asarray(shown.convert("RGB")), picture(shade))


def test_the_tree_is_drawn_with_its_marks(tmp_path: Path) -> None:
    data = data_of(replay(record(tmp_path / "e", [step(), step({"kind": "WAIT"})])))
    assert [line["tree"] for line in data["steps"]] == [0, 0]
    assert data["trees"] == [[[5, 6, 7, 8, 1, "push button", "<OK>", ""]]]


def test_typed_text_cannot_leave_the_script(tmp_path: Path) -> None:
    hostile = "</script><script>alert(1)</script><!--"
    plain = replay(record(tmp_path / "a", [step(), step({"kind": "type", "text": "x"})]))
    page = replay(
        record(
            tmp_path / "b",
            [step(), step({"kind": "type", "text": hostile})],
            task=hostile,
            instruction=hostile,
        )
    )
    assert page.count("</script>") == plain.count("</script>")
    assert page.count("<script") == plain.count("<script")
    assert data_of(page)["steps"][1]["caption"] == f"type {hostile}"
    assert html.escape(hostile) in page


def test_steps_carry_what_was_recorded(tmp_path: Path) -> None:
    lines = [
        step(),
        step({"kind": "click", "x": 3, "y": 4}, reward=0.25, coverage_rate=0.25, graph=BEGUN),
        step({"kind": "DONE"}, terminated=True, success=True, coverage_rate=1.0, reward=0.75),
    ]
    page = replay(record(tmp_path / "e", lines))
    first, second, _ = data_of(page)["steps"]
    assert (first["caption"], first["mark"], first["graph"]) == ("reset", None, WAITING)
    assert (second["caption"], second["reward"], second["graph"]) == ("click 3, 4", 0.25, BEGUN)
    assert second["mark"]["at"] == [3, 4]
    assert '<li class="success">success</li>' in page
    assert "<span>reward</span> 1.00" in page


def test_fault_is_shown_and_not_scored(tmp_path: Path) -> None:
    fault = {"part": "daemon", "message": "daemon: is gone"}
    lines = [step(reward=0.5), step({"kind": "WAIT"}, truncated=True, infra_error=fault, reward=0.25)]
    page = replay(record(tmp_path / "e", lines))
    assert data_of(page)["steps"][1]["fault"] == "daemon: is gone"
    assert '<li class="failure">not scored: infrastructure fault</li>' in page
    assert "<span>reward</span> 0.50" in page


def test_half_last_line_is_left_out_and_the_episode_unfinished(tmp_path: Path) -> None:
    episode = record(tmp_path / "e", [step(), step({"kind": "WAIT"})])
    with (episode / "steps.jsonl").open("a") as file:
        file.write('{"action": {"kind": "cli')
    page = replay(episode)
    assert len(data_of(page)["steps"]) == 2
    assert "unfinished" in page


def test_episode_without_graph_still_plays(tmp_path: Path) -> None:
    assert 'id="graph"' not in replay(record(tmp_path / "e", [step()], graph=[]))


def test_broken_episodes_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="nowhere"):
        write_replay(tmp_path / "nowhere", tmp_path / "x.html")
    with pytest.raises(ConfigurationError, match="no step"):
        write_replay(record(tmp_path / "a", []), tmp_path / "x.html")
    outside = record(tmp_path / "b", [step()])
    lines = (outside / "steps.jsonl").read_text()
    (outside / "steps.jsonl").write_text(re.sub(r'"frame": "\w+"', '"frame": "../../outside"', lines))
    with pytest.raises(ConfigurationError, match="frame"):
        write_replay(outside, tmp_path / "x.html")
    with pytest.raises(ConfigurationError, match=r"steps\.jsonl:1"):
        write_replay(record(tmp_path / "c", [step({"kind": "dance"})]), tmp_path / "x.html")


def test_pointer_is_followed_from_action_to_action() -> None:
    _, pointer = mark_action(Action.move_to(10, 20), None)
    mark, pointer = mark_action(Action.type("a"), pointer)
    assert mark["words"] == "type a"
    mark, pointer = mark_action(Action.drag_to(50, 60), pointer)
    assert (mark["arrow"], mark["solid"], pointer) == ([10, 20, 50, 60], True, (50, 60))
    mark, _ = mark_action(Action.scroll(5, 100, -2), pointer)
    assert mark["arrow"][3] > mark["arrow"][1] == 100, "a turn downwards points down"


def test_actions_in_words() -> None:
    assert describe_action(Action.hotkey("ctrl", "shift", "s")) == "hotkey ctrl+shift+s"
    assert describe_action(Action.scroll(5, 6, -2, 1)) == "scroll 5, 6 down 2 right 1"
    assert describe_action(Action.done()) == "DONE"


def test_graph_runs_left_to_right_and_edges_pass_beside_nodes() -> None:
    graph = layout_graph(GRAPH)
    assert graph is not None
    define, use, plot = graph["nodes"]
    assert define["x"] + NODE_PX[0] < use["x"]
    assert use["x"] + NODE_PX[0] < plot["x"]
    assert plot["x"] + NODE_PX[0] <= graph["width"]
    assert len(graph["edges"]) == 3
    bypass = next(edge for edge in graph["edges"] if "H" in edge)
    row = int(re.findall(r"(\d+)H", bypass)[0])
    assert not use["y"] <= row <= use["y"] + NODE_PX[1], (
        "an edge over two layers runs behind the node between"
    )


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium")
def test_nodes_light_up_at_the_current_step(tmp_path: Path) -> None:
    lines = [step(), step({"kind": "click", "x": 3, "y": 4}, graph=BEGUN, coverage_rate=0.2)]
    replay(record(tmp_path / "e", lines))
    for place, statuses in (("1", WAITING), ("1r", BEGUN)):
        url = f"{(tmp_path / 'e' / 'replay.html').as_uri()}#{place}"
        page = dump_dom(url, tmp_path)
        assert (
            dict(re.findall(r'class="node (?:\w+)" data-id="(\w+)".*?<i>(\w+)</i>', page, re.DOTALL))
            == statuses
        )
        assert page.count('class="halo ring"') == (place == "1"), "the click is drawn on the screen before it"
