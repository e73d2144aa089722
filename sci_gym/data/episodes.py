"""Episodes that a `Recorder` wrote, those under way or cut off by a crash included."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from sci_gym.data.objects import NAME, ObjectStore, unpack_frame, unpack_tree
from sci_gym.data.recorder import OBJECTS
from sci_gym.errors import ConfigurationError
from sci_gym.specs import A11yNode, A11yTree, Action, Frame

_Name = Annotated[str, StringConstraints(pattern=f"^{NAME}$")]
_Data = TypeVar("_Data", bound=BaseModel)


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class Meta(_Record):
    """What an episode is, as `meta.json` holds it.

    Attributes:
        env_id: the Gymnasium id.
        app: name of the program's folder.
        task: id of the task.
        source: the file that the task came from.
        difficulty: of the task.
        instruction: what the policy was told.
        parameters: the values that were drawn.
        graph: the subtasks: dicts of `id`, `goal`, `after` (ids) and `application`.
        max_steps: the step limit.
        seed: of the reset; None when it had none.
        options: of the environment: `observation`, `reward`, `interface`, `width`, `height`.
        machine: the class of the machine.
        notes: what the caller of the recorder said of it, such as the policy's name.
        versions: of Python, packages, and the program's Debian packages.
        started_unix_s: when.
        forked_from: `started_unix_s` of the episode whose steps it begins with; None where a reset began it.
    """

    env_id: str
    app: str
    task: str
    source: str = ""
    difficulty: str = ""
    instruction: str
    parameters: dict[str, Any]
    graph: list[dict[str, Any]]
    max_steps: int
    seed: int | None = None
    options: dict[str, Any]
    machine: str = ""
    notes: dict[str, Any] = Field(default_factory=dict)
    versions: dict[str, str]
    started_unix_s: float
    forked_from: float | None = None


class Step(_Record):
    """A line of `steps.jsonl`: an action, and what came of it. Step 0 is the reset, without an action.

    Attributes:
        step: its number.
        action: what was done.
        said: what the policy said, in its own dialect, where a wrapper took that.
        reward: of the step.
        terminated: the policy ended the episode.
        truncated: the step limit, stagnation or a fault ended it.
        infra_error: the machine failed; leave the step out of what is learned from.
        success: whether the task was done.
        coverage_rate: share of completed subtasks, 0 to 1.
        logical_consistency: of their order, 0 to 1.
        graph: status of each subtask.
        output: what CODE or API returned.
        frame: name of the screen after it.
        tree: name of the accessibility tree after it, of what was on screen.
        marks: places in that tree of the marks 1, 2, ...
        pointer: (x, y) in pixels.
        settled: whether the screen came to rest.
        timings_ms: `call`, and the phases of `SciEnv.stats`.
        time_s: since the reset was done.
    """

    step: int
    action: Action | None = None
    said: str | int | None = None
    reward: float
    terminated: bool
    truncated: bool
    infra_error: dict[str, Any] | None = None
    success: bool
    coverage_rate: float
    logical_consistency: float
    graph: dict[str, str]
    output: str = ""
    frame: _Name
    tree: _Name
    marks: tuple[int, ...] = ()
    pointer: tuple[int, int]
    settled: bool = True
    timings_ms: dict[str, float] = Field(default_factory=dict)
    time_s: float

    @property
    def over(self) -> bool:
        """Whether the episode ended with it."""
        return self.terminated or self.truncated


class Episode:
    """One episode; what is read of it is kept, but for frames and trees."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        """Name the episode's folder, in that of its data set; nothing is read yet."""
        self.folder = Path(folder)
        self._objects = ObjectStore(self.folder.parent / OBJECTS)

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name

    @functools.cached_property
    def meta(self) -> Meta:
        """What it is; ConfigurationError where that cannot be read."""
        return _parse(Meta, self._read("meta.json"), f"{self.folder}/meta.json")

    @functools.cached_property
    def steps(self) -> Sequence[Step]:
        """Its steps, the reset first; a half last line, which a crash can leave, is left out.

        Raises:
            ConfigurationError: there is none, or one is broken.
        """
        whole = self._read("steps.jsonl").split(b"\n")[:-1]
        if not whole:
            raise ConfigurationError(f"{self.folder}: steps.jsonl holds no step; the episode never began")
        return [
            _parse(Step, line, f"{self.folder}/steps.jsonl:{number}")
            for number, line in enumerate(whole, start=1)
        ]

    @property
    def last(self) -> Step:
        """Its last step."""
        return self.steps[-1]

    @property
    def fault(self) -> str:
        """How the machine failed; "" when it did not."""
        fault = self.last.infra_error
        return str(fault.get("message", fault)) if fault else ""

    @property
    def result(self) -> str:
        """How it ended: "success", "failure", "fault" (of the machine), or "unfinished"."""
        if self.fault:
            return "fault"
        if not self.last.over:
            return "unfinished"
        return "success" if self.last.success else "failure"

    @property
    def total_reward(self) -> float:
        """The rewards' sum, without those of faults."""
        return sum(step.reward for step in self.steps if not step.infra_error)

    def frame(self, step: Step) -> Frame:
        """The screen after a step, uint8 `[H, W, 3]`."""
        return unpack_frame(self._objects.get(step.frame))

    def tree(self, step: Step) -> A11yTree:
        """What was on screen after a step."""
        return unpack_tree(self._objects.get(step.tree))

    def marks(self, step: Step, tree: A11yTree | None = None) -> tuple[A11yNode, ...]:
        """The nodes with marks 1, 2, ...; of a tree that was read already, where there is one."""
        nodes = (tree or self.tree(step)).nodes
        return tuple(nodes[place] for place in step.marks if 0 <= place < len(nodes))

    def transitions(self) -> Iterator[tuple[Step, Step]]:
        """The step before and the step itself, of each action; faults are left out."""
        for before, step in zip(self.steps, self.steps[1:], strict=False):
            if not step.infra_error:
                yield before, step

    def _read(self, name: str) -> bytes:
        try:
            return (self.folder / name).read_bytes()
        except OSError as exc:
            raise ConfigurationError(f"{self.folder}: not an episode of a Recorder: {exc}") from exc


class DataSet:
    """The episodes of a folder, in the order in which they began."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        """Name the folder.

        Raises:
            ConfigurationError: there is none.
        """
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise ConfigurationError(
                f"{self.folder}: there is no such folder; `sci-gym data record` makes one"
            )

    def __iter__(self) -> Iterator[Episode]:
        """Walk all episodes that began, unfinished ones included."""
        return (Episode(path.parent) for path in sorted(self.folder.glob("EPISODE-*/steps.jsonl")))

    def __len__(self) -> int:
        """Count them."""
        return sum(1 for _ in self)

    def choose(
        self,
        *,
        tasks: Sequence[str] = (),
        results: Sequence[str] = (),
        min_coverage: float = 0.0,
    ) -> Iterator[Episode]:
        """The episodes of these tasks and results (see `Episode.result`) with this coverage, or all."""
        for episode in self:
            if (
                (not tasks or episode.meta.task in tasks)
                and (not results or episode.result in results)
                and episode.last.coverage_rate >= min_coverage
            ):
                yield episode


def _parse(kind: type[_Data], text: bytes, where: str) -> _Data:
    try:
        return kind.model_validate_json(text)
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        raise ConfigurationError(f"{where}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from exc
