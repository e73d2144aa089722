"""How long is the accessibility tree of what is on screen, at the policy's side, decoded?"""

from __future__ import annotations

from sci_gym.benchmarks.desk import Desk, open_desk
from sci_gym.benchmarks.peers import CUA, PYATSPI, PYATSPI_SHOWING, Guest
from sci_gym.benchmarks.question import Plan, Question
from sci_gym.benchmarks.rows import Peers, Row, make_row, timed
from sci_gym.benchmarks.subjects import Change, Click, Subject
from sci_gym.specs import Action


def run(plan: Plan) -> list[Row]:
    """Measure an unchanged and a changed window of each program."""
    rows = []
    for subject in plan.subjects:
        with open_desk(subject.app) as desk:
            guest = Guest(desk.client, plan.tell)
            rows.append(_unchanged(plan, subject, desk, guest))
            rows.append(_changed(plan, subject, desk, guest))
    return rows


def _unchanged(plan: Plan, subject: Subject, desk: Desk, guest: Guest) -> Row:
    ours, peers = [], Peers()
    shown = len(desk.tree())
    for count in plan.rounds():
        plan.tell(f"tree of {subject.app.title}, unchanged")
        ours += timed(desk.tree, count)
        _ask(peers, guest)
    note = f"{shown} nodes on screen; {_met(guest)}"
    return make_row(f"tree, {subject.app.title}, window unchanged", "ms", ours, peers, note)


def _changed(plan: Plan, subject: Subject, desk: Desk, guest: Guest) -> Row:
    ours, peers = [], Peers()
    moves = [_moves(desk, change) for change in subject.changes]
    for _ in plan.rounds():
        for do, undo in moves:
            plan.tell(f"tree of {subject.app.title}, changed")
            before = desk.tree()
            desk.act(do)
            took_ms = timed(desk.tree)
            if desk.tree().nodes != before.nodes:  # a click can be lost
                ours += took_ms
                _ask(peers, guest)
            desk.act(undo)
    note = f"after {', '.join(change.kind for change in subject.changes)}"
    return make_row(f"tree, {subject.app.title}, window changed", "ms", ours, peers, note)


def _moves(desk: Desk, change: Change) -> tuple[Action, Action]:
    """What makes a change, and what undoes it."""
    tree = desk.tree()
    do, undo = (move.action(tree) if isinstance(move, Click) else move for move in (change.do, change.undo))
    return do, undo


def _ask(peers: Peers, guest: Guest) -> None:
    peers.ask(PYATSPI, lambda: guest.walk("all"))
    peers.ask(PYATSPI_SHOWING, lambda: guest.walk("showing"))
    peers.ask(CUA, lambda: guest.cua("tree", 1))


def _met(guest: Guest) -> str:
    return ", ".join(f"pyatspi met {nodes} ({scope})" for scope, nodes in guest.nodes.items())


QUESTION = Question("a11y", __doc__, (PYATSPI, PYATSPI_SHOWING, CUA), 20, run)
