"""TeXstudio as an app without tasks: a large Qt program to measure on, with a small document open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from sci_gym.app import App, ProgramSpec, Requirement
from sci_gym.specs import Observation

_DOCUMENT = r"""\documentclass{article}
\begin{document}
\section{Introduction}
Every continuous function on a compact interval is bounded.
\subsection{Notation}
Let $f\colon [0, 1] \to \mathbb{R}$ be continuous.
\section{Proof}
\[ \sup_{x \in [0, 1]} |f(x)| < \infty \]
\end{document}
"""
# It otherwise asks for a LaTeX distribution, and looks for updates.
_SETTINGS = r"""[texmaker]
Startup\CheckLatexConfiguration=false
Update\AutoCheck=false
"""
_START = """mkdir -p .config/texstudio
printf %s "$SETTINGS" > .config/texstudio/texstudio.ini
printf %s "$DOCUMENT" > paper.tex
exec /usr/bin/texstudio paper.tex
"""


class TeXstudio(App):
    """TeXstudio, the stock program."""

    name: ClassVar[str] = "texstudio"
    env_id: ClassVar[str] = "TeXstudio"
    title: ClassVar[str] = "TeXstudio"
    folder: ClassVar[Path] = Path(__file__).resolve().parent
    requirements: ClassVar[tuple[Requirement, ...]] = (
        Requirement("/usr/bin/texstudio", "texstudio", "the program itself"),
    )
    programs: ClassVar[tuple[ProgramSpec, ...]] = (
        ProgramSpec(
            name="texstudio",
            argv=("/bin/sh", "-c", _START),
            env={"QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1", "SETTINGS": _SETTINGS, "DOCUMENT": _DOCUMENT},
            register_s=20.0,
        ),
    )
    verbs: ClassVar[Mapping[str, Callable[..., None]]] = {}
    predicates: ClassVar[Mapping[str, Callable[..., bool]]] = {}

    def ready(self, observation: Observation) -> bool:
        """Whether the document's structure is shown."""
        return any(node.role == "table cell" and node.name == "Proof" for node in observation.tree.showing)

    def read_state(self, observation: Observation) -> Mapping[str, Any]:
        """Nothing: no task is judged."""
        return {}


APP = TeXstudio()
