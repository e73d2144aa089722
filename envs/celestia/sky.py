"""Times, angles and shadows, from places that Celestia's own ephemeris gives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from sci_gym.errors import ConfigurationError

Vector = npt.NDArray[np.float64]
KM_PER_AU = 149_597_870.7
_EPOCH = datetime(2000, 1, 1, 12, tzinfo=UTC)
_EPOCH_JD = 2_451_545.0


def julian_day(utc: str) -> float:
    """The Julian day of a date and time such as "2026-08-12 17:30:00" (UTC).

    Raises:
        ConfigurationError: it is none.
    """
    try:
        when = datetime.fromisoformat(utc).replace(tzinfo=UTC)
    except ValueError as error:
        raise ConfigurationError(f"celestia: {utc!r} is no date and time ({error})") from error
    return _EPOCH_JD + (when - _EPOCH).total_seconds() / 86_400


def place(state: Mapping[str, Any], path: str) -> Vector | None:
    """Where a body is, in kilometres; None where the program does not tell."""
    body = state.get("bodies", {}).get(path)
    return np.asarray(body["at"], float) if body else None


def apart_km(state: Mapping[str, Any], first: str, second: str) -> float | None:
    """The distance between the middles of two bodies."""
    one, other = place(state, first), place(state, second)
    return None if one is None or other is None else float(np.linalg.norm(one - other))


def separation_degrees(state: Mapping[str, Any], first: str, second: str, seen_from: str) -> float | None:
    """The angle between two bodies as seen from the middle of a third."""
    one, other, eye = (place(state, path) for path in (first, second, seen_from))
    return None if one is None or other is None or eye is None else angle_degrees(one - eye, other - eye)


def is_in_front(state: Mapping[str, Any], near: str, far: str, seen_from: str) -> bool:
    """Whether one body's disc touches another's from before it, as seen from the middle of a third."""
    angle = separation_degrees(state, near, far, seen_from)
    distances = apart_km(state, near, seen_from), apart_km(state, far, seen_from)
    if angle is None or distances[0] is None or distances[1] is None or not 0 < distances[0] < distances[1]:
        return False
    bodies = state["bodies"]
    discs = bodies[near]["radius"] / distances[0], bodies[far]["radius"] / distances[1]
    return angle <= sum(math.degrees(math.asin(min(disc, 1.0))) for disc in discs)


def is_eclipsed(state: Mapping[str, Any], receiver: str, occulter: str, *, wholly: bool = False) -> bool:
    """Whether a body's shadow falls on another: its penumbra or, `wholly`, umbra or antumbra."""
    dark, light = place(state, occulter), place(state, receiver)
    if dark is None or light is None or "Sol" not in state["bodies"]:
        return False
    radius = {path: state["bodies"][path]["radius"] for path in ("Sol", occulter, receiver)}
    axis = dark - state["bodies"]["Sol"]["at"]
    length = float(np.linalg.norm(axis))
    behind = float(np.dot(light - dark, axis)) / length if length else 0.0
    if behind <= 0:
        return False
    off_axis = float(np.linalg.norm(light - dark - axis / length * behind))
    widens = (radius["Sol"] + radius[occulter]) / length, (radius["Sol"] - radius[occulter]) / length
    shadow = abs(radius[occulter] - behind * widens[1]) if wholly else radius[occulter] + behind * widens[0]
    return bool(off_axis <= shadow + radius[receiver])


def angle_degrees(one: Vector, other: Vector) -> float | None:
    """The angle between two directions; None where one is none."""
    size = float(np.linalg.norm(one) * np.linalg.norm(other))
    if not size:
        return None
    return math.degrees(math.atan2(float(np.linalg.norm(np.cross(one, other))), float(np.dot(one, other))))


def line_of_sight(orientation: list[float]) -> Vector:
    """Where the observer looks, along the ecliptic's axes."""
    x, y, z = -_turn(orientation)[2]
    return np.array([x, -z, y])


def seen(orientation: list[float], away: list[float]) -> Vector:
    """What lies away along the ecliptic's axes, along the eye's: to the right, upwards, and behind it."""
    x, y, z = away
    eye: Vector = _turn(orientation) @ np.array([x, z, -y])
    return eye


def _turn(orientation: list[float]) -> Vector:
    """The matrix of Celestia's quaternion, which turns the sky to the eye."""
    w, x, y, z = orientation
    return np.array([
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ])  # fmt: skip
