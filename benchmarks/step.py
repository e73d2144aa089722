"""How long is a step (click, settle, screenshot, tree), and how much of it is our overhead?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sci_gym.benchmarks.desk import SharedSandbox
from sci_gym.benchmarks.peers import CUA, PER_ACTION, Guest
from sci_gym.benchmarks.question import Plan, Question
from sci_gym.benchmarks.rows import Peers, Row, make_row, timed
from sci_gym.benchmarks.subjects import Click, Subject
from sci_gym.client import VMAgentClient
from sci_gym.env import SciEnv
from sci_gym.loader import make
from sci_gym.machines import MachineSpec
from sci_gym.specs import Action

ENDLESS = Path(__file__).with_name("endless.toml")


def run(plan: Plan) -> list[Row]:
    """Measure `SciEnv.step` on each program."""
    rows = []
    for subject in plan.subjects:
        with _environment(subject, plan) as (env, guest):
            for kind, clicks in subject.clicks.items():
                rows += _measure(plan, f"step, {subject.app.title}, clicks that {kind}", clicks, env, guest)
    return rows


def _measure(plan: Plan, name: str, clicks: Sequence[Click], env: SciEnv, guest: Guest) -> list[Row]:
    total, overhead, peers = [], [], Peers()
    actions = [click.action(env.last.tree) for click in clicks]
    places = [(action.x, action.y) for action in actions]
    for _ in range(2):  # what a program does once, at its first such click
        for action in actions:
            env.step(action)
    for count in plan.rounds():
        plan.tell(name)
        for number in range(count):
            took_ms = _step(env, actions[number % 2])
            total.append(took_ms)
            overhead.append(took_ms - _reaction_ms(env))
        peers.ask(PER_ACTION, lambda: guest.act_per_process(2, places))
        peers.ask(CUA, lambda: guest.cua("step", 2, places))
        env.step(actions[1])
    return [
        make_row(f"{name}: settle, screenshot, tree", "ms", total, peers),
        make_row(f"{name}: overhead above the program's own reaction", "ms", overhead),
    ]


def _step(env: SciEnv, action: Action) -> float:
    (took_ms,) = timed(lambda: env.step(action))
    return took_ms


def _reaction_ms(env: SciEnv) -> float:
    """From the start of the last step's input to the last change that it caused."""
    phases: dict[str, Any] = env.stats()["phases_ms"]
    return float(phases["act"]["last"] + phases["react"]["last"])


@contextmanager
def _environment(subject: Subject, plan: Plan) -> Iterator[tuple[SciEnv, Guest]]:
    """An environment at the start of an episode without end, and its guest for the peers."""
    machine = SharedSandbox(MachineSpec())
    env = make(app=subject.app, task=ENDLESS, machine=machine)
    try:
        env.reset(seed=0)
        client = VMAgentClient(machine.endpoint)
        try:
            yield env, Guest(client, plan.tell)
        finally:
            client.close()
    finally:
        env.close()


QUESTION = Question("step", __doc__, (PER_ACTION, CUA), 20, run)
