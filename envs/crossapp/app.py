"""Several programs on one desktop, and tasks that need more than one of them."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from sci_gym.composition import Composition
from sci_gym.envs.crossapp import ENV_ID


class CrossApp(Composition):
    """KAlgebra, TeXstudio, and GRASS GIS, ChimeraX or Lean's editor where needed; Alt+Tab goes round."""

    name: ClassVar[str] = "crossapp"
    env_id: ClassVar[str] = ENV_ID
    title: ClassVar[str] = "KAlgebra, TeXstudio, GRASS GIS, ChimeraX and Lean"
    folder: ClassVar[Path] = Path(__file__).resolve().parent
    members: ClassVar[tuple[str, ...]] = ("kalgebra", "texstudio", "grass_gis", "chimerax", "lean")
    on_demand: ClassVar[tuple[str, ...]] = ("grass_gis", "chimerax", "lean")


APP = CrossApp()
