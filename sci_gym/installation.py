"""Programs that no distribution carries: a user brings an installation, which is named or found.

It is named by `gym.make(..., installation=PATH)` or by an environment variable; else it is looked for on
PATH, and then where the program's own packages put it. What is named is taken as it stands: a wrong name is
told, and nothing else is played in its place.
"""

from __future__ import annotations

import abc
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

from sci_gym.app import App, ProgramSpec, Requirement
from sci_gym.errors import ConfigurationError

_SYSTEM = Path("/usr")


@dataclass(frozen=True, slots=True)
class Installation:
    """How to find one: a folder, its root, that holds all of it.

    Attributes:
        title: the program's name.
        variable: of the environment, which names the root or the executable, such as "SCI_GYM_CHIMERAX".
        executable: its path below the root, such as "bin/ChimeraX".
        commands: what it is called on PATH, links to the executable included.
        usual: roots where its packages put it, at least one.
        advice: how to get it, where, and under which licence.
        version: tells an installation's version from its root, "" where that shows none.
    """

    title: str
    variable: str
    executable: str
    commands: Sequence[str]
    usual: Sequence[str]
    advice: str
    version: Callable[[Path], str]

    def find(self, given: str | Path | None = None) -> Path:
        """The root: of what is named, else of what is found, else where its package would put it.

        Args:
            given: a root or an executable, as the option `installation` names it.
        """
        named = given or os.environ.get(self.variable)
        if named:
            return self._root(Path(named).expanduser())
        found = [Path(path) for path in map(shutil.which, self.commands) if path]
        roots = [root for root in map(self._root, found) if self.holds(root)]
        usual = [Path(path) for path in self.usual]
        return next((root for root in [*roots, *usual] if self.holds(root)), usual[0])

    def holds(self, root: Path) -> bool:
        """Whether a folder is a root."""
        return os.access(root / self.executable, os.X_OK)

    def requirement(self, root: Path) -> Requirement:
        """What must be there: the executable, and in the sandbox's sight all that is below the root."""
        command = str(root / self.executable)
        return Requirement(command, "", "the program itself", shown=str(root), advice=self.advice)

    def _root(self, path: Path) -> Path:
        """The root of an executable, links followed; other paths are roots themselves."""
        real = path.resolve()
        return real.parents[len(Path(self.executable).parts) - 1] if real.is_file() else real


class BroughtApp(App):
    """An app whose program a user brings.

    Attributes:
        installation: how to find it.
        root: where it is; where its package would put it, if it is not here.
    """

    installation: ClassVar[Installation]
    root: ClassVar[Path]
    requirements: ClassVar[tuple[Requirement, ...]] = ()
    programs: ClassVar[tuple[ProgramSpec, ...]] = ()

    @classmethod
    @abc.abstractmethod
    def started(cls, root: Path) -> tuple[ProgramSpec, ...]:
        """What is started of an installation for each episode."""

    @classmethod
    def at(cls, given: str | Path | None = None) -> Self:
        """The app on what is named or found, see `Installation.find`."""
        root = cls.installation.find(given)
        body = {
            "root": root,
            "requirements": (*cls.requirements, cls.installation.requirement(root)),
            "programs": cls.started(root),
            "__module__": cls.__module__,
        }
        placed: Self = type(cls.__name__, (cls,), body)()
        return placed

    def offering(self, interface: str) -> Self:
        """The same; its programs are told the interface by SCI_GYM_INTERFACE, and keep to it themselves."""
        return self.started_with(SCI_GYM_INTERFACE=interface)

    def started_with(self, **env: str) -> Self:
        """The same, its programs started with further variables."""
        programs = tuple(replace(one, env={**one.env, **env}) for one in self.programs)
        body = {"programs": programs, "__module__": type(self).__module__}
        changed: Self = type(type(self).__name__, (type(self),), body)()
        return changed

    @property
    def version(self) -> str:
        """Of what is at `root`."""
        return self.installation.version(self.root)


def shown_folders(requirements: Sequence[Requirement]) -> list[Path]:
    """Folders that programs need to see beside the distribution's own, which they see anyway.

    Raises:
        ConfigurationError: one holds this user's home.
    """
    folders = {Path(one.shown).resolve() for one in requirements if one.shown}
    for folder in folders:
        if Path.home().is_relative_to(folder):
            raise ConfigurationError(
                f"installation: the guest would see all of {folder}; name a folder of the program alone"
            )
    return sorted(folder for folder in folders if not folder.is_relative_to(_SYSTEM))
