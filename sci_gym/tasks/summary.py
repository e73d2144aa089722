"""What there is to tell of templates, one by one and of an app's together."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sci_gym.evaluation import depths
from sci_gym.tasks.interface import interface_of
from sci_gym.tasks.template import Template

DIFFICULTIES = ("easy", "medium", "hard")


@dataclass(frozen=True, slots=True)
class Summary:
    """A template in figures.

    Attributes:
        id: of the template.
        kind: "task", "question" or "infeasible".
        difficulty: "easy", "medium" or "hard".
        interface: see `interface_of`.
        subtasks: nodes of its graph.
        depth: nodes on the longest way through its graph.
        instances: different draws of its parameters (see `count_instances`).
        parameters: their names.
    """

    id: str
    kind: str
    difficulty: str
    interface: str
    subtasks: int
    depth: int
    instances: int
    parameters: tuple[str, ...]

    @classmethod
    def of(cls, template: Template) -> Summary:
        """The summary of a template."""
        task = template.instantiate(np.random.default_rng(0))
        return cls(
            id=template.id,
            kind=template.kind,
            difficulty=template.difficulty,
            interface=interface_of(task),
            subtasks=template.subtasks,
            depth=max(depths(task.graph).values()),
            instances=template.instances,
            parameters=template.parameters,
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def overview(summaries: Collection[Summary]) -> dict[str, Any]:
    """The templates of an app together, for JSON.

    Keys: `tasks`, how many; `difficulty`, `interface`, `kind`, how many of each; `subtasks` and `depth`, each
    with `min`, `median` and `max`; `instances` of all together.
    """
    counts = {
        what: dict(Counter(str(getattr(one, what)) for one in summaries))
        for what in ("difficulty", "interface", "kind")
    }
    sizes = {what: _spread([getattr(one, what) for one in summaries]) for what in ("subtasks", "depth")}
    return {"tasks": len(summaries), **counts, **sizes, "instances": sum(one.instances for one in summaries)}


def _spread(numbers: list[int]) -> dict[str, float]:
    if not numbers:
        return {}
    return {"min": min(numbers), "median": statistics.median(numbers), "max": max(numbers)}
