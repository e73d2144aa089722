"""The session's dump, as ScienceBoard's bundle writes it: what of it is told, and how tasks look into it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from sci_gym.scienceboard import CannotError, Lambda, read_lambda

MODELS = "_state_containers.models._models."
_WINDOW = "_atoms_drawing._draw_shape.bindings._opengl_context.window.view."
TOLD = (
    "_name", "_redraw_needed.cached_drawing_bounds.xyz_min", "_nucleotide_info", "_nucleotide_changes",
    "_ring_drawing.name", "_ladder_params.stubs_only", "_pbond_drawing.name",
    "_pbond_drawing._opaque_color_count", "_pbond_drawing._colors",
    "_atoms_drawing._positions._shift_and_scale", f"{_WINDOW}_background_rgba",
    f"{_WINDOW}_render.lighting.ambient_light_intensity", f"{_WINDOW}_render.lighting.multishadow_depth_bias",
    f"{_WINDOW}_render.silhouette.depth_jump",
)  # fmt: skip
"""What `guest/state.py` tells of a model under the dump's names; beside them, the log's `page_source`."""
_OTHERS = ("page_source",)
_ATTRIBUTE = re.compile(r"[\w.(), ]*_[\w.(), ]*")
_NUMBERS = re.compile(r"[\[\]\d.eE+\-\s]+")
_TOLERANCE = 2e-3
_MODEL = re.compile(r"\(\d+,(?: \d+)*\)|\(\d+(?:, \d+)+\)")


def hold_lambda(text: str, parameters: int) -> None:
    """Refuse a lambda of unknown forms, or that looks for what is not told.

    Raises:
        CannotError: for such a one.
    """
    parsed = read_lambda(text, parameters)
    known = [*(f"{MODELS}(1,).{one}" for one in TOLD), *_OTHERS]
    for constant in parsed.constants:
        if _ATTRIBUTE.fullmatch(constant) and not any(constant in one for one in known):
            raise CannotError(
                f"looks for {constant!r} in the session, which is not told of the stock program."
            )


def hold_key(key: str) -> None:
    """Refuse a key whose value is not told.

    Raises:
        CannotError: always for such a one.
    """
    model, _, rest = key.removeprefix(MODELS).partition(".")
    if not key.startswith(MODELS) or not _MODEL.fullmatch(model) or rest not in TOLD:
        raise CannotError(f"asks for the session's {key!r}, which is not told of the stock program.")


def found(dump: Mapping[str, Any], key: str, find: str) -> list[str]:
    """The keys of the dump that are meant, as ScienceBoard's evaluator finds them."""
    if find:
        finds, makes = Lambda(find), Lambda(key)
        met = [one for one, value in dump.items() if finds(one, value)]
        return [str(makes(met[0]))] if met else []
    if key.startswith("lambda"):
        keeps = Lambda(key)
        return [one for one in dump if keeps(one)]
    return [key] if key in dump else []


def same(given: Any, wanted: Any) -> bool:
    """Whether two values are the same; texts of numbers, such as numpy's, within a tolerance."""
    rows = [_numbers(value) for value in (given, wanted)]
    if rows[0] is not None and rows[1] is not None:
        alike = rows[0].shape == rows[1].shape
        return alike and bool(np.allclose(rows[0], rows[1], rtol=0, atol=_TOLERANCE))
    return type(given) is type(wanted) and bool(given == wanted)


def _numbers(value: Any) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return np.array([float(value)])
    if not isinstance(value, str) or "[" not in value or not _NUMBERS.fullmatch(value):
        return None
    try:
        return np.array([float(word) for word in re.findall(r"[^\[\]\s]+", value)])
    except ValueError:
        return None
