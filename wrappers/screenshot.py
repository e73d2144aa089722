"""The screen as one image of a fixed size, for policies that see pixels only."""

from __future__ import annotations

import math
from typing import Any, cast

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from PIL import Image

from sci_gym.errors import ConfigurationError, UnknownNameError
from sci_gym.specs import Frame

_RESAMPLING = {name.lower(): filter_ for name, filter_ in Image.Resampling.__members__.items()}


class ScreenshotOnly(gym.ObservationWrapper[Frame, Any, Any], gym.utils.RecordConstructorArgs):
    """The observation is the screenshot alone, scaled to fit and padded with black to the right and below.

    The aspect ratio stays as it is. A policy that points at the image asks `to_screen` for a pixel.
    """

    def __init__(
        self, env: gym.Env[Any, Any], size: tuple[int, int] = (1024, 1024), resample: str = "bicubic"
    ) -> None:
        """Wrap an env.

        Args:
            env: a `SciEnv`, perhaps wrapped, whose observation has `screenshot`.
            size: width and height of the image in pixels.
            resample: one of Pillow's filters, such as "nearest", "bilinear", "bicubic" or "lanczos".
        """
        gym.utils.RecordConstructorArgs.__init__(self, size=size, resample=resample)
        gym.ObservationWrapper.__init__(self, env)
        if resample not in _RESAMPLING:
            raise UnknownNameError("resampling", resample, _RESAMPLING)
        if (
            not isinstance(env.observation_space, spaces.Dict)
            or "screenshot" not in env.observation_space.spaces
        ):
            raise ConfigurationError(f"the observation has no screenshot to scale: {env.observation_space}")
        base = cast(Any, env.unwrapped)
        self._screen: tuple[int, int] = (base.width, base.height)
        self._size = size
        self._filter = _RESAMPLING[resample]
        scale = min(size[0] / base.width, size[1] / base.height)
        self._scaled: tuple[int, int] = max(1, round(base.width * scale)), max(1, round(base.height * scale))
        self.observation_space = spaces.Box(0, 255, (size[1], size[0], 3), np.uint8)

    def observation(self, observation: Any) -> Frame:
        """Scale and pad a screenshot; uint8 `[H, W, 3]`."""
        scaled = Image.fromarray(observation["screenshot"]).resize(self._scaled, self._filter)
        padded = np.zeros((self._size[1], self._size[0], 3), np.uint8)
        padded[: self._scaled[1], : self._scaled[0]] = np.asarray(scaled)
        return padded

    def to_screen(self, x: float, y: float) -> tuple[int, int]:
        """The screen's pixel that the image shows at (x, y); the nearest one for a point in the padding."""
        return self._back(x, 0), self._back(y, 1)

    def _back(self, value: float, axis: int) -> int:
        side = self._screen[axis]
        return max(0, min(math.floor((value + 0.5) * side / self._scaled[axis]), side - 1))
