"""Lean as an app: a file with theorems to prove, its judge, tactics as command language, and an editor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from sci_gym.app import Command, Desktop, ProgramSpec, Requirement
from sci_gym.envs.lean import ENV_ID, editor
from sci_gym.envs.lean.predicates import PREDICATES
from sci_gym.envs.lean.state import JUDGE, observed, words
from sci_gym.envs.lean.toolchain import LEAN
from sci_gym.installation import BroughtApp, Installation
from sci_gym.specs import Inspection, Observation

FOLDER = Path(__file__).resolve().parent
FILE = "Task.lean"
_SCRIPT = FOLDER / "guest" / "project.py"
_SERVER = FOLDER / "guest" / "server.py"
_DOOR, _SERVES = "/tmp/.lean-server", "language server"
_PYTHON = "/usr/bin/python3"


def project(desktop: Desktop, *, text: str) -> None:
    """Write the file to be worked on, `Task.lean`, and open it where there is an editor."""
    desktop.put_file(FILE, text.encode())
    if desktop.observe().program(editor.KATE) is not None:
        editor.open_file(desktop, f"/home/user/{FILE}")


class Lean(BroughtApp):
    """Lean 4: proofs are written tactic by tactic, as a whole, or in an editor."""

    name: ClassVar[str] = "lean"
    env_id: ClassVar[str] = ENV_ID
    title: ClassVar[str] = "Lean"
    folder: ClassVar[Path] = FOLDER
    screen: ClassVar[bool] = False
    installation: ClassVar[Installation] = LEAN
    requirements: ClassVar[tuple[Requirement, ...]] = (
        Requirement(_PYTHON, "python3", "judges proofs in the guest"),
        editor.REQUIREMENT,
    )
    verbs: ClassVar[Mapping[str, Callable[..., None]]] = {"project": project}
    predicates: ClassVar[Mapping[str, Callable[..., bool]]] = PREDICATES

    @classmethod
    def started(cls, root: Path) -> tuple[ProgramSpec, ...]:
        """The language server, which answers tactics, and the editor; the judge runs Lean by itself."""
        lean = str(root / cls.installation.executable)
        argv = (_PYTHON, "-I", "-c", _SERVER.read_text(), lean, _DOOR)
        return (ProgramSpec(_SERVES, argv, register_s=0.0), editor.editor(lean))

    def offering(self, interface: str) -> Self:
        """With "cli" it answers tactics, with "gui" there is an editor, with "hybrid" both."""
        without = {"cli": editor.KATE, "gui": _SERVES}.get(interface, "")
        needed = [one for one in self.requirements if interface != "cli" or one != editor.REQUIREMENT]
        body = {
            "screen": interface != "cli",
            "quiet_s": 0.0 if interface == "cli" else editor.QUIET_S,
            "requirements": tuple(needed),
            "programs": tuple(one for one in self.programs if one.name != without),
            "__module__": type(self).__module__,
        }
        offered: Self = type(type(self).__name__, (type(self),), body)()
        return offered

    @classmethod
    def at(cls, given: str | Path | None = None) -> Self:
        """The app on a toolchain, whose `lean` judges."""
        placed = super().at(given)
        type(placed).inspections = {"judge": placed.judge}
        return placed

    def judge(self, *, text: str) -> Inspection:
        """Whether `Task.lean` is the task's `text` but for proofs, and which theorems Lean accepts."""
        return Inspection(
            name=JUDGE,
            argv=(_PYTHON, "-I", "-", self._lean, "judge"),
            stdin=_SCRIPT.read_bytes(),
            env={"TASK": text},
            watches=(FILE,),
        )

    def command(self, code: str) -> Command:
        """Tactics for the first theorem that is open, see `guest/project.py`."""
        return Command((_PYTHON, "-I", "-c", _SCRIPT.read_text(), _DOOR, "prove"), code.encode())

    def describe(self, observation: Observation) -> str:
        """The file, and for each theorem how it stands and what Lean says, open goals included."""
        return words(observed(observation))

    def ready(self, observation: Observation) -> bool:
        """Whether the language server runs, and the editor is on screen; files are judged without either."""
        running = all(observation.program(one.name) is not None for one in self.programs)
        return running and (not self.screen or editor.is_ready(observation))

    def read_state(self, observation: Observation) -> Mapping[str, Any]:
        """What the judge says of the project.

        Keys:
            text: what `Task.lean` holds.
            fault: why it is not the task's file any more, or was not judged; else "".
            theorems: of each theorem of the task `{"state", "messages", "axioms"}`. state: "proved", "open"
                (it has goals left, or `sorry` in it), "wrong" (Lean refuses it) or "refused" (it has in it
                what no proof needs); messages: Lean's, each `{"line", "severity", "text"}`; axioms: what a
                theorem that Lean accepts rests on.
        """
        return observed(observation)

    @property
    def _lean(self) -> str:
        return str(self.root / self.installation.executable)


APP = Lean()
