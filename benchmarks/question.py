"""What a file of this folder provides: one question, and how to answer it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sci_gym.benchmarks.rows import Row
from sci_gym.benchmarks.subjects import Subject

ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run of a benchmark is asked for.

    Attributes:
        subjects: the programs to measure on.
        times: samples of ours; slow peers give fewer.
        tell: takes a line that says what goes on.
    """

    subjects: tuple[Subject, ...]
    times: int
    tell: Callable[[str], None]

    def rounds(self) -> Iterator[int]:
        """Samples of ours in each round; ours and peers take turns, so the machine's moods fall on all."""
        rounds = min(self.times, ROUNDS)
        for number in range(rounds):
            yield (self.times + number) // rounds


@dataclass(frozen=True, slots=True)
class Question:
    """A benchmark.

    Attributes:
        name: `sci-gym bench NAME`.
        text: the question.
        peers: who is run beside us.
        times: how many samples of ours are taken by default.
        run: measures.
    """

    name: str
    text: str
    peers: tuple[str, ...]
    times: int
    run: Callable[[Plan], list[Row]]
