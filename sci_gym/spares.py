"""Spares: desktops that stand ready, their programs started, before a reset asks for them.

One background thread of a pool makes them one after the other, and ends used ones, so that neither is on a
reset's path. It starts with the first reset of the process that resets, and ends when there is nothing to do.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import psutil

from sci_gym.machines.base import Machine
from sci_gym.stage import Stage
from sci_gym.stats import Stats

RESERVE_BYTES = 2**30
_CLOSE_S = 15.0
_STOP_AGAIN_S = 0.05


class SparePool:
    """At most `size` spares of one environment; each is used by one episode and then ended.

    A forgotten pool ends what it holds when it is collected and at the interpreter's exit. In a forked
    process it is empty: the spares stay those of the process that made them.
    """

    def __init__(
        self,
        make_stage: Callable[[], Stage],
        size: int,
        stats: Stats,
        *,
        patience_s: float = 30.0,
        reserve_bytes: int = RESERVE_BYTES,
    ) -> None:
        """Plan spares; none is made before `refill`.

        Args:
            make_stage: gives a new stage that is not yet brought up; must not hold on to the pool.
            size: how many to keep ready.
            stats: where they are counted.
            patience_s: how long `take` waits for one in the making.
            reserve_bytes: none is made when less of this host's memory would be left available.
        """
        self._make_shelf = partial(_Shelf, make_stage, size, stats, reserve_bytes)
        self._patience_s = patience_s
        self._shelf: _Shelf | None = None
        self._finalizer: weakref.finalize[Any, SparePool] | None = None

    def take(self) -> Stage | None:
        """Take a spare, or wait for one in the making; None when there is neither.

        One in the making is ahead of a desktop started now, and would share the processor with it.
        """
        return self._here().take(self._patience_s)

    def refill(self, standing: Machine) -> None:
        """Begin to make what is missing; `standing` tells what a desktop costs before a spare stands."""
        self._here().refill(standing)

    def discard(self, stage: Stage) -> None:
        """End a used stage in the background."""
        self._here().discard(stage)

    def close(self) -> None:
        """End every spare, one in the making too, within a deadline; a later `refill` begins anew."""
        if self._finalizer is not None:
            self._finalizer()

    def summary(self) -> dict[str, Any]:
        """How many are ready and in the making, and why the last one failed ("" when none did)."""
        return self._here().summary()

    def _here(self) -> _Shelf:
        if self._shelf is None or self._shelf.closed or self._shelf.pid != os.getpid():
            self._shelf = self._make_shelf()
            self._finalizer = weakref.finalize(self, self._shelf.close)
        return self._shelf


class _Shelf:
    """The spares of one process and the thread that makes them; neither holds the pool."""

    def __init__(self, make_stage: Callable[[], Stage], size: int, stats: Stats, reserve_bytes: int) -> None:
        self.pid = os.getpid()
        self.closed = False
        self._make_stage, self._size = make_stage, size
        self._stats, self._reserve_bytes = stats, reserve_bytes
        self._changed = threading.Condition()
        self._ready: deque[Stage] = deque()
        self._used: deque[Stage] = deque()
        self._making: Stage | None = None
        self._filling = False
        self._thread: threading.Thread | None = None
        self._standing: Machine | None = None
        self._cost_bytes: int | None = None
        self._failure = ""

    def take(self, patience_s: float) -> Stage | None:
        with self._changed:
            self._changed.wait_for(lambda: self._ready or not self._filling, patience_s)
            return self._ready.popleft() if self._ready else None

    def refill(self, standing: Machine) -> None:
        with self._changed:
            self._standing = standing
            self._filling = len(self._ready) < self._size
            self._run()

    def discard(self, stage: Stage) -> None:
        with self._changed:
            self._used.append(stage)
            self._run()

    def summary(self) -> dict[str, Any]:
        with self._changed:
            return {
                "ready": len(self._ready),
                "making": int(self._making is not None),
                "last_failure": self._failure,
            }

    def close(self) -> None:
        """End all of it, in the process that made it."""
        if os.getpid() != self.pid:
            return
        with self._changed:
            self.closed, self._filling = True, False
            left = [*self._ready, *self._used]
            self._ready.clear()
            self._used.clear()
            thread = self._thread
        for stage in left:
            stage.close()
        if thread is threading.current_thread():
            return  # collected there; it ends what it makes, and then itself
        end = time.monotonic() + _CLOSE_S
        while thread is not None and thread.is_alive() and time.monotonic() < end:
            making = self._making
            if making is not None:
                making.stop()  # again, until its thread has noticed: it may have been about to start
            thread.join(_STOP_AGAIN_S)

    def _run(self) -> None:
        if self._thread is None and (self._used or self._filling):
            # A daemon: at the interpreter's exit the pool's finalizer ends it.
            self._thread = threading.Thread(target=self._work, name="sci-gym-spares", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while (job := self._next_job()) is not None:
            job()

    def _next_job(self) -> Callable[[], None] | None:
        with self._changed:
            if self._used:
                return self._used.popleft().close
            self._filling = self._filling and len(self._ready) < self._size
            if self._filling:
                return self._make
            self._thread = None
            self._changed.notify_all()
            return None

    def _make(self) -> None:
        """Make one; what goes wrong is kept for `summary`, and the next `refill` tries again."""
        try:
            if not self._affordable():
                self._give_up("spares_refused")
                return
            self._making = self._make_stage()
            self._making.bring_up()
            self._making.observe()  # warm: the first picture and tree of a desktop take longer
            self._cost_bytes = self._making.machine.held_bytes()
            self._put(self._making)
        except Exception as error:  # a thread has nobody to raise it to
            if self._making is not None:
                self._making.close()
            self._failure = f"{type(error).__name__}: {error}"
            self._give_up("spares_failed")
        finally:
            self._making = None

    def _put(self, stage: Stage) -> None:
        with self._changed:
            (self._used if self.closed else self._ready).append(stage)
            self._stats.count("spares_made")
            self._changed.notify_all()

    def _give_up(self, counter: str) -> None:
        with self._changed:
            self._filling = False
            if not self.closed:
                self._stats.count(counter)
            self._changed.notify_all()

    def _affordable(self) -> bool:
        """Whether one more leaves the reserve available."""
        if self._cost_bytes is None and self._standing is not None:
            self._cost_bytes = self._standing.held_bytes()
        self._standing = None
        cost = self._cost_bytes or 0
        return bool(psutil.virtual_memory().available - cost >= self._reserve_bytes)
