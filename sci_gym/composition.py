"""Several programs on one desktop: an app that is made of others, which it knows by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from sci_gym.app import App, ProgramSpec, Requirement
from sci_gym.specs import Observation, TaskSpec


class Composition(App):
    """An app whose desktop holds the programs of others, its `members`: names of folders under `envs/`.

    Its folder holds the tasks alone. They name predicates, verbs and inspections in full, such as
    "kalgebra.variable"; a check sees each member's state under that member's own name. The loader finds the
    members, so that no folder imports another.

    Attributes:
        members: names of the apps, the one that is in front at first before the others.
        on_demand: those of them whose programs are started only for tasks that speak of them. Where a user
            has not brought one, the other tasks are played without it.
    """

    members: ClassVar[tuple[str, ...]]
    on_demand: ClassVar[tuple[str, ...]] = ()
    requirements: ClassVar[tuple[Requirement, ...]] = ()
    programs: ClassVar[tuple[ProgramSpec, ...]] = ()
    verbs: ClassVar[Mapping[str, Callable[..., None]]] = {}
    predicates: ClassVar[Mapping[str, Callable[..., bool]]] = {}
    _parts: ClassVar[tuple[App, ...]] = ()

    @classmethod
    def of(cls, parts: Sequence[App]) -> Composition:
        """The app with its members, in their order."""
        here = [part for part in parts if part.name not in cls.on_demand or not part.to_bring]
        body = {
            "requirements": tuple(dict.fromkeys(one for part in here for one in part.requirements)),
            "programs": tuple(program for part in cls._standing(parts) for program in part.programs),
            "_parts": tuple(parts),
        }
        composed: Composition = type(cls.__name__, (cls,), body)()
        return composed

    @classmethod
    def around(cls, app: App, others: Sequence[App]) -> App:
        """An app with others beside it, which are started only for tasks that speak of them."""
        if not others:
            return app
        names = tuple(one.name for one in others)
        body = {
            "name": app.name, "env_id": app.env_id, "title": app.title, "folder": app.folder,
            "members": (app.name, *names), "on_demand": names,
        }  # fmt: skip
        around: type[Composition] = type(cls.__name__, (cls,), body)
        return around.of([app, *others])

    def offering(self, interface: str) -> App:
        """The members, as each is started for an interface."""
        return self.of([part.offering(interface) for part in self._parts])

    @property
    def parts(self) -> tuple[App, ...]:
        """The members."""
        return self._parts

    def late_parts(self, task: TaskSpec) -> tuple[App, ...]:
        """The members on demand that a task speaks of."""
        return tuple(part for part in self._parts if part.name in self.on_demand and part.name in task.apps)

    def ready(self, observation: Observation) -> bool:
        """Whether every program that is started for each task can take input."""
        return bool(self._parts) and all(part.ready(observation) for part in self._standing(self._parts))

    def read_state(self, observation: Observation) -> Mapping[str, Any]:
        """Each member's state by the member's name."""
        return {part.name: part.read_state(observation) for part in self._parts}

    @classmethod
    def _standing(cls, parts: Sequence[App]) -> list[App]:
        return [part for part in parts if part.name not in cls.on_demand]
