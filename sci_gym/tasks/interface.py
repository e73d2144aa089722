"""Through which interface a task can be done, as its solutions show."""

from __future__ import annotations

from collections.abc import Iterator

from sci_gym.spaces import kinds_for
from sci_gym.specs import OracleStep, TaskSpec
from sci_gym.tasks.builder import MAIN_ORACLE
from sci_gym.tasks.locator import KeyPath

INTERFACES = ("gui", "cli", "both", "hybrid")


def solutions(task: TaskSpec) -> Iterator[tuple[KeyPath, tuple[OracleStep, ...]]]:
    """A task's solutions, each with the path at which its steps stand in the task file."""
    for name, steps in task.oracles.items():
        yield ("oracle",) if name == MAIN_ORACLE else ("oracles", name), steps


def interface_of(task: TaskSpec) -> str:
    """The interface that a task needs: "gui", "cli", or "both" where either will do, each with a solution.

    "hybrid" is a task of which every solution needs both at once.
    """
    names = [name for name in ("gui", "cli") if any(_fits(name, steps) for _, steps in solutions(task))]
    return "both" if len(names) == 2 else names[0] if names else "hybrid"


def _fits(interface: str, steps: tuple[OracleStep, ...]) -> bool:
    return {step.action.kind for step in steps} <= set(kinds_for(interface))
