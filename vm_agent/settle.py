"""When the screen has settled: events of change, and the wait for them to stop."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable

from Xlib import display as xdisplay
from Xlib import error as xerror
from Xlib.ext import damage


class Activity:
    """The last change on the desktop, of pixels or of accessible objects."""

    def __init__(self) -> None:
        """Start with no change."""
        self.count = 0
        self.last_s = 0.0
        self._changed = asyncio.Event()

    def notice(self) -> None:
        """Note a change now."""
        self.count += 1
        self.last_s = asyncio.get_running_loop().time()
        self._changed.set()

    async def next_change(self, timeout_s: float) -> bool:
        """Wait for the next change, at most `timeout_s`; tell whether there was one."""
        self._changed.clear()
        try:
            await asyncio.wait_for(self._changed.wait(), max(timeout_s, 0))
        except asyncio.TimeoutError:
            return False
        return True


class DamageWatch:
    """A connection that reports every change of pixels on screen (XDamage on the root window)."""

    def __init__(self, name: str, on_damage: Callable[[], None], on_lost: Callable[[], None]) -> None:
        """Watch a display; `on_lost` is called once when the X server goes away."""
        self._display = xdisplay.Display(name)
        self._on_damage, self._on_lost = on_damage, on_lost
        self._display.damage_query_version()
        self._damage = self._display.screen().root.damage_create(damage.DamageReportNonEmpty)
        self._display.sync()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._display.fileno(), self._read)

    def _read(self) -> None:
        try:
            for _ in range(self._display.pending_events()):
                self._display.next_event()
                self._on_damage()
                # One report until the next subtraction: a flood of changes costs one event a round.
                self._display.damage_subtract(self._damage)
            self._display.flush()
        except (xerror.ConnectionClosedError, OSError):
            self._loop.remove_reader(self._display.fileno())
            self._on_lost()


async def wait_until_settled(
    activity: Activity,
    answered: Callable[[], Awaitable[Any]],
    *,
    quiet_s: float,
    deadline_s: float,
    change_s: float = 0.0,
) -> bool:
    """Wait until programs have answered and nothing has changed for a while.

    Args:
        activity: where changes are noted.
        answered: returns when every program's main loop has answered, and so has seen the input.
        quiet_s: how long nothing must change.
        deadline_s: when to give up.
        change_s: how long to wait for a first change before the quiet time counts.

    Returns:
        Whether it settled; False when the deadline came first.
    """
    loop = asyncio.get_running_loop()
    start = loop.time()
    end = start + deadline_s
    if change_s:
        await activity.next_change(min(change_s, deadline_s))
    try:
        await asyncio.wait_for(answered(), max(end - loop.time(), 0))
    except asyncio.TimeoutError:
        return False
    quiet_from = loop.time()
    while True:
        quiet_from = max(quiet_from, activity.last_s)
        now = loop.time()
        if now >= quiet_from + quiet_s:
            return True
        if now >= end:
            return False
        await activity.next_change(min(quiet_from + quiet_s, end) - now)
