"""KAlgebra as an app: what to start, when it is ready, and what its state is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from sci_gym.app import App, ProgramSpec, Requirement
from sci_gym.envs.kalgebra import ENV_ID, widgets
from sci_gym.envs.kalgebra.predicates import PREDICATES
from sci_gym.envs.kalgebra.verbs import PROGRAM, VERBS, observed
from sci_gym.specs import Observation

FOLDER = Path(__file__).resolve().parent


class KAlgebra(App):
    """KAlgebra, the stock program: calculator, graphs in the plane and in space, dictionary of operations."""

    name: ClassVar[str] = "kalgebra"
    env_id: ClassVar[str] = ENV_ID
    title: ClassVar[str] = "KAlgebra"
    folder: ClassVar[Path] = FOLDER
    requirements: ClassVar[tuple[Requirement, ...]] = (
        Requirement("/usr/bin/kalgebra", "kalgebra", "the program itself"),
        Requirement(
            "/usr/share/drirc.d/00-mesa-defaults.conf", "libgl1-mesa-dri", "a GL driver for its 3D graph"
        ),
        Requirement("tcc", "tcc", "compiles the module that reports its plots"),
    )
    programs: ClassVar[tuple[ProgramSpec, ...]] = (
        ProgramSpec(
            name=PROGRAM,
            argv=("/usr/bin/kalgebra",),
            env={
                "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
                "QT_QUICK_BACKEND": "software",  # else the calculator's page has the whole window drawn by GL
                "QTWEBENGINE_CHROMIUM_FLAGS": "--no-sandbox --disable-gpu",
            },
            preload=FOLDER / "guest" / "plots.c",
        ),
    )
    verbs: ClassVar[Mapping[str, Callable[..., None]]] = VERBS
    predicates: ClassVar[Mapping[str, Callable[..., bool]]] = PREDICATES

    def ready(self, observation: Observation) -> bool:
        """Whether the calculator's input line is on screen."""
        line = widgets.calculator_input(observation.tree.of_program(PROGRAM))
        return line is not None and line.showing

    def read_state(self, observation: Observation) -> Mapping[str, Any]:
        """The program's state; a program that is gone gives None, "" and empty containers.

        Keys:
            tab: "Calculator", "2D Graph", "3D Graph", "Dictionary", or None.
            variables: name to value as KAlgebra shows it: numbers in full precision, complex ones by their
                real part, the rest as expressions; the constants pi, e, euler, i, true and false included.
            values: of those variables that were given a value since the start, the value as Analitza writes
                it, such as "1+-i" of a complex one.
            plots_2d: list of `{"name", "plot", "color", "visible"}`, plots in the plane in the order of the
                list; the color is "#rrggbb", or None where it is not known.
            plots_3d: the same for space; KAlgebra keeps at most one.
            viewport: `{"left", "top", "width", "height"}` of the 2D graph as applied, in its units, or None.
            resolution: "Poor", "Normal", "Fine", "Very Fine", or None.
            grid, keep_aspect_ratio: whether these entries of the menu "2D Graph" are checked.
            style_3d: "Dots", "Lines", "Solid", or None.
            mode: "Calculate", "Evaluate", or None.
            input, input_3d: what stands in the input lines, evaluated or not.
            dictionary: `{"filter": text, "entry": name of the operation shown, or None}`.
        """
        return observed(observation)


APP = KAlgebra()
