"""How long is a screenshot, as RGB pixels at the policy's side?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sci_gym.benchmarks.desk import Desk, open_desk
from sci_gym.benchmarks.peers import CUA, PYAUTOGUI_SHOT, Guest
from sci_gym.benchmarks.question import Plan, Question
from sci_gym.benchmarks.rows import Peers, Row, make_row, timed
from sci_gym.benchmarks.subjects import Subject
from sci_gym.errors import DeadlineError

_COVER = "cover"
_COVER_TRIES, _WAIT_MS = 20, 500


def run(plan: Plan) -> list[Row]:
    """Measure an unchanged and a wholly changed screen of each program."""
    rows = []
    for subject in plan.subjects:
        with open_desk(subject.app) as desk:
            guest = Guest(desk.client, plan.tell)
            rows.append(_unchanged(plan, subject, desk, guest))
            with _covered(desk) as windows:
                rows.append(_changed(plan, subject, desk, guest, windows))
    return rows


def _unchanged(plan: Plan, subject: Subject, desk: Desk, guest: Guest) -> Row:
    ours, peers = [], Peers()
    desk.frame()
    for count in plan.rounds():
        plan.tell(f"screenshot of {subject.app.title}, unchanged")
        ours += timed(desk.frame, count)
        _ask(peers, guest)
    return make_row(f"screenshot, {subject.app.title}, screen unchanged", "ms", ours, peers)


def _changed(plan: Plan, subject: Subject, desk: Desk, guest: Guest, windows: tuple[int, int]) -> Row:
    ours, peers = [], Peers()
    for count in plan.rounds():
        plan.tell(f"screenshot of {subject.app.title}, changed")
        for number in range(count):
            desk.flip_to(windows[number % 2])
            ours += timed(desk.frame)
        _ask(peers, guest)
    note = "two maximised windows in turn"
    return make_row(f"screenshot, {subject.app.title}, whole screen changed", "ms", ours, peers, note)


@contextmanager
def _covered(desk: Desk) -> Iterator[tuple[int, int]]:
    """The program's window and one that covers it."""
    (window,) = [one.id for one in desk.client.windows()]
    argv = ["/usr/bin/python3", "/home/user/scripts/cover.py"]
    cover = desk.client.launch(_COVER, argv)
    try:
        yield window, _find_cover(desk)
    finally:
        desk.client.end_program(cover.id, grace_s=0)


def _find_cover(desk: Desk) -> int:
    for _ in range(_COVER_TRIES):
        for one in desk.client.windows():
            if one.title == _COVER:
                return int(one.id)
        desk.look(change_ms=_WAIT_MS)
    raise DeadlineError(_COVER, f"no window after {_COVER_TRIES * _WAIT_MS / 1000} s")


def _ask(peers: Peers, guest: Guest) -> None:
    peers.ask(PYAUTOGUI_SHOT, lambda: guest.screenshot(2))
    peers.ask(CUA, lambda: guest.cua("screenshot", 2))


QUESTION = Question("screenshot", __doc__, (PYAUTOGUI_SHOT, CUA), 20, run)
