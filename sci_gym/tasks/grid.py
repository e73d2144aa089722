"""Numbers at equal distances, none of which is made before it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True)
class Grid(Sequence[Any]):
    """`size` numbers from `low` on, `step` apart, as `kind`, without the one at the place `gap`."""

    low: Decimal
    step: Decimal
    size: int
    kind: Callable[[Decimal], int | float]
    gap: int | None = None

    def __len__(self) -> int:
        """How many there are."""
        return self.size - (self.gap is not None)

    def __getitem__(self, place: Any) -> Any:
        """One of them, from 0."""
        if not 0 <= place < len(self):
            raise IndexError(place)
        return self.kind(self.low + (place + (self.gap is not None and place >= self.gap)) * self.step)

    def __contains__(self, number: object) -> bool:
        """Whether a number is one of them."""
        return isinstance(number, int | float) and self.place_of(number) is not None

    def place_of(self, number: float) -> int | None:
        """The place of a number, the gap counted as well; None where it is none of them."""
        place = (Decimal(repr(number)) - self.low) / self.step
        return None if place % 1 or not 0 <= place < self.size or place == self.gap else int(place)

    def without(self, number: float) -> Grid:
        """All but a number, which may be none of them."""
        place = self.place_of(number)
        return self if place is None else replace(self, gap=place)
