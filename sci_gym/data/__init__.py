"""Data sets of episodes: recorded as they happen, read, shown, replayed, merged, exported.

    FOLDER/EPISODE-000001/meta.json       what the episode is: task, parameters, seed, options, versions
                          steps.jsonl     one object per line; line 0 is the reset, its action null
           objects/3f/a90c...             frames and trees, each once, see `objects`

`Recorder` writes such a folder, `DataSet` reads it.
"""

from sci_gym.data.dialects import DIALECTS, Dialect
from sci_gym.data.episodes import DataSet, Episode, Meta, Step
from sci_gym.data.recorder import Recorder

__all__ = ["DIALECTS", "DataSet", "Dialect", "Episode", "Meta", "Recorder", "Step"]
