"""What an environment knows of an episode, apart from its desktop: what a fork of it takes along."""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import dataclass
from types import TracebackType

import numpy as np

from sci_gym.evaluation import GraphRun
from sci_gym.specs import Observation, TaskSpec, Verdict
from sci_gym.stage import Moment


@dataclass(slots=True)
class Episode:
    """One episode as far as it has come.

    Attributes:
        task: what is to be done.
        run: the walk through its graph.
        last: what was observed last.
        verdict: how it stands.
        steps: how many were made.
        stagnant: how many of them since a subtask was last completed.
        over: it takes no more steps.
    """

    task: TaskSpec
    run: GraphRun
    last: Observation
    verdict: Verdict
    steps: int = 0
    stagnant: int = 0
    over: bool = False

    def copy(self) -> Episode:
        """An episode that goes on from here on its own."""
        return dataclasses.replace(self, run=self.run.copy())


class EnvSnapshot:
    """An episode and its desktop at one moment, see `SciEnv.snapshot`; close it, or use it in a `with`."""

    def __init__(self, moment: Moment, episode: Episode, rng: np.random.Generator) -> None:
        """Keep copies of what goes on changing."""
        self.moment = moment
        self._episode, self._rng = episode.copy(), copy.deepcopy(rng)

    def recall(self) -> tuple[Episode, np.random.Generator]:
        """The episode and the state of the random choices, as they were."""
        return self._episode.copy(), copy.deepcopy(self._rng)

    def close(self) -> None:
        """Free the desktop's state; forks run on. More than once is fine."""
        self.moment.machine.drop()

    def __enter__(self) -> EnvSnapshot:
        """Close at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()
