"""Errors are told in another process as they were raised."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from sci_gym.errors import LaunchError, SciGymError, TaskFileError, UnknownNameError


@pytest.mark.parametrize(
    "error",
    [
        LaunchError("display", "did not come up"),
        UnknownNameError("task", "plott", ["plot"]),
        TaskFileError(Path("a.toml"), 3, "node", "is missing"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_it_can_be_pickled(error: SciGymError) -> None:
    told = pickle.loads(pickle.dumps(error))
    assert type(told) is type(error)
    assert (str(told), vars(told)) == (str(error), vars(error))
