"""Several programs on one desktop, and tasks that need more than one of them."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from sci_gym.composition import Composition
from sci_gym.envs.crossapp import ENV_ID


class CrossApp(Composition):
    """KAlgebra and TeXstudio, each in a window of its own; Alt+Tab brings the other one to the front."""

    name: ClassVar[str] = "crossapp"
    env_id: ClassVar[str] = ENV_ID
    title: ClassVar[str] = "KAlgebra and TeXstudio"
    folder: ClassVar[Path] = Path(__file__).resolve().parent
    members: ClassVar[tuple[str, ...]] = ("kalgebra", "texstudio")


APP = CrossApp()
