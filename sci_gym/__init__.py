"""Real scientific software and whole desktops as Gymnasium environments.

import gymnasium as gym
import sci_gym

env = gym.make("SciBoard-KAlgebra-v0")
observation, info = env.reset(seed=7)
observation, reward, terminated, truncated, info = env.step(sci_gym.Action.click(100, 200))
env.close()
"""

from importlib.metadata import version as _version

from sci_gym.errors import (
    ActionError,
    ConfigurationError,
    CrashError,
    DeadlineError,
    DisconnectedError,
    InfrastructureError,
    LaunchError,
    MissingDependencyError,
    ProtocolError,
    SciGymError,
    TaskFileError,
    UnknownNameError,
)
from sci_gym.registration import register_all as _register_all
from sci_gym.specs import A11yNode, Action, Kind

__all__ = [
    "A11yNode",
    "Action",
    "ActionError",
    "ConfigurationError",
    "CrashError",
    "DeadlineError",
    "DisconnectedError",
    "InfrastructureError",
    "Kind",
    "LaunchError",
    "MissingDependencyError",
    "ProtocolError",
    "SciGymError",
    "TaskFileError",
    "UnknownNameError",
    "__version__",
]

__version__ = _version("sci-gym")

_register_all()
