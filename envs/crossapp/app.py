"""Several programs on one desktop, and tasks that need more than one of them."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from sci_gym.composition import Composition
from sci_gym.envs.crossapp import ENV_ID


class CrossApp(Composition):
    """KAlgebra, TeXstudio, and GRASS GIS where it is needed, each in its window; Alt+Tab goes round them."""

    name: ClassVar[str] = "crossapp"
    env_id: ClassVar[str] = ENV_ID
    title: ClassVar[str] = "KAlgebra, TeXstudio and GRASS GIS"
    folder: ClassVar[Path] = Path(__file__).resolve().parent
    members: ClassVar[tuple[str, ...]] = ("kalgebra", "texstudio", "grass_gis")
    on_demand: ClassVar[tuple[str, ...]] = ("grass_gis",)


APP = CrossApp()
