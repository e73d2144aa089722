"""Templates: task files that were read and checked, and make tasks."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sci_gym.app import App
from sci_gym.errors import ConfigurationError
from sci_gym.specs import TaskSpec
from sci_gym.tasks.builder import Builder, Vocabulary
from sci_gym.tasks.document import Document
from sci_gym.tasks.instances import count_instances
from sci_gym.tasks.locator import FieldError
from sci_gym.tasks.parameters import Choice, Pick
from sci_gym.tasks.reading import parse_toml, read
from sci_gym.tasks.tables import parse

_PROBE_SEEDS = range(4)


@dataclass(frozen=True, slots=True)
class Template:
    """A task file, checked; `instantiate` makes tasks of it.

    Attributes:
        path: the file.
        source: its text.
    """

    path: Path
    source: str
    _document: Document
    _vocabulary: Vocabulary

    @property
    def id(self) -> str:
        """The file's stem."""
        return self.path.stem

    @property
    def difficulty(self) -> str:
        """The difficulty: "easy", "medium" or "hard"."""
        return self._document.difficulty

    @property
    def kind(self) -> str:
        """What the task is: "task", "question" or "infeasible"."""
        return self._document.kind

    @property
    def subtasks(self) -> int:
        """The number of its graph's nodes."""
        return len(self._document.node)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters' names, in the order in which they are drawn."""
        return tuple(self._document.parameters)

    @property
    def instances(self) -> int:
        """How many different draws its parameters have, see `count_instances`."""
        return count_instances(self._document.parameters)

    def instantiate(self, rng: np.random.Generator) -> TaskSpec:
        """Draw the parameters, then the wording, and fill them in; the same state of `rng`, the same task.

        Raises:
            TaskFileError: these parameters give something that cannot be, such as a division by zero.
        """
        return self._build(_picker(rng))

    def restore(self, parameters: Mapping[str, Any], instruction: str) -> TaskSpec:
        """The task of these very parameters and this wording, such as a recording holds.

        Raises:
            ConfigurationError: the file does not give them; it was changed, or it is another one.
        """
        wordings = range(1 + len(self._document.paraphrases))
        try:
            places = iter(list(self._places(parameters)))
            builder = self.draw(lambda count: next(places))
            tasks = (self.fill(builder, partial(operator.mod, place)) for place in wordings)
            return next(task for task in tasks if task.instruction == instruction)
        except (FieldError, LookupError, ValueError, StopIteration) as exc:
            raise ConfigurationError(
                f"{self.path}: gives no task with {dict(parameters)} and the instruction {instruction!r}; "
                "was the file changed?"
            ) from exc

    def _places(self, parameters: Mapping[str, Any]) -> Iterator[int]:
        """Where each parameter's value stands among those that it can have."""
        values: dict[str, Any] = {}
        for name, parameter in self._document.parameters.items():
            yield parameter.options(values, ("parameters", name)).index(parameters[name])
            values[name] = parameters[name]

    def check(self) -> None:
        """Build the task for some draws, see `picks`.

        Raises:
            TaskFileError: one of these tasks cannot be.
        """
        for pick in self.picks(_PROBE_SEEDS):
            self._build(pick)

    def picks(self, seeds: Iterable[int]) -> Iterator[Pick]:
        """Draws to try: each entry of each choice, each range's ends, and what the seeds draw."""
        choices = [each.choice for each in self._document.parameters.values() if isinstance(each, Choice)]
        for place in range(max(map(len, choices), default=1)):
            yield partial(operator.mod, place)
        yield lambda count: count - 1
        for seed in seeds:
            yield _picker(np.random.default_rng(seed))

    def draw(self, pick: Pick) -> Builder:
        """Draw the parameters; a `FieldError` where they can have no value."""
        return Builder(self._document, self._vocabulary, pick)

    def fill(self, builder: Builder, pick: Pick) -> TaskSpec:
        """The task of drawn parameters; a `FieldError` where it cannot be."""
        document = self._document
        return TaskSpec(
            id=self.id,
            app=self._vocabulary.app,
            difficulty=document.difficulty,
            instruction=builder.instruction(pick),
            parameters=builder.values,
            setup=builder.setup(),
            graph=builder.graph(),
            infeasible=self.kind == "infeasible",
            question=self.kind == "question",
            max_steps=document.max_steps,
            stagnation_steps=document.stagnation_steps,
            files=builder.files,
            inspections=builder.inspections(),
            oracles=builder.oracles(),
            source=str(self.path),
        )

    def _build(self, pick: Pick) -> TaskSpec:
        try:
            return self.fill(self.draw(pick), pick)
        except FieldError as exc:
            raise exc.located(self.path, self.source) from exc


def _picker(rng: np.random.Generator) -> Pick:
    return lambda count: int(rng.integers(count))


def _load(path: Path, vocabulary: Vocabulary) -> Template:
    source = read(path)
    data = parse_toml(path, source)
    try:
        template = Template(path, source, parse(Document, data), vocabulary)
    except FieldError as exc:
        raise exc.located(path, source) from exc
    template.check()
    return template


def load_template(path: Path, app: App) -> Template:
    """Read and check one task file of an app.

    Raises:
        TaskFileError: it is wrong; the message starts with `FILE:LINE: field:`.
    """
    return _load(path, Vocabulary(app))


def load_templates(app: App) -> dict[str, Template]:
    """Read and check an app's task files, `app.folder / "tasks" / "*.toml"`, by id.

    Raises:
        TaskFileError: one is wrong; the message starts with `FILE:LINE: field:`.
    """
    vocabulary = Vocabulary(app)
    return {path.stem: _load(path, vocabulary) for path in sorted((app.folder / "tasks").glob("*.toml"))}
