"""How long is a step of several desktops that are stepped at once?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from copy import deepcopy
from functools import partial
from itertools import cycle
from typing import Any

from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array

from sci_gym.benchmarks.question import Plan, Question
from sci_gym.benchmarks.rows import Peers, Row, make_row, timed
from sci_gym.benchmarks.step import ENDLESS
from sci_gym.benchmarks.subjects import Subject
from sci_gym.env import SciEnv
from sci_gym.loader import make
from sci_gym.spaces import from_action
from sci_gym.vector import SciVectorEnv

COUNTS = (1, 2, 4, 8)
LOOP, PROCESSES = "one after the other (SyncVectorEnv)", "a process each (AsyncVectorEnv)"
_PEERS: dict[str, Callable[..., Any]] = {
    LOOP: SyncVectorEnv,
    PROCESSES: partial(AsyncVectorEnv, context="spawn"),
}


def run(plan: Plan) -> list[Row]:
    """Measure one step of so many desktops of each program, ours and the peers' in turn."""
    return [_row(plan, subject, count) for subject in plan.subjects for count in COUNTS]


def _row(plan: Plan, subject: Subject, count: int) -> Row:
    ours, peers = [], Peers()
    plan.tell(f"{count} desktops of {subject.app.title} each")
    make_envs = [partial(make, app=subject.app, task=ENDLESS)] * count
    with ExitStack() as stack:
        vector = SciVectorEnv(make_envs)
        own = stack.enter_context(_stepping(vector, clicks := []))
        clicks += _clicks(subject, vector)
        steps = {
            name: stack.enter_context(_stepping(kind(make_envs), clicks)) for name, kind in _PEERS.items()
        }
        for times in plan.rounds():
            ours += timed(own, times)
            for name, step in steps.items():
                peers.ask(name, partial(timed, step, times))
    note = "one step of all of them: click, settle, screenshot, tree"
    return make_row(f"vector step, {subject.app.title}, desktops: {count}", "ms", ours, peers, note)


@contextmanager
def _stepping(vector: VectorEnv[Any, Any, Any], clicks: Sequence[Any]) -> Iterator[Callable[[], Any]]:
    """What makes one step of every desktop, at the next of some places."""
    with closing(vector):
        vector.reset(seed=0)
        turn = cycle((0, 1))
        yield lambda: vector.step(clicks[next(turn)])


def _clicks(subject: Subject, vector: SciVectorEnv) -> list[Any]:
    """Two batches of clicks that take turns."""
    env: SciEnv = vector.get_attr("unwrapped")[0]
    (pair, *_) = subject.clicks.values()
    elements = [from_action(click.action(env.last.tree), env.kinds) for click in pair]
    space, count = vector.single_action_space, vector.num_envs
    empty: Any = create_empty_array(space, count)
    return [concatenate(space, [one] * count, deepcopy(empty)) for one in elements]


QUESTION = Question("vector", __doc__, (LOOP, PROCESSES), 10, run)
