"""When the screen has settled: events of change, and the wait for them to stop."""

from __future__ import annotations

import asyncio
import enum
from collections import Counter
from typing import Any, Awaitable, Callable, Hashable, Iterable

from Xlib import display as xdisplay
from Xlib import error as xerror
from Xlib.ext import damage

from sci_gym_vm_agent.damage import Rectangle, reported
from sci_gym_vm_agent.rest import Rest, Unknowable

_REPEATS = 4
_ROUNDS = 8
_CELL_PX = 64
_LOOK_AGAIN_S = 0.0005


class Activity:
    """The changes on the desktop, of pixels and of accessible objects, by place.

    A place that keeps changing (an animation, a blinking caret, a clock) is no news after its fourth time.
    """

    def __init__(self) -> None:
        """Start with no change."""
        self.news_s = self.busy_s = 0.0
        self.news = 0
        self._times: Counter[Hashable] = Counter()
        self._changed = asyncio.Event()

    def begin(self) -> None:
        """Count every place's changes from here."""
        self._times.clear()

    def notice(self, places: Iterable[Hashable] = ()) -> None:
        """Note a change now."""
        self._times.update(places)
        if not places or any(self._times[place] <= _REPEATS for place in places):
            self.news_s = asyncio.get_running_loop().time()
            self.news += 1
        self._changed.set()

    async def next_change(self, timeout_s: float) -> bool:
        """Wait for the next change, at most `timeout_s`; tell whether there was one."""
        self._changed.clear()
        try:
            await asyncio.wait_for(self._changed.wait(), max(timeout_s, 0))
        except asyncio.TimeoutError:
            return False
        return True


def cells(area: Rectangle) -> list[tuple[int, int]]:
    """The squares of a grid that a rectangle touches."""
    x, y, width, height = area
    columns = range(x // _CELL_PX, (x + max(width, 1) - 1) // _CELL_PX + 1)
    rows = range(y // _CELL_PX, (y + max(height, 1) - 1) // _CELL_PX + 1)
    return [(column, row) for column in columns for row in rows]


class DamageWatch:
    """A connection that reports every change of pixels on screen (XDamage on the root window)."""

    def __init__(
        self, name: str, on_damage: Callable[[Rectangle], None], on_lost: Callable[[], None]
    ) -> None:
        """Watch a display; `on_lost` is called once when the X server goes away."""
        self._display = xdisplay.Display(name)
        self._on_damage, self._on_lost = on_damage, on_lost
        self._display.damage_query_version()
        self._damage = self._display.screen().root.damage_create(damage.DamageReportDeltaRectangles)
        self._display.sync()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._display.fileno(), self._read)
        self._loop.call_soon(self._read)  # what came in with the answer to the sync

    def _read(self) -> None:
        try:
            for _ in range(_ROUNDS):
                areas = reported(self._display)
                if not areas:
                    return
                for area in areas:
                    self._on_damage(area)
                # What is reported once is not again until it is subtracted: a flood costs one report a round.
                self._display.damage_subtract(self._damage)
                self._display.flush()  # may take in further reports, of which the socket then says nothing
            self._loop.call_soon(self._read)
        except (xerror.ConnectionClosedError, OSError):
            self._loop.remove_reader(self._display.fileno())
            self._on_lost()


class Outcome(enum.Enum):
    """How the wait for the screen to settle ended."""

    AT_REST = "nothing runs, so nothing will change"
    QUIET = "nothing has changed for a while"
    TOO_LATE = "the deadline came first"


async def wait_until_settled(
    activity: Activity,
    rest: Rest,
    answered: Callable[[], Awaitable[Any]],
    *,
    quiet_s: float,
    deadline_s: float,
    change_s: float = 0.0,
) -> Outcome:
    """Wait until nothing will change on screen for a while.

    That is known when the desktop is at rest (see `rest`) and no main loop will wake up by itself in that
    time. Where something runs on and on, or the kernel does not tell, every program must have answered, and
    for so long nothing must change but what keeps changing.

    Args:
        activity: where changes are noted.
        rest: what tells whether anything runs.
        answered: returns when every program's main loop has answered, and so has seen the input.
        quiet_s: how long nothing may change.
        deadline_s: when to give up.
        change_s: how long to wait for a first change before the quiet time counts.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + deadline_s
    activity.begin()
    if change_s:
        await activity.next_change(min(change_s, deadline_s))
    answer = asyncio.ensure_future(answered())
    try:
        outcome = await _wait_for_quiet(activity, rest, answer, quiet_s, end)
        await asyncio.wait_for(asyncio.shield(answer), max(end - loop.time(), 0))
    except asyncio.TimeoutError:
        return Outcome.TOO_LATE
    finally:
        answer.cancel()
    return outcome


async def _wait_for_quiet(
    activity: Activity, rest: Rest, answer: asyncio.Future[Any], quiet_s: float, end: float
) -> Outcome:
    loop = asyncio.get_running_loop()
    start = loop.time()
    while True:
        looked = loop.time()
        wakes_s = _look(rest)
        if wakes_s is None:
            activity.busy_s = loop.time()
        if wakes_s is not None and wakes_s >= quiet_s:
            return Outcome.AT_REST
        now = loop.time()
        quiet_from = max(activity.news_s, start)
        if answer.done() and now >= quiet_from + quiet_s:
            answer.result()
            return Outcome.QUIET
        if now >= end:
            raise asyncio.TimeoutError
        pause_s = max(_LOOK_AGAIN_S, now - looked)  # so that looking takes half of a processor at most
        await activity.next_change(min(wakes_s or pause_s, end - now))


def _look(rest: Rest) -> float | None:
    try:
        return rest.look()
    except Unknowable:
        return None
