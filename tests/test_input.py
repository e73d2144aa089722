"""Input reaches the real program as a person's would."""

from __future__ import annotations

import numpy as np
import pytest

from sci_gym import codec
from sci_gym.client import VMAgentClient
from sci_gym.errors import ActionError
from sci_gym.specs import A11yNode, Action, Observation, State
from sci_gym_protos import vm_agent_pb2 as pb


def act(client: VMAgentClient, action: Action, cursor: tuple[int, int] = (0, 0)) -> Observation:
    settle = pb.SettlePolicy(quiet_ms=100, deadline_ms=8000)
    request = codec.pack_input(action, cursor, 1280, 800)
    reply = client.step(request, settle, codec.observe_request(), pb.ProbeRequest())
    return codec.unpack_observation(
        reply.observation, client.frame, client.tree, reply.probe, settled=reply.settled
    )


def focused(seen: Observation) -> A11yNode:
    return next(
        node for node in seen.tree if node.role == "text" and node.has(State.FOCUSED) and node.showing
    )


def find(seen: Observation, role: str, name: str) -> A11yNode:
    return next(node for node in seen.tree if (node.role, node.name) == (role, name) and node.showing)


def center(node: A11yNode) -> tuple[int, int]:
    assert node.box is not None
    return node.box.center


@pytest.mark.parametrize(
    "text",
    ["abcXYZ 0123 ~!@#$%^&*()_+{}|:<>?-=[];'", "größe äöü ñ ç €", "αβγ π ∑ √ ≤", "漢字かな", "AaÀàΑαАа"],
)
def test_any_text_types_as_it_is(kalgebra: VMAgentClient, text: str) -> None:
    act(kalgebra, Action.wait())
    assert focused(act(kalgebra, Action.type(text))).text.replace("\u00a0", " ") == text


def test_more_characters_than_there_are_spare_keys(kalgebra: VMAgentClient) -> None:
    text = "".join(chr(0x4E00 + 7 * number) for number in range(200))
    act(kalgebra, Action.wait())
    assert focused(act(kalgebra, Action.type(text))).text == text


def test_clicks_of_two_steps_are_no_double_click(kalgebra: VMAgentClient) -> None:
    act(kalgebra, Action.wait())
    field = focused(act(kalgebra, Action.type("abcdefgh")))
    assert field.box is not None
    at = (field.box.x + 25, field.box.center[1])
    for _ in range(2):
        act(kalgebra, Action.click(*at))
    assert len(focused(act(kalgebra, Action.type("x"))).text) == 9, "nothing was selected"
    act(kalgebra, Action.double_click(*at))
    assert focused(act(kalgebra, Action.type("y"))).text == "y", "a double click selects the word"


def test_a_click_changes_the_tab_and_the_picture(kalgebra: VMAgentClient) -> None:
    before = act(kalgebra, Action.wait())
    after = act(kalgebra, Action.click(*center(find(before, "page tab", "2D Graph"))))
    assert find(after, "page tab list", "2D Graph")
    assert np.mean(before.screenshot != after.screenshot) > 0.02
    assert after.cursor == center(find(before, "page tab", "2D Graph"))


def test_keys_edit_text(kalgebra: VMAgentClient) -> None:
    act(kalgebra, Action.wait())
    act(kalgebra, Action.type("12345"))
    act(kalgebra, Action.press("backspace"))
    act(kalgebra, Action.press("home"))
    act(kalgebra, Action.press("delete"))
    assert focused(act(kalgebra, Action.type("9"))).text == "9234"
    act(kalgebra, Action.hotkey("ctrl", "a"))
    assert focused(act(kalgebra, Action.press("x"))).text == "x"


def test_a_held_modifier_holds_until_it_is_let_go(kalgebra: VMAgentClient) -> None:
    act(kalgebra, Action.wait())
    act(kalgebra, Action.type("abc"))
    act(kalgebra, Action(codec.Kind.KEY_DOWN, key="shift"))
    act(kalgebra, Action.press("home"))
    act(kalgebra, Action(codec.Kind.KEY_UP, key="shift"))
    assert focused(act(kalgebra, Action.type("z"))).text == "z"


def test_clicks_select_words_and_drags_select_spans(kalgebra: VMAgentClient) -> None:
    act(kalgebra, Action.wait())
    line = focused(act(kalgebra, Action.type("alpha")))
    assert line.box is not None
    y = line.box.center[1]
    act(kalgebra, Action.double_click(line.box.x + 12, y))
    assert focused(act(kalgebra, Action.type("b"))).text == "b"
    act(kalgebra, Action.type("eta"))
    start = act(kalgebra, Action.move_to(line.box.x + 300, y)).cursor
    act(kalgebra, Action.drag_to(line.box.x + 2, y), start)
    assert focused(act(kalgebra, Action.type("c"))).text == "c"


def test_relative_moves_stop_at_the_edge(kalgebra: VMAgentClient) -> None:
    seen = act(kalgebra, Action.move_to(1270, 10))
    seen = act(kalgebra, Action(codec.Kind.MOVE_REL, dx=100, dy=-100), seen.cursor)
    assert seen.cursor == (1279, 0)


def test_the_wheel_scrolls(kalgebra: VMAgentClient) -> None:
    seen = act(kalgebra, Action.wait())
    seen = act(kalgebra, Action.click(*center(find(seen, "page tab", "Dictionary"))))
    before = next(node for node in seen.tree if node.role == "list item" and node.name == "abs")
    assert before.box is not None
    seen = act(kalgebra, Action.scroll(*before.box.center, amount=-10))
    after = next(node for node in seen.tree if node.role == "list item" and node.name == "abs")
    assert after.box != before.box


@pytest.mark.parametrize("text", ["\x07", "\ud800"])
def test_what_cannot_be_typed_is_refused(client: VMAgentClient, text: str) -> None:
    with pytest.raises((ActionError, UnicodeEncodeError, ValueError)):
        act(client, Action.type(text))


def test_the_cursor_is_in_the_picture(client: VMAgentClient) -> None:
    first = act(client, Action.move_to(200, 200))
    second = act(client, Action.move_to(600, 500))
    changed = np.argwhere((first.screenshot != second.screenshot).any(axis=2))
    near = [
        (abs(y - 200) < 40 and abs(x - 200) < 40) or (abs(y - 500) < 40 and abs(x - 600) < 40)
        for y, x in changed
    ]
    assert changed.size
    assert all(near)
