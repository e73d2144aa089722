"""The tables of a task file, before its parameters are filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from sci_gym.tasks.parameters import Parameter
from sci_gym.tasks.tables import Table


class Call(Table):
    """A name with arguments; the other keys of its table are the arguments."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The other keys."""
        return self.model_extra or {}


class SetupCall(Call):
    """A call of one of the app's verbs."""

    verb: str


class CheckCall(Call):
    """A call of a predicate."""

    predicate: str


def _as_list(data: Any) -> Any:
    return [data] if isinstance(data, dict) else data


class InspectCall(Call):
    """A call of one of the app's inspections."""

    inspection: str


class NodeTable(Table):
    """A subtask."""

    id: str
    goal: str
    after: list[str] = Field(default_factory=list)
    application: str | None = None
    check: Annotated[list[CheckCall], BeforeValidator(_as_list)]


class Document(Table):
    """A whole task file; the oracle's steps are parsed once they are filled in."""

    difficulty: Literal["easy", "medium", "hard"]
    instruction: str
    paraphrases: list[str] = Field(default_factory=list)
    kind: Literal["task", "question", "infeasible"] = "task"
    max_steps: int = Field(gt=0)
    stagnation_steps: int = Field(default=0, ge=0)
    files: list[str] = Field(default_factory=list)
    parameters: dict[Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")], Parameter] = Field(
        default_factory=dict
    )
    setup: list[SetupCall] = Field(default_factory=list)
    node: list[NodeTable] = Field(min_length=1)
    inspect: list[InspectCall] = Field(default_factory=list)
    oracle: list[dict[str, Any]] = Field(default_factory=list)
    oracles: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")], list[dict[str, Any]]] = Field(
        default_factory=dict
    )
