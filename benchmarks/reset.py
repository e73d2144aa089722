"""How long is a reset: a fresh desktop with the program ready, and the first observation?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from sci_gym.benchmarks.desk import Desk, open_desk
from sci_gym.benchmarks.question import Plan, Question
from sci_gym.benchmarks.rows import Peers, Row, make_row, timed
from sci_gym.benchmarks.step import ENDLESS
from sci_gym.benchmarks.subjects import Subject
from sci_gym.env import SciEnv
from sci_gym.errors import DeadlineError
from sci_gym.loader import make

_OWN_START = "the program's own start on a standing desktop"
_SPARE_S = 60.0


def run(plan: Plan) -> list[Row]:
    """Measure resets of each program, cold and with a spare desktop."""
    rows = []
    for subject in plan.subjects:
        with open_desk() as desk, _environment(subject, 0) as cold:
            rows.append(_cold(plan, subject, desk, cold))
        with open_desk() as desk, _environment(subject, 1) as warm:
            rows.append(_spared(plan, subject, desk, warm))
    return rows


def _cold(plan: Plan, subject: Subject, desk: Desk, env: SciEnv) -> Row:
    ours, peers = [], Peers()
    for count in plan.rounds():
        plan.tell(f"resets of {subject.app.title}, cold")
        ours += timed(lambda: env.reset(seed=0), count)
        peers.ask(_OWN_START, lambda: _own_start(subject, desk))
    return make_row(f"reset, {subject.app.title}, cold", "ms", ours, peers)


def _spared(plan: Plan, subject: Subject, desk: Desk, env: SciEnv) -> Row:
    ours, peers = [], Peers()
    for count in plan.rounds():
        plan.tell(f"resets of {subject.app.title}, with a spare")
        for _ in range(count):
            _wait_for_spare(env)
            ours += timed(lambda: env.reset(seed=0))
        _wait_for_spare(env)  # or its making would slow the peer down
        peers.ask(_OWN_START, lambda: _own_start(subject, desk))
    return make_row(f"reset, {subject.app.title}, with a spare desktop", "ms", ours, peers)


def _own_start(subject: Subject, desk: Desk) -> list[float]:
    samples = timed(lambda: desk.start(subject.app))
    desk.end_programs()
    return samples


def _wait_for_spare(env: SciEnv) -> None:
    """Poll the environment's counters until a spare waits.

    Raises:
        DeadlineError: there was none in time.
    """
    end_s = time.monotonic() + _SPARE_S
    while True:
        counters = env.stats()["counters"]
        if counters["spares_made"] > counters["spares_used"] + counters["spares_dead"]:
            return
        if time.monotonic() > end_s:
            raise DeadlineError("spare", f"none was ready within {_SPARE_S} s; counters: {counters}")
        time.sleep(0.02)  # between two looks


@contextmanager
def _environment(subject: Subject, spares: int) -> Iterator[SciEnv]:
    """An environment that was reset once."""
    env = make(app=subject.app, task=ENDLESS, spares=spares)
    try:
        env.reset(seed=0)
        yield env
    finally:
        env.close()


QUESTION = Question("reset", __doc__, (_OWN_START,), 10, run)
