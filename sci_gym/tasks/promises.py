"""What a task must keep that can be seen without its program: how it ends, and that nothing holds at once."""

from __future__ import annotations

from collections.abc import Iterator

from sci_gym.errors import ConfigurationError, UnknownNameError
from sci_gym.evaluation import PredicateSet, right_stop
from sci_gym.specs import STOP_KINDS, Check, Evidence, OracleStep, TaskSpec
from sci_gym.tasks.interface import solutions
from sci_gym.tasks.locator import FieldError, KeyPath
from sci_gym_protos.roles import ROLE_NAMES


def broken_promises(task: TaskSpec, predicates: PredicateSet) -> Iterator[FieldError]:
    """What is wrong with a task that could be built."""
    for place, node in enumerate(task.graph.nodes):
        for number, check in enumerate(node.checks):
            yield from _check_faults(task, check, predicates, ("node", place, "check", number))
    if not list(solutions(task)):
        yield FieldError((), "has no [[oracle]], so that nothing shows that it can be done; add its steps.")
    for path, steps in solutions(task):
        yield from _end_faults(task, steps, path)
        for place, step in enumerate(steps):
            if step.role is not None and step.role not in ROLE_NAMES:
                error = UnknownNameError("role", step.role, ROLE_NAMES)
                yield FieldError((*path, place, "target", "role"), str(error))


def _check_faults(
    task: TaskSpec, check: Check, predicates: PredicateSet, path: KeyPath
) -> Iterator[FieldError]:
    stop = right_stop(task)
    if check.predicate == "stopped" and check.arguments["kind"] != stop:
        yield FieldError((*path, "kind"), f"never holds: this kind of task ends with {stop}; write that.")
    try:
        if predicates.holds(check, Evidence(state={})):
            yield FieldError(path, "holds even when no program runs; ask for something that has to be done.")
    except ConfigurationError as error:
        yield FieldError(path, str(error))
    except Exception as error:  # a predicate that breaks is a finding, not the end of the check
        kind = f"{type(error).__name__}: {error}"
        yield FieldError(path, f"{check.predicate} must be false when no program runs, but fails: {kind}.")


def _end_faults(task: TaskSpec, steps: tuple[OracleStep, ...], path: KeyPath) -> Iterator[FieldError]:
    kinds = [step.action.kind for step in steps]
    stop = right_stop(task)
    if len(steps) > task.max_steps:
        yield FieldError(("max_steps",), f"is below the {len(steps)} steps of the oracle; raise it.")
    for place, kind in enumerate(kinds[:-1]):
        if kind in STOP_KINDS:
            yield FieldError((*path, place), f"ends the episode with {kind} before the last step; move it.")
    if stop not in kinds[-1:]:
        last = max(len(kinds) - 1, 0)
        yield FieldError((*path, last), f"this kind of task ends with {stop}; let the last step do that.")
