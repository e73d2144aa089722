"""Benchmarks: one file per question, each with peers in the same run; `sci-gym bench` runs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sci_gym.benchmarks import a11y, density, footprint, fork, record, reset, screenshot, step, vector
from sci_gym.benchmarks.question import Plan, Question
from sci_gym.benchmarks.report import make_markdown, make_table
from sci_gym.benchmarks.rows import Row, machine_now
from sci_gym.benchmarks.subjects import SUBJECTS
from sci_gym.errors import UnknownNameError

__all__ = ["QUESTIONS", "ask", "choose", "machine_now", "make_markdown", "make_table"]

QUESTIONS: Mapping[str, Question] = {
    one.QUESTION.name: one.QUESTION
    for one in (a11y, screenshot, step, reset, footprint, vector, fork, density, record)
}


def choose(name: str) -> list[Question]:
    """The question of a name, or "all".

    Raises:
        UnknownNameError: there is none.
    """
    if name not in (*QUESTIONS, "all"):
        raise UnknownNameError("benchmark", name, ["list", *QUESTIONS, "all"])
    return list(QUESTIONS.values()) if name == "all" else [QUESTIONS[name]]


def ask(question: Question, programs: str, times: int | None, tell: Callable[[str], None]) -> Sequence[Row]:
    """Run one benchmark.

    Args:
        question: which.
        programs: a name of `SUBJECTS`, or "all".
        times: samples of ours; None for the question's own.
        tell: takes a line that says what goes on.

    Raises:
        UnknownNameError: there is no such program.
        MissingDependencyError: a program is not installed; the message says how to get it.
    """
    if programs not in (*SUBJECTS, "all"):
        raise UnknownNameError("program", programs, [*SUBJECTS, "all"])
    subjects = [subject for name, subject in SUBJECTS.items() if programs in (name, "all")]
    return question.run(Plan(tuple(subjects), times or question.times, tell))
