"""What a task can ask of ChimeraX."""

from __future__ import annotations

from collections.abc import Callable, Mapping

PREDICATES: Mapping[str, Callable[..., bool]] = {}
