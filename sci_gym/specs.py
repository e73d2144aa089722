"""Frozen data that every layer shares: actions, observations, tasks, evidence, verdicts.

Units: pixels count from the screen's top left corner; times are in seconds (`_s`) unless a name
says otherwise.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Frame = npt.NDArray[np.uint8]
"""Pixels, uint8 `[H, W, 3]`, RGB."""


class Kind(enum.StrEnum):
    """What an action does (the union of pyautogui, computer_13 and ScienceBoard's universal actions)."""

    MOVE_TO = "moveTo"
    MOVE_REL = "moveRel"
    DRAG_TO = "dragTo"
    DRAG_REL = "dragRel"
    CLICK = "click"
    RIGHT_CLICK = "rightClick"
    MIDDLE_CLICK = "middleClick"
    DOUBLE_CLICK = "doubleClick"
    TRIPLE_CLICK = "tripleClick"
    MOUSE_DOWN = "mouseDown"
    MOUSE_UP = "mouseUp"
    SCROLL = "scroll"
    TYPE = "type"
    PRESS = "press"
    KEY_DOWN = "keyDown"
    KEY_UP = "keyUp"
    HOTKEY = "hotkey"
    WAIT = "WAIT"
    CODE = "CODE"
    API = "API"
    ANS = "ANS"
    DONE = "DONE"
    FAIL = "FAIL"


STOP_KINDS = frozenset({Kind.ANS, Kind.DONE, Kind.FAIL})
CLI_KINDS = frozenset({Kind.CODE, Kind.API})
POINT_KINDS = frozenset(
    {
        Kind.MOVE_TO,
        Kind.DRAG_TO,
        Kind.CLICK,
        Kind.RIGHT_CLICK,
        Kind.MIDDLE_CLICK,
        Kind.DOUBLE_CLICK,
        Kind.TRIPLE_CLICK,
        Kind.SCROLL,
    }
)
BUTTONS = ("left", "middle", "right")
LANGUAGES = ("shell", "python", "app")
MODIFIERS = ("ctrl", "alt", "shift", "super")
NAMED_KEYS = (
    "enter", "tab", "esc", "backspace", "delete", "insert", "home", "end", "pageup", "pagedown",
    "up", "down", "left", "right", "space", "menu", "printscreen", "pause", "capslock", "numlock",
    "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12",
)  # fmt: skip
KEYS = (*NAMED_KEYS, *MODIFIERS, *(chr(code) for code in range(0x21, 0x7F) if not chr(code).isupper()))
"""Every key that `press`, `keyDown`, `keyUp` and `hotkey` know: named keys, modifiers, printable ASCII."""

MAX_TEXT_CHARS = 8192


@dataclass(frozen=True, slots=True)
class Action:
    """One action, the readable twin of an element of the action space.

    Attributes:
        kind: what to do; it says which of the other fields count.
        x: column in pixels, of `moveTo`, `dragTo`, the clicks and `scroll`.
        y: row in pixels.
        dx: columns to move by in pixels, of `moveRel` and `dragRel`.
        dy: rows to move by in pixels.
        button: "left", "middle" or "right", of the drags, `mouseDown` and `mouseUp`.
        amount: wheel clicks of `scroll`, up positive.
        amount_x: sideways wheel clicks of `scroll`, right positive.
        key: one of `KEYS`, of `press`, `keyDown`, `keyUp` and `hotkey`.
        modifiers: held while `hotkey` presses `key`; some of `MODIFIERS`.
        text: what to `type`; the source of CODE; the call of API as JSON; the answer of ANS.
        language: of CODE: "shell", "python" or "app" (the program's own command language).
        seconds: the longest that WAIT waits for the screen to change.
    """

    kind: Kind
    x: int = 0
    y: int = 0
    dx: int = 0
    dy: int = 0
    button: str = "left"
    amount: int = 0
    amount_x: int = 0
    key: str = "enter"
    modifiers: tuple[str, ...] = ()
    text: str = ""
    language: str = "shell"
    seconds: float = 1.0

    @classmethod
    def move_to(cls, x: int, y: int) -> Action:
        """Move the pointer to (x, y)."""
        return cls(Kind.MOVE_TO, x=x, y=y)

    @classmethod
    def drag_to(cls, x: int, y: int, button: str = "left") -> Action:
        """Hold a button from where the pointer is to (x, y)."""
        return cls(Kind.DRAG_TO, x=x, y=y, button=button)

    @classmethod
    def click(cls, x: int, y: int) -> Action:
        """Click the left button at (x, y)."""
        return cls(Kind.CLICK, x=x, y=y)

    @classmethod
    def right_click(cls, x: int, y: int) -> Action:
        """Click the right button at (x, y)."""
        return cls(Kind.RIGHT_CLICK, x=x, y=y)

    @classmethod
    def double_click(cls, x: int, y: int) -> Action:
        """Click the left button twice at (x, y)."""
        return cls(Kind.DOUBLE_CLICK, x=x, y=y)

    @classmethod
    def scroll(cls, x: int, y: int, amount: int, amount_x: int = 0) -> Action:
        """Turn the wheel at (x, y): `amount` clicks up, `amount_x` clicks to the right."""
        return cls(Kind.SCROLL, x=x, y=y, amount=amount, amount_x=amount_x)

    @classmethod
    def type(cls, text: str) -> Action:
        """Type a text; a newline is the Return key."""
        return cls(Kind.TYPE, text=text)

    @classmethod
    def press(cls, key: str) -> Action:
        """Press and release one of `KEYS`."""
        return cls(Kind.PRESS, key=key)

    @classmethod
    def hotkey(cls, *keys: str) -> Action:
        """Press a key while modifiers are held: `hotkey("ctrl", "shift", "s")`."""
        return cls(Kind.HOTKEY, key=keys[-1], modifiers=tuple(keys[:-1]))

    @classmethod
    def wait(cls, seconds: float = 1.0) -> Action:
        """Wait until the screen changes and settles again, at most `seconds`."""
        return cls(Kind.WAIT, seconds=seconds)

    @classmethod
    def code(cls, text: str, language: str = "shell") -> Action:
        """Run code in the guest, never on the host."""
        return cls(Kind.CODE, text=text, language=language)

    @classmethod
    def api(cls, text: str) -> Action:
        """Call one of the machine's functions: `{"name": "clipboard.get", "args": {}}`."""
        return cls(Kind.API, text=text)

    @classmethod
    def answer(cls, text: str) -> Action:
        """Give the answer to a question, and end the episode."""
        return cls(Kind.ANS, text=text)

    @classmethod
    def done(cls) -> Action:
        """Say that the task is done, and end the episode."""
        return cls(Kind.DONE)

    @classmethod
    def fail(cls) -> Action:
        """Say that the task cannot be done, and end the episode."""
        return cls(Kind.FAIL)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on screen, in pixels."""

    x: int
    y: int
    width: int
    height: int

    @property
    def center(self) -> tuple[int, int]:
        """The pixel in the middle, as (x, y)."""
        return self.x + self.width // 2, self.y + self.height // 2

    def clip(self, width: int, height: int) -> Box:
        """The part of it that lies on a screen of `width` by `height` pixels (perhaps empty)."""
        left, top = max(self.x, 0), max(self.y, 0)
        right, bottom = min(self.x + self.width, width), min(self.y + self.height, height)
        return Box(left, top, max(right - left, 0), max(bottom - top, 0))


class State(enum.IntEnum):
    """The AT-SPI states that sci_gym names; the numbers are AtspiStateType's."""

    ACTIVE = 1
    CHECKED = 4
    EDITABLE = 7
    ENABLED = 8
    EXPANDABLE = 9
    EXPANDED = 10
    FOCUSABLE = 11
    FOCUSED = 12
    MODAL = 16
    PRESSED = 20
    SELECTABLE = 22
    SELECTED = 23
    SENSITIVE = 24
    SHOWING = 25
    VISIBLE = 30
    CHECKABLE = 41


@dataclass(frozen=True, slots=True)
class A11yNode:
    """One accessible object (AT-SPI 2).

    Attributes:
        index: its place in the tree's depth-first order.
        parent: the parent's index; -1 for an application.
        role: AT-SPI role name, such as "push button".
        name: accessible name.
        text: content of its Text interface.
        description: accessible description.
        value: of its Value interface, else None.
        states: bit n is AtspiStateType n; ask with `has`.
        box: extents on screen, else None.
        program: name of the launched program that owns it; "" for another process.
        cell: (row, column) of a table cell, else None.
    """

    index: int
    parent: int
    role: str
    name: str = ""
    text: str = ""
    description: str = ""
    value: float | None = None
    states: int = 0
    box: Box | None = None
    program: str = ""
    cell: tuple[int, int] | None = None

    def has(self, state: State) -> bool:
        """Whether the node is in a state."""
        return bool(self.states >> state & 1)

    @property
    def showing(self) -> bool:
        """Whether it says of itself that it is on screen, with an area; see `A11yTree.showing`."""
        return (
            self.has(State.SHOWING)
            and self.has(State.VISIBLE)
            and self.box is not None
            and self.box.width > 0
            and self.box.height > 0
        )


@dataclass(frozen=True, slots=True)
class A11yTree:
    """An accessibility tree in depth-first order; `truncated` when the node budget cut it."""

    nodes: tuple[A11yNode, ...] = ()
    truncated: bool = False

    def __iter__(self) -> Iterator[A11yNode]:
        """Walk the nodes, parents before children."""
        return iter(self.nodes)

    def __len__(self) -> int:
        """Count the nodes."""
        return len(self.nodes)

    def children(self, node: A11yNode) -> list[A11yNode]:
        """The node's direct children, in order."""
        return [other for other in self.descendants(node) if other.parent == node.index]

    def descendants(self, node: A11yNode) -> list[A11yNode]:
        """Every node below a node, in depth-first order."""
        inside = {node.index}
        found = []
        for other in self.nodes[node.index + 1 :]:
            if other.parent not in inside:
                break
            inside.add(other.index)
            found.append(other)
        return found

    def of_program(self, program: str) -> A11yTree:
        """The part of the tree that a launched program owns, with its own numbering."""
        kept = [node for node in self.nodes if node.program == program]
        return self.subset(kept)

    def subset(self, kept: Sequence[A11yNode]) -> A11yTree:
        """A tree of some of the nodes; one whose parent is left out hangs below the nearest that is kept."""
        place: dict[int, int] = {-1: -1}
        wanted = {node.index for node in kept}
        nodes: list[A11yNode] = []
        for node in self.nodes:
            above = place[node.parent]
            place[node.index] = above
            if node.index in wanted:
                place[node.index] = len(nodes)
                nodes.append(replace(node, index=len(nodes), parent=above))
        return A11yTree(tuple(nodes), self.truncated)

    @property
    def showing(self) -> A11yTree:
        """What is on screen: the applications, and nodes with an area below parents that show as well.

        Qt calls the items of a hidden list showing, so a node's own states are not enough.
        """
        shown = {-1}
        kept = []
        for node in self.nodes:
            if node.parent in shown and node.has(State.SHOWING) and node.has(State.VISIBLE):
                shown.add(node.index)
                if node.parent == -1 or node.showing:
                    kept.append(node)
        return self.subset(kept)


@dataclass(frozen=True, slots=True)
class Window:
    """A top-level window."""

    id: int
    title: str
    box: Box
    active: bool
    program: str


@dataclass(frozen=True, slots=True)
class Program:
    """A launched program.

    Attributes:
        id: the daemon's number for it.
        name: the app's name for it.
        running: whether its main process lives.
        exit_code: of the main process; negative is the signal that ended it.
        launches: how many launches it took to register with the accessibility bus.
        state: the lines that its start-up module reported, the newest last.
        stderr_tail: the end of what it wrote to stderr.
    """

    id: int
    name: str
    running: bool
    exit_code: int
    launches: int
    state: tuple[str, ...]
    stderr_tail: str


@dataclass(frozen=True, slots=True)
class Observation:
    """What the guest showed at one moment.

    Attributes:
        screenshot: RGB pixels with the pointer drawn, uint8 `[H, W, 3]`.
        tree: every accessible object, hidden widgets included; `tree.showing` is what is on screen.
        cursor: the pointer as (x, y) in pixels.
        windows: top-level windows, bottom to top.
        programs: what was launched, with the state that start-up modules reported.
        files: probed files by path; None where there is none.
        settled: whether the screen came to rest before the deadline.
        consistent: whether pixels and tree are of the same moment.
        output: what CODE or API returned, else "".
    """

    screenshot: Frame
    tree: A11yTree
    cursor: tuple[int, int]
    windows: tuple[Window, ...]
    programs: tuple[Program, ...]
    files: Mapping[str, bytes | None]
    settled: bool
    consistent: bool
    output: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What predicates judge: the programs' state, and how the policy ended the episode.

    Attributes:
        state: app name to that app's state, as its `read_state` gives it; the app documents the keys.
        files: probed files by path; None where there is none.
        stop: how the episode ended: ANS, DONE, FAIL, or None while it runs.
        answer: the text of ANS, else None.
    """

    state: Mapping[str, Mapping[str, Any]]
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    stop: Kind | None = None
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A predicate by name, with arguments: `Check("kalgebra.variable", {"name": "p", "equals": "2*3"})`."""

    predicate: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Node:
    """One subtask of a task graph (OmniBench, section 3).

    Attributes:
        id: unique in the graph.
        goal: the subtask in words.
        after: ids of the subtasks that must be complete before this one is evaluated.
        application: the program it is done in; coherency counts neighbours in the same one.
        checks: all must hold.
    """

    id: str
    goal: str
    after: tuple[str, ...]
    application: str
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class TaskGraph:
    """A directed acyclic graph of subtasks, in the order of the task file."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Verb:
    """A set-up verb of an app, with its arguments: `Verb("kalgebra.tab", {"name": "2D Graph"})`."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OracleStep:
    """One step of an oracle: an action, perhaps at an accessible object that is found when it is played.

    Attributes:
        action: the action; its point is filled in from `target`.
        role: role name of the object to act at, None when the action needs no object.
        name: accessible name of that object, None for any.
        nth: which of the matches in tree order, from 0; negative counts from the last.
    """

    action: Action
    role: str | None = None
    name: str | None = None
    nth: int = 0


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A task with its parameters filled in: data only, nothing in it is ever executed on the host.

    Attributes:
        id: file stem of the template, such as "calculator-sum".
        app: name of the app it belongs to.
        difficulty: "easy", "medium" or "hard".
        instruction: what the policy is told.
        parameters: the values drawn from the seed.
        setup: verbs that prepare the program before the first observation.
        graph: the subtasks; their checks judge the episode.
        infeasible: the right end is FAIL.
        question: the right end is ANS.
        max_steps: the step limit.
        stagnation_steps: truncate after so many steps without a subtask completed (OmniEval); 0 never.
        files: guest files that the checks read, relative to the home.
        oracle: a solution, host side only.
        source: where it came from, for messages.
    """

    id: str
    app: str
    difficulty: str
    instruction: str
    parameters: Mapping[str, Any]
    setup: tuple[Verb, ...]
    graph: TaskGraph
    infeasible: bool
    question: bool
    max_steps: int
    stagnation_steps: int
    files: tuple[str, ...]
    oracle: tuple[OracleStep, ...]
    source: str


class Status(enum.StrEnum):
    """Of a node of a running task graph (OmniEval)."""

    WAITING = "Waiting"
    EVALUATING = "Evaluating"
    COMPLETED = "Completed"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How an episode stands.

    Attributes:
        success: the task is done, and was ended in the right way.
        coverage_rate: depth-weighted share of completed subtasks, 0 to 1 (OmniEval).
        logical_consistency: coherency of the completion order over the best possible, 0 to 1 (OmniEval).
        status: of each node.
        completed: node ids in the order of completion.
    """

    success: bool
    coverage_rate: float
    logical_consistency: float
    status: Mapping[str, Status]
    completed: tuple[str, ...]
