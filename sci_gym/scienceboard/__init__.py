"""ScienceBoard's published tasks, as they are, on stock programs (https://github.com/OS-Copilot/ScienceBoard).

`task="scienceboard:FILE"` or `"scienceboard:FOLDER"` of `gym.make` plays them; the command
`sci-gym import scienceboard FOLDER` tells what can be played. Both published revisions are read; a task's id
names its revision.

The format: `type` (program), `sort`, `steps`, `instruction`, `version`, `initialize` (calls: `func` and
fields), `evaluate` (items: `type` and fields), and perhaps `snapshot`, `ans`, `query`, `penalty`. What a call
means for a program stands in that app's folder: `envs/<app>/scienceboard.py` (see `adapter.py`).

Where we differ, for all programs: the time to `wait` counts for nothing, since readiness is waited for; an
episode that is judged by state alone has to be ended with DONE; `penalty` and `ans` are not used.
"""

from sci_gym.scienceboard.adapter import PROGRAMS, Adapter, CannotError, Judged, Source, judged, read_lambda
from sci_gym.scienceboard.building import Player, build, extended
from sci_gym.scienceboard.document import TaskFile, read_task_file
from sci_gym.scienceboard.generic import HOME, command_words, home_path
from sci_gym.scienceboard.lambdas import Lambda, LambdaFailedError, LambdaRefusedError
from sci_gym.scienceboard.library import PREFIX, Entry, survey
from sci_gym.scienceboard.patterns import Pattern, PatternRefusedError

__all__ = [
    "HOME",
    "PREFIX",
    "PROGRAMS",
    "Adapter",
    "CannotError",
    "Entry",
    "Judged",
    "Lambda",
    "LambdaFailedError",
    "LambdaRefusedError",
    "Pattern",
    "PatternRefusedError",
    "Player",
    "Source",
    "TaskFile",
    "build",
    "command_words",
    "extended",
    "home_path",
    "judged",
    "read_lambda",
    "read_task_file",
    "survey",
]
