"""How ScienceBoard's tasks for Celestia are played: what they ask its fork for, the stock one reports.

What is read in place of the fork's dump stands in `ADAPTER.sources`.
"""

from __future__ import annotations

import posixpath
from typing import Any

from sci_gym.envs.celestia.dump import KINDS, dump, hold
from sci_gym.envs.celestia.state import state_of
from sci_gym.scienceboard import (
    Adapter,
    CannotError,
    Judged,
    Lambda,
    LambdaFailedError,
    Source,
    TaskFile,
    command_words,
    judged,
)
from sci_gym.specs import Evidence, Verb

EXECUTABLE = "celestia-qt6"


def launch(task: TaskFile, *, command: str | list[str], shell: bool = False) -> list[Verb]:
    """Celestia, which runs already: its time flows, as it does when it was started."""
    program, *arguments = command_words(command)
    if posixpath.basename(program) != EXECUTABLE:
        raise CannotError(f"launches {program!r}, which SciBoard-Celestia-v0 does not start.")
    if arguments:
        raise CannotError(f"launches Celestia with {arguments!r}; it is started without arguments.")
    watched = [Verb("celestia.watch", {"kind": KINDS[one.type], "name": one.name}) for one in _query(task)]
    return [Verb("celestia.paused", {"yes": False}), *watched]


def info(task: TaskFile, *, key: str, value: Any, pred: str | None = None) -> Judged:
    """A lambda's value for the dump: equal to another, or as a second lambda has it."""
    names = [one.name for one in _query(task)]
    hold(key, 1, names)
    if pred is not None:
        hold(pred, 2, names)
    return judged("celestia.scienceboard_info", key=key, value=value, pred=pred or "", names=names)


def scienceboard_info(evidence: Evidence, *, key: str, value: Any, pred: str, names: list[str]) -> bool:
    """A lambda's value for the dump of these entities is as it should be."""
    state = state_of(evidence.state)
    if not state.get("running"):
        return False
    try:
        given = Lambda(key)(dump(state, names))
        return bool(Lambda(pred)(given, value)) if pred else bool(given == value)
    except LambdaFailedError:
        return False


ADAPTER = Adapter(
    program="Celestia",
    executables=frozenset({EXECUTABLE}),
    setup={"launch": launch},
    checks={"info": info},
    predicates={"scienceboard_info": scienceboard_info},
    sources=(
        Source("launch", "over Earth on 2024-06-01 12:00 UTC, with time flowing, without galaxies", False,
               "theirs has the time of the day, and flies from the Sun to Earth first"),
        Source("dump: time", "Celestia's Lua: gettime (TDB), gettimescale, ispaused", True),
        Source("dump: entity: position, object, distance, radius, hidden",
               "Celestia's Lua: position, radius and visibility of the entities that `query` names", True),
        Source("dump: entity: visible", "its middle is in the view, and no body that is told lies before it",
               False, "theirs picks at its middle, where a planet some pixels beside a star is picked first"),
        Source("dump: config: render, orbit, label", "Celestia's Lua: getrenderflags, getorbitflags, "
               "getlabelflags", True),
        Source("dump: config: autoMagnitude, resolution, starStyle",
               "Celestia's Lua: getfaintestam45deg, gettextureresolution, getstarstyle", True),
    ),
)  # fmt: skip


def _query(task: TaskFile) -> list[Any]:
    """The entities that are asked for.

    Raises:
        CannotError: one is neither a star, a body nor a deep sky object.
    """
    for one in task.document.query:
        if one.type not in KINDS:
            raise CannotError(f"queries {one.name!r} of type {one.type}; only {KINDS} are told.")
    return task.document.query
