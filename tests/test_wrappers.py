"""The wrappers on a small env that keeps the actions it gets; texts that stand for actions."""

from __future__ import annotations

import base64
import io
import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from sci_gym.errors import ActionError, ConfigurationError, UnknownNameError
from sci_gym.spaces import kinds_for, make_action_space, to_action
from sci_gym.specs import POINT_KINDS, STOP_KINDS, A11yNode, Action, Box, Kind, Status
from sci_gym.wrappers import (
    ChatMessages,
    Computer13Json,
    MarkActions,
    PyAutoGuiText,
    ScreenshotOnly,
    TextActions,
    computer13,
    pyautogui_text,
)

WIDTH, HEIGHT = 200, 100
MARKS = (
    A11yNode(0, -1, "push button", "OK", box=Box(10, 20, 40, 10)),
    A11yNode(1, -1, "entry", "Name", box=Box(100, 50, 21, 11)),
    A11yNode(2, -1, "link", "half off", box=Box(180, 80, 60, 60)),
)
FAULT = {"part": "daemon", "message": "daemon: gone"}
CENTERS = ((30, 25), (110, 55), (190, 90))


DOWN_DOWN_UP_UP = (Kind.KEY_DOWN, Kind.KEY_DOWN, Kind.KEY_UP, Kind.KEY_UP)
KINDS = kinds_for("hybrid")
SPACE = make_action_space(KINDS, WIDTH, HEIGHT)


class Desktop(gym.Env[dict[str, Any], Any]):
    """Keeps the actions it gets; the screen's red counts those that are no WAIT; `fault_at` truncates."""

    def __init__(self, marks: tuple[A11yNode, ...] = MARKS, fault_at: int = 0) -> None:
        self.width, self.height = WIDTH, HEIGHT
        self.observation_space = spaces.Dict({"screenshot": spaces.Box(0, 255, (HEIGHT, WIDTH, 3), np.uint8)})
        self.action_space = make_action_space(KINDS, WIDTH, HEIGHT)
        self.marks, self.fault_at = marks, fault_at
        node = SimpleNamespace(id="sum", goal="the sum is typed", after=(), application="kalgebra")
        self.task = SimpleNamespace(parameters={"terms": [2, 3]}, graph=SimpleNamespace(nodes=(node,)))
        self.acted: list[Action] = []
        self.cursor = (90, 40)

    @property
    def last(self) -> SimpleNamespace:
        screen = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
        screen[..., 0] = sum(action.kind != Kind.WAIT for action in self.acted)
        return SimpleNamespace(screenshot=screen, cursor=self.cursor)

    def to_action(self, action: Any) -> Action:
        return to_action(action, KINDS, self.action_space)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.acted = []
        return {"screenshot": self.last.screenshot}, self._info()

    def step(self, action: Any) -> Any:
        self.acted.append(self.to_action(action))
        if self.acted[-1].kind in POINT_KINDS:
            self.cursor = (self.acted[-1].x, self.acted[-1].y)
        fault = len(self.acted) == self.fault_at
        info = self._info() | ({"infra_error": FAULT} if fault else {})
        return {"screenshot": self.last.screenshot}, 1.0, self.acted[-1].kind in STOP_KINDS, fault, info

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {
            "marks": self.marks,
            "nodes": self.marks,
            "task": "sum",
            "instruction": "Add.",
        }
        info |= {"coverage_rate": 0.5, "logical_consistency": 1.0, "success": False, "output": "out"}
        return info | {"graph": {"a": Status.COMPLETED, "b": Status.WAITING}}


def parse(code: str, **options: Any) -> list[Action]:
    return pyautogui_text.parse(code, WIDTH, HEIGHT, MARKS, **options)


def is_accepted(action: Action) -> bool:
    """Whether the env takes it; what it says about control characters in texts is the env's own affair."""
    try:
        to_action(action, KINDS, SPACE)
    except ActionError as exc:
        return str(exc).startswith("action.text: U+")
    return True


def click(x: int, y: int) -> Action:
    return Action.click(x, y)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("pyautogui.click(5, 7)", [click(5, 7)]),
        ("pyautogui.click(x=5, y=7)", [click(5, 7)]),
        ("pyautogui.click(5.4, 6.6)", [click(5, 7)]),
        ("pyautogui.click((5, 7))", [click(5, 7)]),
        ("pyautogui.click(5, 7, 2)", [Action.double_click(5, 7)]),
        ("pyautogui.click(5, 7, clicks=3)", [Action(Kind.TRIPLE_CLICK, x=5, y=7)]),
        ("pyautogui.click(5, 7, clicks=4)", [click(5, 7)] * 4),
        ("pyautogui.click(5, 7, button='right')", [Action.right_click(5, 7)]),
        ("pyautogui.click(5, 7, clicks=2, button='middle')", [Action(Kind.MIDDLE_CLICK, x=5, y=7)] * 2),
        ("pyautogui.click(5, 7, button=pyautogui.SECONDARY)", [Action.right_click(5, 7)]),
        ("pyautogui.click()", [click(100, 50)]),
        ("pyautogui.doubleClick(5, 7, interval=0.25)", [Action.double_click(5, 7)]),
        ("pyautogui.tripleClick(5, 7)", [Action(Kind.TRIPLE_CLICK, x=5, y=7)]),
        ("pyautogui.rightClick(5, 7)", [Action.right_click(5, 7)]),
        ("pyautogui.middleClick(5, 7)", [Action(Kind.MIDDLE_CLICK, x=5, y=7)]),
        ("pyautogui.moveTo(5, 7, 0.5, pyautogui.easeInQuad)", [Action.move_to(5, 7)]),
        ("pyautogui.moveRel(-5, 7)", [Action(Kind.MOVE_REL, dx=-5, dy=7)]),
        ("pyautogui.move(xOffset=3, yOffset=-900)", [Action(Kind.MOVE_REL, dx=3, dy=1 - HEIGHT)]),
        ("pyautogui.dragTo(5, 7, duration=1, button='right')", [Action.drag_to(5, 7, "right")]),
        ("pyautogui.dragRel(5, None, 1)", [Action(Kind.DRAG_REL, dx=5)]),
        ("pyautogui.drag(5, 7, button='middle')", [Action(Kind.DRAG_REL, dx=5, dy=7, button="middle")]),
        ("pyautogui.mouseDown()", [Action(Kind.MOUSE_DOWN)]),
        ("pyautogui.mouseUp(5, 7, 'right')", [Action.move_to(5, 7), Action(Kind.MOUSE_UP, button="right")]),
        ("pyautogui.scroll(-3, 5, 7)", [Action.scroll(5, 7, -3)]),
        ("pyautogui.scroll(-3, x=5, y=7)", [Action.scroll(5, 7, -3)]),
        ("pyautogui.scroll(-3, tag_2)", [Action.scroll(*CENTERS[1], -3)]),
        ("pyautogui.scroll(-45)", [Action.scroll(100, 50, n) for n in (-20, -20, -5)]),
        ("pyautogui.scroll(1000)", [Action.scroll(100, 50, 20)] * 5),
        ("pyautogui.hscroll(2, 5, 7)", [Action.scroll(5, 7, 0, 2)]),
        ("pyautogui.write('é = 1\\n', interval=0.1)", [Action.type("é = 1\n")]),
        ("pyautogui.write('a\\r\\nb')", [Action.type("a\nb")]),
        ("pyautogui.write('')", [Action.type("")]),
        ("pyautogui.typewrite(['a', 'enter'])", [Action.press("a"), Action.press("enter")]),
        ("pyautogui.write('ab;#')  # a comment", [Action.type("ab;#")]),
        ("pyautogui.press('Return')", [Action.press("enter")]),
        ("pyautogui.press('A')", [Action.hotkey("shift", "a")]),
        ("pyautogui.press(['up', 'pgdn'], presses=2)", [Action.press("up"), Action.press("pagedown")] * 2),
        ("pyautogui.keyDown('winleft')", [Action(Kind.KEY_DOWN, key="super")]),
        ("pyautogui.keyUp('\\t')", [Action(Kind.KEY_UP, key="tab")]),
        ("pyautogui.hotkey('ctrl', 'shift', 'S')", [Action.hotkey("ctrl", "shift", "s")]),
        ("pyautogui.hotkey(['ctrl', 'c'])", [Action.hotkey("ctrl", "c")]),
        (
            "pyautogui.hotkey('a', 'b')",
            [Action(kind, key=key) for kind, key in zip(DOWN_DOWN_UP_UP, "abba", strict=True)],
        ),
        ("pyautogui.hotkey('f5')", [Action.press("f5")]),
        ("time.sleep(2)", [Action.wait(2)]),
        ("time.sleep(1e6)", [Action.wait(60)]),
        ("ANS('42')", [Action.answer("42")]),
        ("WAIT", [Action.wait()]),
        ("DONE", [Action.done()]),
        ("FAIL()", [Action.fail()]),
        ("pyautogui.click(5, 7); DONE", [click(5, 7), Action.done()]),
        ("x, y = tag_1\npyautogui.click(x + 2 * 5, y - 5)", [click(40, 20)]),
        ("pyautogui.click(tag_3[0], tag_3[1])", [click(190, 90)]),
        ("a = b = 9 // 2\npyautogui.click(a, b)", [click(4, 4)]),
        ("import pyautogui\nimport time\npyautogui.FAILSAFE = False\npyautogui.click(1, 2)", [click(1, 2)]),
    ],
)
def test_pyautogui_code_becomes_actions(code: str, expected: list[Action]) -> None:
    assert parse(code) == expected


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("call", ["tag_{}", "*tag_{}", "(tag_{})"])
@pytest.mark.parametrize("coordinates", ["pixel", "relative", "thousand"])
def test_a_tag_is_the_middle_of_the_visible_mark_in_every_unit(
    number: int, call: str, coordinates: str
) -> None:
    actions = parse(f"pyautogui.click({call.format(number)})", coordinates=coordinates)
    assert actions == [click(*CENTERS[number - 1])]


@pytest.mark.parametrize(
    ("coordinates", "x", "y", "pixel"),
    [
        ("relative", "0.25", "0.5", (50, 50)),
        ("relative", "1", "1.0", (199, 99)),
        ("thousand", "250", "500", (50, 50)),
        ("thousand", "1000", "1000", (199, 99)),
        ("pixel", "199", "99", (199, 99)),
    ],
)
def test_coordinates_are_taken_in_their_unit(
    coordinates: str, x: str, y: str, pixel: tuple[int, int]
) -> None:
    assert parse(f"pyautogui.click({x}, {y})", coordinates=coordinates) == [click(*pixel)]


def test_relative_offsets_are_shares_of_the_screen() -> None:
    assert parse("pyautogui.moveRel(-0.5, 0.25)", coordinates="relative") == [
        Action(Kind.MOVE_REL, dx=-100, dy=25)
    ]


def test_the_pointer_is_followed_through_a_text() -> None:
    code = "pyautogui.moveTo(5, 7); pyautogui.moveRel(10, -50); pyautogui.click(); pyautogui.scroll(1)"
    assert parse(code)[2:] == [click(15, 0), Action.scroll(15, 0, 1)]
    assert parse("pyautogui.click()", pointer=(3, 4)) == [click(3, 4)]


@pytest.mark.parametrize(
    "reply",
    [
        "I will click OK.\n```python\nimport pyautogui\npyautogui.click(5, 7)\nDONE\n```\nThat is all.",
        "```\n    pyautogui.click(5, 7)\n    DONE\n```",
        "```py\npyautogui.click(5, 7)\n```\nand then\n```DONE```",
        "```python\npyautogui.click(5, 7)\r\nDONE",
    ],
)
def test_the_code_of_a_reply_is_what_its_fences_hold(reply: str) -> None:
    assert parse(reply) == [click(5, 7), Action.done()]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "pyautogui.click(5, 7)\npyautogui.klick(1, 2)",
            r"line 2: `pyautogui.klick\(1, 2\)`.*pyautogui.click",
        ),
        ("pyautogui.click(200, 7)", r"line 1: `pyautogui.click\(200, 7\)`: x = 200 .* 0 to 199"),
        ("pyautogui.click(5, -1)", "y = -1 is off the screen"),
        ("pyautogui.click(5)", "y must be a number, not None"),
        ("pyautogui.click('ok.png')", "x must be a number, not 'ok.png'"),
        ("pyautogui.click(True, 1)", "x must be a number, not True"),
        ("pyautogui.click(1e400, 1)", "numbers may be from"),
        ("pyautogui.click(tag_4)", "no mark 4: this screen has 3 marks"),
        ("pyautogui.click(tag_0)", "no mark 0"),
        ("pyautogui.click(1, 2, x=3)", "x is unknown or given twice"),
        ("pyautogui.click(1, 2, colour=3)", "colour is unknown or given twice"),
        ("pyautogui.click(**here)", r"\*\* is unknown"),
        ("pyautogui.click(1, 2, clicks=0)", "clicks must be a whole number from 1 to 100"),
        ("pyautogui.click(1, 2, button='side')", "button must be one of left, middle, right, not 'side'"),
        ("pyautogui.press('hyper')", "unknown key 'hyper'; known are enter"),
        ("pyautogui.press(3)", "a key must be a text, not 3"),
        ("pyautogui.hotkey()", "at least one key"),
        ("pyautogui.write(3)", "must be a text, not 3"),
        ("pyautogui.click(x, y)", "'x' has no value"),
        ("x, y = 1, 2, 3", "3 values for 2 names"),
        ("pyautogui.click(1 / 0, 1)", "division by zero"),
        ("pyautogui.click(2 ** 3, 1)", "values may be numbers"),
        ("x = 99999\n" + "x = x * x\n" * 40, "line 2: .*numbers may be from"),
        ("x = [1, 2, 3, 4]\n" + "x = [*x, *x]\n" * 40, "a list has at most"),
        ("pyautogui.press('a', presses=100)\n" * 3, "line 3: .*more than 256 actions"),
        ("for i in range(3): pyautogui.press('a')", "neither a call nor"),
        ("import os", "neither a call nor"),
        ("I would click there.", "line 1: .*not Python"),
        ("pyautogui.click(1, 2", "not Python"),
        ("", "there is no action in ''"),
        ("# only a comment", "there is no action"),
        ("x" * 70_000, "at most 65536 are read"),
        ("-" * 5000 + "1", "line 1"),
        ("1" + "+1" * 20_000, "line 1"),
        ("pyautogui.click(0" + "+0" * 900 + ", 0)", "line 1: .*recursion"),
        ("\0", "not Python"),
        ("'\ud800'", "line 1"),
    ],
)
def test_other_code_is_refused_with_its_line_and_what_is_allowed(code: str, message: str) -> None:
    with pytest.raises(ActionError, match=message):
        parse(code)


def test_code_is_never_executed(tmp_path: Path) -> None:
    target = tmp_path / "made"
    for call in (
        f"__import__('os').mkdir({str(target)!r})",
        f"open({str(target)!r}, 'w')",
        f"pyautogui.write(open({str(target)!r}, 'w'))",
        f"pyautogui.write(f'{{open({str(target)!r}, \"w\")}}')",
        f"x = [open(p, 'w') for p in [{str(target)!r}]]",
        f"pyautogui.click(x=(lambda: open({str(target)!r}, 'w'))(), y=1)",
        f"pyautogui.screenshot({str(target)!r})",
        "pyautogui.click.__globals__['x'](1)",
    ):
        with pytest.raises(ActionError):
            parse(f"pyautogui.click(1, 2)\n{call}")
    assert not target.exists()


PIECES = st.one_of(
    st.sampled_from(
        ["pyautogui.", "click", "press", "hotkey", "write", "scroll", "tag_1", "tag_99", "x", "y"]
    ),
    st.sampled_from(["x=", "clicks=", "button=", "'a'", "'ctrl'", "1", "0.5", "1e308", "-3", "None", "True"]),
    st.sampled_from(
        ["lambda", "for", "in", "if", "await", "yield", ":=", "f'{x}'", "...", "\0", "é", "@", "#"]
    ),
    st.sampled_from(["WAIT", "DONE", "ANS", "time.sleep", "```", "python", "\n", "\t", "\\", "'", '"', " "]),
    st.sampled_from(["pyautogui.click(1,2)", "pyautogui.press(", *"()[]{},;=+-*/%:", "**"]),
)


@settings(max_examples=400, deadline=None)
@given(
    st.one_of(
        st.text(), st.lists(PIECES, max_size=20).map("".join), st.lists(PIECES, max_size=12).map(" ".join)
    )
)
def test_any_text_gives_actions_on_the_screen_or_an_action_error(code: str) -> None:
    try:
        actions = parse(code)
    except ActionError:
        return
    assert actions
    assert all(is_accepted(action) for action in actions)


def computer13_parse(source: Any, **options: Any) -> list[Action]:
    return computer13.parse(source, WIDTH, HEIGHT, **options)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"action_type": "MOVE_TO", "parameters": {"x": 5, "y": 7}}, [Action.move_to(5, 7)]),
        ({"action_type": "CLICK"}, [click(100, 50)]),
        ({"action_type": "CLICK", "x": 5, "y": 7.2}, [click(5, 7)]),
        (
            {"action_type": "CLICK", "parameters": {"x": 5, "y": 7, "button": "right", "num_clicks": 2}},
            [Action.right_click(5, 7)] * 2,
        ),
        ({"action_type": "CLICK", "x": 5, "y": 7, "num_clicks": 2}, [Action.double_click(5, 7)]),
        ({"action_type": "MOUSE_DOWN"}, [Action(Kind.MOUSE_DOWN)]),
        ({"action_type": "MOUSE_UP", "button": "middle"}, [Action(Kind.MOUSE_UP, button="middle")]),
        ({"action_type": "RIGHT_CLICK", "x": 5, "y": 7}, [Action.right_click(5, 7)]),
        ({"action_type": "DOUBLE_CLICK", "x": 5, "y": 7}, [Action.double_click(5, 7)]),
        ({"action_type": "DRAG_TO", "x": 5, "y": 7}, [Action.drag_to(5, 7)]),
        (
            {"action_type": "SCROLL", "dx": 1, "dy": -22},
            [Action.scroll(100, 50, -20, 1), Action.scroll(100, 50, -2)],
        ),
        ({"action_type": "TYPING", "parameters": {"text": "hé"}}, [Action.type("hé")]),
        ({"action_type": "PRESS", "key": "escape"}, [Action.press("esc")]),
        ({"action_type": "KEY_DOWN", "key": "shift"}, [Action(Kind.KEY_DOWN, key="shift")]),
        ({"action_type": "KEY_UP", "key": "shift"}, [Action(Kind.KEY_UP, key="shift")]),
        ({"action_type": "HOTKEY", "parameters": {"keys": ["ctrl", "c"]}}, [Action.hotkey("ctrl", "c")]),
        ({"action_type": "WAIT"}, [Action.wait()]),
        ({"action_type": "FAIL", "parameters": {}}, [Action.fail()]),
        ("DONE", [Action.done()]),
        ('```json\n{"action_type": "PRESS", "key": "a"}\n```', [Action.press("a")]),
        (
            '[{"action_type": "PRESS", "key": "a"}, {"action_type": "DONE"}]',
            [Action.press("a"), Action.done()],
        ),
        ('```{"action_type": "PRESS", "key": "a"}``` then ```DONE```', [Action.press("a"), Action.done()]),
        (
            [{"action_type": "MOVE_TO", "x": 5, "y": 7}, {"action_type": "SCROLL", "dy": 3}],
            [Action.move_to(5, 7), Action.scroll(5, 7, 3)],
        ),
    ],
)
def test_computer13_becomes_actions(source: Any, expected: list[Action]) -> None:
    assert computer13_parse(source) == expected


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"action_type": "CLICK", "parameters": {"x": "left", "y": 7}}, r"CLICK\.x: "),
        ({"action_type": "CLICK", "x": 5, "y": 7, "num_clicks": 9}, r"CLICK\.num_clicks: "),
        ({"action_type": "CLICK", "x": 5, "y": 7, "colour": 9}, r"CLICK\.colour: "),
        ({"action_type": "CLICK", "x": 500, "y": 7}, "x = 500 is off the screen"),
        ({"action_type": "CLICK", "x": 5}, "y must be a number"),
        ({"action_type": "MOVE_TO", "x": 5}, r"MOVE_TO\.y: Field required"),
        ({"action_type": "TYPING"}, r"TYPING\.text: Field required"),
        ({"action_type": "HOTKEY", "keys": "ctrl+c"}, r"HOTKEY\.keys: "),
        ({"action_type": "PRESS", "key": "hyper"}, "unknown key 'hyper'"),
        ({"action_type": "JUMP"}, "JUMP.*CLICK"),
        ({"x": 5}, "action_type"),
        ({"action_type": "CLICK", "parameters": [1]}, "parameters: must be an object"),
        ("[]", "no action"),
        ("", "no action"),
        ("click there", "not JSON"),
        ('{"action_type": "CLICK", "x": NaN, "y": 1}', "x must be a number"),
        ("[" * 60_000, "not JSON"),
        ("5", "`5`"),
    ],
)
def test_other_json_is_refused_with_the_field(source: Any, message: str) -> None:
    with pytest.raises(ActionError, match=message):
        computer13_parse(source)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.text(),
        JSON,
        st.fixed_dictionaries(
            {"action_type": st.sampled_from(["CLICK", "SCROLL", "TYPING", "HOTKEY"])},
            optional={"x": JSON, "y": JSON, "dx": JSON, "keys": JSON, "text": JSON, "parameters": JSON},
        ),
    )
)
def test_any_json_gives_actions_on_the_screen_or_an_action_error(source: Any) -> None:
    try:
        actions = computer13_parse(source)
    except ActionError:
        return
    assert all(is_accepted(action) for action in actions)


def test_a_text_of_several_calls_is_several_steps() -> None:
    desktop = Desktop()
    env = PyAutoGuiText(desktop)
    env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(
        "pyautogui.click(tag_1)\npyautogui.write('a')"
    )
    assert desktop.acted == [click(30, 25), Action.type("a")]
    assert observation["screenshot"][0, 0, 0] == 2, "the observation is that of the last step"
    assert (reward, terminated, truncated) == (2.0, False, False)
    assert info["actions"] == tuple(desktop.acted)


@pytest.mark.parametrize(("fault_at", "ends"), [(0, (True, False)), (1, (False, True))])
def test_a_text_stops_where_the_episode_ends(fault_at: int, ends: tuple[bool, bool]) -> None:
    desktop = Desktop(fault_at=fault_at)
    env = PyAutoGuiText(desktop)
    env.reset()
    _, reward, *ended, info = env.step("DONE; pyautogui.click(1, 2)" if not fault_at else "WAIT; WAIT; WAIT")
    assert (tuple(ended), reward, len(desktop.acted), len(info["actions"])) == ((*ends,), 1.0, 1, 1)


def test_an_unreadable_text_performs_nothing() -> None:
    desktop = Desktop()
    env = PyAutoGuiText(desktop)
    env.reset()
    with pytest.raises(ActionError, match="line 2"):
        env.step("pyautogui.click(1, 2)\npyautogui.click(900, 2)")
    assert desktop.acted == []


def test_a_text_with_an_action_that_the_env_refuses_performs_nothing() -> None:
    desktop = Desktop()
    env = PyAutoGuiText(desktop)
    env.reset()
    with pytest.raises(ActionError, match=r"U\+0007"):
        env.step("pyautogui.click(1, 2)\npyautogui.write('bell \\a')")
    assert desktop.acted == []


def test_calls_without_a_point_act_where_the_pointer_is() -> None:
    desktop = Desktop()
    for env in (PyAutoGuiText(desktop), Computer13Json(desktop)):
        desktop.cursor = (90, 40)
        env.reset()
        scroll, move = (
            ("pyautogui.scroll(2)", "pyautogui.moveTo(5, 7)")
            if isinstance(env, PyAutoGuiText)
            else ({"action_type": "SCROLL", "dy": 2}, {"action_type": "MOVE_TO", "x": 5, "y": 7})
        )
        for action in (scroll, move, scroll):
            env.step(action)
        assert desktop.acted == [Action.scroll(90, 40, 2), Action.move_to(5, 7), Action.scroll(5, 7, 2)]


def test_text_wrappers_take_text_and_refuse_unknown_units() -> None:
    for wrapper in (PyAutoGuiText, Computer13Json):
        env: TextActions = wrapper(Desktop(), coordinates="thousand")
        assert "pyautogui.write('数学')" in env.action_space
        assert 3 not in env.action_space
        assert isinstance(env.action_space.sample(), str)
        with pytest.raises(UnknownNameError, match="Did you mean 'pixel'"):
            wrapper(Desktop(), coordinates="pixels")


def test_computer13_steps_with_an_object_and_with_text() -> None:
    desktop = Desktop()
    env = Computer13Json(desktop, coordinates="relative")
    env.reset()
    env.step({"action_type": "CLICK", "parameters": {"x": 0.5, "y": 0.5}})
    *_, terminated, _, _ = env.step('{"action_type": "DONE"}')
    assert desktop.acted == [click(100, 50), Action.done()]
    assert terminated


def test_mark_numbers_click_marks_then_type_press_and_stop() -> None:
    desktop = Desktop()
    env = MarkActions(desktop, max_marks=5, texts=("2+2",), keys=("enter",), stops=("DONE", "FAIL"))
    env.reset()
    assert env.action_space == spaces.Discrete(9)
    assert env.action_masks().tolist() == [True] * 3 + [False] * 2 + [True] * 4
    for number in (0, np.int64(2), 5, 6):
        assert env.step(number)[-1]["invalid_mark"] is False
    assert env.step(7)[2], "DONE ends the episode"
    assert desktop.acted == [
        click(*CENTERS[0]), click(*CENTERS[2]), Action.type("2+2"), Action.press("enter"), Action.done()
    ]  # fmt: skip
    assert env.action(8) == Action.fail()
    assert env.get_wrapper_attr("action_masks")().shape == (9,)


def test_a_number_without_a_mark_does_nothing_and_says_so() -> None:
    off_screen = A11yNode(3, -1, "link", "off", box=Box(WIDTH + 5, 5, 10, 10))
    desktop = Desktop(marks=(*MARKS, off_screen, A11yNode(4, -1, "link", "boxless")))
    env = MarkActions(desktop, max_marks=6)
    env.reset()
    assert env.action_masks().tolist() == [True, True, True, False, False, False, True]
    for number in (3, 4, 5):
        assert env.step(number)[-1]["invalid_mark"] is True
    assert desktop.acted == [Action(Kind.MOVE_REL, dx=0, dy=0)] * 3


def test_mark_numbers_follow_the_newest_marks() -> None:
    desktop = Desktop()
    env = MarkActions(desktop, max_marks=3)
    env.reset()
    desktop.marks = (MARKS[1],)
    env.step(0)
    env.step(0)
    assert desktop.acted == [click(*CENTERS[0]), click(*CENTERS[1])]
    assert env.action_masks().tolist() == [True, False, False, True]


def test_mark_actions_refuse_what_is_outside() -> None:
    env = MarkActions(Desktop(), max_marks=3)
    env.reset()
    with pytest.raises(ActionError, match="action 4 is outside Discrete"):
        env.step(4)
    with pytest.raises(ConfigurationError, match="some of"):
        MarkActions(Desktop(), stops=("STOP",))
    with pytest.raises(ActionError, match="unknown key 'hyper'"):
        MarkActions(Desktop(), keys=("hyper",))


def test_the_screenshot_is_scaled_to_fit_and_padded() -> None:
    env = ScreenshotOnly(Desktop(), size=(64, 64))
    env.reset()
    image, *_ = env.step(Action.press("a"))
    assert env.observation_space.contains(image)
    assert (image[:32, :, 0] == 1).all(), "the screen keeps its 2:1 shape"
    assert (image[32:] == 0).all(), "the rest is black"
    assert np.array_equal(image, env.observation({"screenshot": env.unwrapped.last.screenshot}))


def test_bicubic_scaling_is_pillows() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    image = ScreenshotOnly(Desktop(), size=(100, 60)).observation({"screenshot": pixels})
    expected = Image.fromarray(pixels).resize((100, 50), Image.Resampling.BICUBIC)
    assert np.array_equal(image[:50], np.asarray(expected))


@settings(max_examples=100, deadline=None)
@given(st.integers(8, 400), st.integers(8, 400), st.integers(0, WIDTH - 1), st.integers(0, HEIGHT - 1))
def test_a_point_of_the_image_maps_back_to_what_it_shows(wide: int, high: int, x: int, y: int) -> None:
    """A lit pixel, drawn large enough to survive, is found on the image and maps back onto itself."""
    env = ScreenshotOnly(Desktop(), size=(wide, high), resample="nearest")
    reach = math.ceil(max(1, WIDTH / wide, HEIGHT / high))
    screen = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    screen[max(0, y - reach) : y + reach + 1, max(0, x - reach) : x + reach + 1] = 255
    lit = np.argwhere(env.observation({"screenshot": screen})[..., 0])
    for row, column in lit:
        back_x, back_y = env.to_screen(int(column), int(row))
        assert abs(back_x - x) <= reach + 1
        assert abs(back_y - y) <= reach + 1
    assert len(lit)


def test_points_in_the_padding_map_to_the_nearest_pixel() -> None:
    env = ScreenshotOnly(Desktop(), size=(64, 64))
    assert env.to_screen(0, 63) == (1, HEIGHT - 1)
    assert env.to_screen(500, -5) == (WIDTH - 1, 0)


def test_screenshot_only_refuses_what_it_cannot_scale() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'bicubic'"):
        ScreenshotOnly(Desktop(), resample="bicubc")
    with pytest.raises(ConfigurationError, match="no screenshot"):
        ScreenshotOnly(ScreenshotOnly(Desktop()))


def pictures(messages: list[dict[str, Any]]) -> list[bool]:
    return [len(message["content"]) == 2 for message in messages if message["role"] == "user"]


def test_a_chat_holds_instruction_pictures_replies_and_outcomes() -> None:
    env = ChatMessages(PyAutoGuiText(Desktop()), system="Be brief.")
    env.reset()
    env.step_text("pyautogui.click(1, 2)")
    system, _first, reply, last = env.messages()
    assert system == {"role": "system", "content": "Be brief.\n\nTask: Add."}
    assert reply == {"role": "assistant", "content": "pyautogui.click(1, 2)"}
    text, image = last["content"]
    assert text == {"type": "text", "text": "Output:\nout"}
    data = image["image_url"]["url"].removeprefix("data:image/png;base64,")
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))
    assert pixels.shape == (HEIGHT, WIDTH, 3)
    assert pixels[0, 0].tolist() == [1, 0, 0], "the picture is the screen after the click"
    json.dumps(env.messages())


@pytest.mark.parametrize(
    ("images", "kept"), [(0, [0, 0, 0, 0]), (1, [0, 0, 0, 1]), (2, [0, 0, 1, 1]), (9, [1] * 4)]
)
def test_a_chat_keeps_the_newest_images(images: int, kept: list[int]) -> None:
    env = ChatMessages(PyAutoGuiText(Desktop()), images=images)
    env.reset()
    for _ in range(3):
        env.step("WAIT")
    assert pictures(env.messages()) == [bool(one) for one in kept]


def test_a_chat_keeps_the_newest_turns_and_always_the_task() -> None:
    env = ChatMessages(PyAutoGuiText(Desktop()), history=1)
    env.reset()
    for key in "abc":
        env.step(f"pyautogui.press('{key}')")
    messages = env.messages()
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[2]["content"] == "pyautogui.press('c')"
    assert messages[0]["content"].endswith("Task: Add.")
    env.reset()
    assert len(env.messages()) == 2, "a reset begins a new conversation"


def test_a_chat_answers_unreadable_replies_and_gives_up_after_some() -> None:
    desktop = Desktop()
    env = ChatMessages(PyAutoGuiText(desktop), max_errors=2)
    first, _ = env.reset()
    observation, reward, terminated, truncated, info = env.step_text("Let me think.")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert observation is first
    assert "not Python" in info["action_error"]
    assert "not Python" in env.messages()[-1]["content"][0]["text"]
    assert pictures(env.messages()) == [True, False], "the picture of the unchanged screen stays"
    *_, truncated, _ = env.step_text("WAIT")
    assert not truncated
    assert not env.step_text("Hm.")[3], "a readable reply resets the count"
    assert env.step_text("Hm.")[3]
    assert desktop.acted == [Action.wait()]
    with pytest.raises(ActionError):
        env.step("Hm.")


def test_a_chat_tells_of_a_fault() -> None:
    env = ChatMessages(PyAutoGuiText(Desktop(fault_at=1)))
    env.reset()
    assert env.step_text("WAIT")[3]
    assert "Machine fault:\ndaemon: gone" in env.messages()[-1]["content"][0]["text"]


def test_stepping_before_reset_is_said_clearly() -> None:
    desktop = Desktop()
    with pytest.raises(gym.error.ResetNeeded, match="reset"):
        ChatMessages(PyAutoGuiText(desktop)).step_text("WAIT")
    assert desktop.acted == []


def test_a_wrapped_env_is_made_again_from_its_spec() -> None:
    gym.register("WrappedDesktop-v0", entry_point=Desktop, order_enforce=False, disable_env_checker=True)
    try:
        env = ChatMessages(PyAutoGuiText(gym.make("WrappedDesktop-v0"), coordinates="relative"), images=3)
        again = gym.make(env.spec)
        again.reset()
        again.step("pyautogui.click(0.5, 0.5)")
        assert isinstance(again, ChatMessages)
        assert again.unwrapped.acted == [click(100, 50)]
    finally:
        gym.registry.pop("WrappedDesktop-v0")
