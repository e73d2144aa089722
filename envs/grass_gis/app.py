"""GRASS GIS as an app."""
from __future__ import annotations
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from sci_gym.app import App, ProgramSpec, Requirement
from sci_gym.envs.grass_gis import ENV_ID
from sci_gym.specs import Observation

FOLDER = Path(__file__).resolve().parent
PROGRAM = "grass"

def start_script():
    source = (FOLDER / "world.py").read_text() + (FOLDER / "guest" / "start.py").read_text()
    return source.replace("from __future__ import annotations\n", "")

class GrassGis(App):
    name: ClassVar[str] = "grass_gis"
    env_id: ClassVar[str] = ENV_ID
    title: ClassVar[str] = "GRASS GIS"
    folder: ClassVar[Path] = FOLDER
    requirements: ClassVar[tuple[Requirement, ...]] = (
        Requirement("/usr/lib/grass82/gui/wxpython/wxgui.py", "grass-gui", "the program itself"),
    )
    programs: ClassVar[tuple[ProgramSpec, ...]] = (
        ProgramSpec(name=PROGRAM, argv=("/usr/bin/python3", "-I", "-c", start_script()), env={"GTK_MODULES": "", "NO_AT_BRIDGE": "0"}, preload=FOLDER / "guest" / "state.py", register_s=40, reports=True),
    )
    verbs: ClassVar[Mapping[str, Callable[..., None]]] = {}
    predicates: ClassVar[Mapping[str, Callable[..., bool]]] = {}

    def ready(self, observation: Observation) -> bool:
        return any("valley" in one.title for one in observation.windows)

    def read_state(self, observation: Observation) -> Mapping[str, Any]:
        return {}

APP = GrassGis()
