"""TeXstudio as an app: what to start, when it is ready, and what its state is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from sci_gym.app import App, ProgramSpec, Requirement
from sci_gym.envs.texstudio import ENV_ID
from sci_gym.envs.texstudio.predicates import PREDICATES
from sci_gym.envs.texstudio.state import PROGRAM, SETTINGS_FILE, observed
from sci_gym.envs.texstudio.verbs import VERBS
from sci_gym.specs import Inspection, Observation

FOLDER = Path(__file__).resolve().parent
# It otherwise asks for a LaTeX distribution, looks for updates, and shows a tip of the day.
_SETTINGS = r"""[texmaker]
Startup\CheckLatexConfiguration=false
Update\AutoCheck=false
TipOfDay=false
"""
_START = f"""mkdir -p "$(dirname {SETTINGS_FILE})"
printf %s "$SETTINGS" > {SETTINGS_FILE}
unset SETTINGS
exec /usr/bin/texstudio
"""


def typeset(*, path: str, beside: list[str] | None = None) -> Inspection:
    """Typeset a document, and look at the PDFs beside it; other files `beside` it are what it needs."""
    files = (path, *(beside or ()))
    return Inspection(
        name=f"{PROGRAM}.{path}",
        argv=("/usr/bin/python3", "-I", "-", *files),
        stdin=(FOLDER / "guest" / "typeset.py").read_bytes(),
        watches=files,
    )


class TeXstudio(App):
    """TeXstudio, the stock program: an editor of LaTeX documents, with TeX behind it."""

    name: ClassVar[str] = "texstudio"
    env_id: ClassVar[str] = ENV_ID
    title: ClassVar[str] = "TeXstudio"
    folder: ClassVar[Path] = FOLDER
    requirements: ClassVar[tuple[Requirement, ...]] = (
        Requirement("/usr/bin/texstudio", "texstudio", "the program itself"),
        Requirement(
            "pdflatex", "texlive-latex-base", "typesets documents, TeXstudio's and those that are judged"
        ),
        Requirement(
            "/usr/share/texlive/texmf-dist/tex/latex/booktabs/booktabs.sty",
            "texlive-latex-recommended",
            "packages that documents commonly use",
        ),
        Requirement("pdftotext", "poppler-utils", "reads what stands on typeset pages"),
        Requirement("tcc", "tcc", "compiles the module that reports its documents"),
    )
    programs: ClassVar[tuple[ProgramSpec, ...]] = (
        ProgramSpec(
            name=PROGRAM,
            argv=("/bin/sh", "-c", _START),
            env={"QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1", "SETTINGS": _SETTINGS},
            preload=FOLDER / "guest" / "documents.c",
            register_s=40.0,
            reports=True,
        ),
    )
    inspections: ClassVar[Mapping[str, Callable[..., Inspection]]] = {"typeset": typeset}
    verbs: ClassVar[Mapping[str, Callable[..., None]]] = VERBS
    predicates: ClassVar[Mapping[str, Callable[..., bool]]] = PREDICATES

    def ready(self, observation: Observation) -> bool:
        """Whether its main window is on screen, menus and all."""
        titled = any(
            window.program == PROGRAM and window.title.endswith("TeXstudio") for window in observation.windows
        )
        return titled and any(
            node.role == "menu bar" for node in observation.tree.of_program(PROGRAM).showing
        )

    def read_state(self, observation: Observation) -> Mapping[str, Any]:
        """The program's state; a program that is gone gives False, None and empty containers.

        Keys:
            running: whether the program runs.
            documents: path, relative to the home, to each document that is open in the editor:
                `{"text", "whole", "clean", "saved", "source", "bookmarks", "cursor"}`; text as in the editor,
                unsaved edits included; whole: it was not too long to be reported; clean: nothing was edited
                since it was read or saved; saved: it is what the file on disk holds (which must be among the
                task's `files`), line ends apart; source: SHA-256 of that file; bookmarks: lines from 0;
                cursor: (line, column) from 0.
            current: path of the document in front, or None.
            structure: the titles that the structure view shows.
            log: `{"file", "type", "line", "message"}` of each issue of the last build, in the log's table.
            view: whether "Side Panel", "Messages / Log File" and "Statusbar" are shown.
            settings: by key those settings that `guest/documents.c` names, as they are in effect, such as
                "Editor/Font Size": "9" and "Editor/Folding": "true".
            typeset: path to what TeX makes of the documents that the task inspects, see `guest/typeset.py`.
            builds: path without ".tex" to whether a document can be built, see `guest/build.py`.
        """
        return observed(observation)


APP = TeXstudio()
