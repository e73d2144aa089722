"""Registers the Gymnasium ids of every folder under `envs/`.

`SciBoard-X-v0` is the environment itself. `SciBoard-X-Marks-v0` is the same one for what makes environments
by id and batches numbers only, such as RLlib: see `sci_gym.loader.make_marks`.

Importing `sci_gym` does it, and so does Gymnasium's own entry point. A folder's `__init__` holds its `ENV_ID`
and nothing heavy, so that this stays cheap.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import gymnasium as gym

import sci_gym.envs

ENTRY_POINT = "sci_gym.loader:make"
VECTOR_ENTRY_POINT = "sci_gym.loader:make_vector"
MARKS_ENTRY_POINT = "sci_gym.loader:make_marks"


def env_ids() -> Iterator[tuple[str, str]]:
    """Every app's Gymnasium id and folder name."""
    for module in pkgutil.iter_modules(sci_gym.envs.__path__):
        if module.ispkg:
            yield importlib.import_module(f"sci_gym.envs.{module.name}").ENV_ID, module.name


def register_all() -> None:
    """Register the ids; more than once is fine."""
    for env_id, app in env_ids():
        if env_id not in gym.registry:
            gym.register(
                id=env_id,
                entry_point=ENTRY_POINT,
                vector_entry_point=VECTOR_ENTRY_POINT,
                kwargs={"app": app},
            )
            name, _, version = env_id.rpartition("-")
            gym.register(id=f"{name}-Marks-{version}", entry_point=MARKS_ENTRY_POINT, kwargs={"app": app})
