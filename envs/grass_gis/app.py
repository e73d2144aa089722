"""GRASS GIS as an app: what to start, when it is ready, and what its state is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from sci_gym.app import App, ProgramSpec, Requirement
from sci_gym.envs.grass_gis import ENV_ID
from sci_gym.envs.grass_gis.inspections import INSPECTIONS
from sci_gym.envs.grass_gis.predicates import PREDICATES
from sci_gym.envs.grass_gis.verbs import PROGRAM, VERBS, observed
from sci_gym.specs import Inspection, Observation

FOLDER = Path(__file__).resolve().parent
_MODULE = """import sys, types
sys.modules[{0!r}] = types.ModuleType({0!r})
exec({1!r}, vars(sys.modules[{0!r}]))
"""


def script(start: str, **modules: Path) -> str:
    """A start script as one text, for Python's -c in the guest, with the modules that it imports by name."""
    known = {"session": FOLDER / "guest" / "session.py", **modules}
    texts = [_MODULE.format(name, path.read_text()) for name, path in known.items()]
    return "".join(texts) + (FOLDER / "guest" / start).read_text()


class GrassGis(App):
    """GRASS GIS, the stock graphical interface in its single-window layout, on the location "valley"."""

    name: ClassVar[str] = "grass_gis"
    env_id: ClassVar[str] = ENV_ID
    title: ClassVar[str] = "GRASS GIS"
    folder: ClassVar[Path] = FOLDER
    requirements: ClassVar[tuple[Requirement, ...]] = (
        Requirement("/usr/lib/grass82/gui/wxpython/wxgui.py", "grass-gui", "the program itself"),
    )
    programs: ClassVar[tuple[ProgramSpec, ...]] = (
        ProgramSpec(
            name=PROGRAM,
            argv=("/usr/bin/python3", "-I", "-c", script("start.py", world=FOLDER / "world.py")),
            preload=FOLDER / "guest" / "state.py",
            register_s=90.0,
            reports=True,
        ),
    )
    verbs: ClassVar[Mapping[str, Callable[..., None]]] = VERBS
    predicates: ClassVar[Mapping[str, Callable[..., bool]]] = PREDICATES
    inspections: ClassVar[Mapping[str, Callable[..., Inspection]]] = INSPECTIONS

    def ready(self, observation: Observation) -> bool:
        """Whether the main window stands with a map display and its catalog, and nothing is in front."""
        state = observed(observation)
        return bool(state["displays"] and state["catalog"]) and not state["windows"]

    def read_state(self, observation: Observation) -> Mapping[str, Any]:
        """The program's state; a program that is gone gives False, None, "" and empty containers.

        Keys:
            running: the interface reports.
            displays: the map displays, each with name; region (n, s, e, w in m); scale (n of 1:n);
                status_bar, what it shows; toolbars; auto_render; shows_region; layers, those on top first,
                each with name ("map@mapset"), type, visible, opacity (0 to 1), command (words of its d.*
                command); elements drawn over the map (legends and so on), each with name, visible, command.
            windows: titles of dialogs and tools that are open.
            busy: a tool still reads about maps that it was given; it then clears fields that depend on them.
            plots: plotting tools that are open, each with tool (its title) and maps (names).
            session: location and mapset that are worked in, as in "valley/work".
            console: the end of the console's output.
            output: the end of what the commands of tools that are open have printed.
            catalog: what is selected in the data catalog.
            region: the computational region as the interface read it last: north, south, east, west,
                "e-w resol", "n-s resol", in m.
            mapset: if inspected, rasters and vectors (names in the mapset "work") and region (of its WIND
                file), else None.
            rasters: by name, those that were inspected and exist: region, type, values by row from the north
                (None is no data), colors (rules of r.colors.out), labels by category.
            vectors: by name, likewise: shapes (text in GRASS's standard ASCII format), table (list of rows).
            commands: by the inspection's name, what a command of GRASS's printed: a text, or JSON's value.
            dump: the interface's own data under the names of ScienceBoard's fork, where its tasks are played.
        """
        return observed(observation)


APP = GrassGis()
