"""ChimeraX as an app: what to start, when it is ready, and what its state is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from sci_gym.app import Command, ProgramSpec, Requirement
from sci_gym.envs.chimerax import ENV_ID
from sci_gym.envs.chimerax.installation import INSTALLATION, python_of
from sci_gym.envs.chimerax.predicates import PREDICATES
from sci_gym.envs.chimerax.state import PROGRAM, observed
from sci_gym.envs.chimerax.verbs import VERBS, client
from sci_gym.installation import BroughtApp, Installation
from sci_gym.specs import Observation

FOLDER = Path(__file__).resolve().parent


class ChimeraX(BroughtApp):
    """ChimeraX, the stock program: structures of molecules, shown, measured and compared.

    With the interface "gui", it has neither its command line nor files of commands.
    """

    name: ClassVar[str] = "chimerax"
    env_id: ClassVar[str] = ENV_ID
    title: ClassVar[str] = "ChimeraX"
    folder: ClassVar[Path] = FOLDER
    installation: ClassVar[Installation] = INSTALLATION
    requirements: ClassVar[tuple[Requirement, ...]] = (
        Requirement(
            "/usr/share/drirc.d/00-mesa-defaults.conf", "libgl1-mesa-dri", "a GL driver for its graphics"
        ),
    )
    verbs: ClassVar[Mapping[str, Callable[..., None]]] = VERBS
    predicates: ClassVar[Mapping[str, Callable[..., bool]]] = PREDICATES

    @classmethod
    def started(cls, root: Path) -> tuple[ProgramSpec, ...]:
        """The installation's own Python, which becomes the program as the launcher does."""
        start = (FOLDER / "guest" / "start.py").read_text()
        env = {
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            "QTWEBENGINE_CHROMIUM_FLAGS": "--no-sandbox --disable-gpu",
            "QT_LOGGING_RULES": "qt.accessibility.*.warning=false",  # its log would show them
        }
        return (
            ProgramSpec(
                name=PROGRAM,
                argv=(str(python_of(root)), "-I", "-c", start),
                env=env,
                preload=FOLDER / "guest" / "state.py",
                register_s=90.0,
                reports=True,
            ),
        )

    def command(self, code: str) -> Command:
        """Typed into its command line, line by line."""
        return Command(("/usr/bin/python3", "-I", "-"), client(code).encode())

    def ready(self, observation: Observation) -> bool:
        """Whether its main window is on screen, menus and all, and the scene fills its area."""
        nodes = observation.tree.of_program(PROGRAM).showing
        view = observed(observation)["view"]
        fills = "area" in view and view["area"] == view.get("window")
        return bool(fills) and any(node.role == "menu item" and node.name == "Select" for node in nodes)

    def read_state(self, observation: Observation) -> Mapping[str, Any]:
        """The program's state; a program that is gone gives False, None and empty containers.

        Keys:
            running: the program reports.
            interface: what it was started for.
            models: by id, such as "1" or "1.2": name, kind (the class), shown (with all above it), selected,
                color ("#rrggbbaa"), place (3 by 4 matrix in the scene, in angstroms), and
                of structures: chains (sequence by chain), residues (each chain, number, name, cartoon
                shown, cartoon color, secondary structure: 0 coil, 1 helix, 2 strand; polymer: 0 none, 1
                protein, 2 nucleic), atoms (each name, element, residue's index, place in the scene in
                angstroms, shown, style: 0 sphere, 1 ball, 2 stick; color, selected);
                of groups of pseudobonds: bonds (each two ends [model, chain, number, atom], length in
                angstroms, color, shown), dashes;
                of labels in the scene: labels (each model, chain, number, atom or "", text, visible);
                of labels on the screen: text, at (0 to 1 from the left and from below), size;
                of molecular surfaces: encloses, shows (atoms by "model/chain"), style, colors (share of the
                vertices by color).
            view: camera ("mono", "ortho", ...), place, field_of_view (degrees), field_width (angstroms),
                background, silhouettes, shadows, multishadow, key_light, fill_light, ambient_light,
                depth_cue, rotation_center, rotation_method, window (pixels drawn), area (pixels to
                draw on).
            tools: tool and title of each tool that is on screen.
            dump: values of the session by their paths in it, as ScienceBoard's bundle names them, and
                "selected" (model, chain, number, name, type of each atom); {} but for its tasks.
            alignments: name, sequences (each name, characters, chains as [model, chain]).
        """
        return observed(observation)


APP = ChimeraX()
