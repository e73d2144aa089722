"""Celestia as an app: what to start, when it is ready, and what its state is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from sci_gym.app import ProgramSpec, Requirement
from sci_gym.envs.celestia import ENV_ID
from sci_gym.envs.celestia.installation import INSTALLATION
from sci_gym.envs.celestia.predicates import PREDICATES
from sci_gym.envs.celestia.state import PROGRAM, observed
from sci_gym.envs.celestia.verbs import VERBS
from sci_gym.installation import BroughtApp, Installation
from sci_gym.specs import Observation

FOLDER = Path(__file__).resolve().parent
# Read after the installation's own configuration file. Lua that others bring can do nothing.
_CONFIGURATION = """Configuration {
  LuaHook "/home/user/.celestia/hook.lua"
  InitScript ""
  DemoScript ""
  ScriptSystemAccessPolicy "deny"
  AntialiasingSamples 1
}
"""
# By default it draws frame after frame, which under software GL leaves its main loop no time to answer. What
# a step changed is reported with the next frame, and so a step has to last until that.
_FRAMES_A_SECOND, _QUIET_S = 4, 0.3
_SETTINGS = f"""[General]
fps={_FRAMES_A_SECOND}
[MainWindow]
Fullscreen=false
Pos=@Point(0 0)
Size=@Size(1280 760)
[Preferences]
LocalTime=false
"""
_START = """settings="$HOME/.config/Celestia Development Team"
mkdir -p "$HOME/.celestia" "$settings"
printf %s "$HOOK" > "$HOME/.celestia/hook.lua"
printf %s "$CONFIGURATION" > "$HOME/.celestia/celestia.cfg"
printf %s "$SETTINGS" > "$settings/Celestia QT.conf"
unset HOOK CONFIGURATION SETTINGS
exec "$0" --nosplash --dir "$1"
"""


class Celestia(BroughtApp):
    """Celestia, the stock program: the sky from anywhere at any time, and what is in it.

    With the interface "gui", files of commands are refused.
    """

    name: ClassVar[str] = "celestia"
    env_id: ClassVar[str] = ENV_ID
    title: ClassVar[str] = "Celestia"
    folder: ClassVar[Path] = FOLDER
    installation: ClassVar[Installation] = INSTALLATION
    requirements: ClassVar[tuple[Requirement, ...]] = (
        Requirement(
            "/usr/share/drirc.d/00-mesa-defaults.conf", "libgl1-mesa-dri", "a GL driver for its graphics"
        ),
        Requirement("tcc", "tcc", "compiles the module that lets it report"),
    )
    quiet_s: ClassVar[float] = _QUIET_S
    verbs: ClassVar[Mapping[str, Callable[..., None]]] = VERBS
    predicates: ClassVar[Mapping[str, Callable[..., bool]]] = PREDICATES

    @classmethod
    def started(cls, root: Path) -> tuple[ProgramSpec, ...]:
        """The stock program with a configuration of ours over its own."""
        env = {
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            "HOOK": (FOLDER / "guest" / "hook.lua").read_text(),
            "CONFIGURATION": _CONFIGURATION,
            "SETTINGS": _SETTINGS,
        }
        executable, data = root / cls.installation.executable, root / "share" / "celestia"
        return (
            ProgramSpec(
                name=PROGRAM,
                argv=("/bin/sh", "-c", _START, str(executable), str(data)),
                env=env,
                preload=FOLDER / "guest" / "channel.c",
                register_s=90.0,
                reports=True,
            ),
        )

    def ready(self, observation: Observation) -> bool:
        """Whether its main window is on screen, menus and all, and stands at the start."""
        state = observed(observation)
        nodes = observation.tree.of_program(PROGRAM).showing
        menu = any(node.role == "menu item" and node.name == "Navigation" for node in nodes)
        return menu and bool(state["observer"]) and not state["observer"].get("travelling", True)

    def read_state(self, observation: Observation) -> Mapping[str, Any]:
        """The program's state; a program that is gone gives False, 0, "" and empty containers.

        Keys:
            running: the program reports.
            done, refused: number of the last set-up request that was followed, and what was wrong with it.
            time: tdb and utc (Julian days), scale (simulated seconds a second), paused, light_delay.
            bodies: the Sun, planets and larger moons by path, such as "Sol/Earth/Moon": at (km from the Sun
                along the axes of the ecliptic of J2000, as Celestia's ephemeris has it at the simulated
                time), radius (km).
            observer: at (as of bodies), orientation (quaternion w, x, y, z in Celestia's axes), field_of_view
                (degrees), frame ("universal", "ecliptic", "equatorial", "bodyfixed", "lock", "chase") with
                the paths reference and target, tracked (path), travelling, speed, views (how many), url
                (cel://), window (width and height of what is drawn, in pixels).
            selection: type, name, path, distance (km from the observer to its middle), longitude and latitude
                (degrees, where the observer is over it), and what Celestia knows of it, see
                `state.SELECTION`; radius and size in km, periods in days, mass in Earth's.
            shown: render, label, orbit and location flags by Celestia's own names for them, faintest
                (magnitude), faintest_at_45_degrees (the magnitude that it is adapted from),
                star_style ("fuzzy", "point", "disc", "psf"), textures (0 to 2), ambient.
            watched: what the verb `watch` asked for, by name: kind, position (Celestia's own coordinates, in
                millionths of a light year), away (km from the observer, along the axes of `bodies`),
                distance (km), radius (km), visible (not hidden by a user).
        """
        return observed(observation)


APP = Celestia()
