"""Numbers from interleaved rounds, each with its range and its bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Literal

Round = dict[str, float]


@dataclass(frozen=True)
class Figure:
    """One number of the table: the median over rounds with its extremes, and what it must be.

    Parameters
    ----------
    name, unit
        What was measured, and in what; the unit of a ratio is empty.
    value, low, high
        Median, smallest and largest of the rounds.
    bound, direction
        The number that `value` must reach (`at least`) or keep under (`at most`, `below`); None only informs.
    detail
        Sizes, rounds, and the medians of each side.
    """

    name: str
    value: float
    low: float
    high: float
    unit: str = ""
    bound: float | None = None
    direction: Literal["at least", "at most", "below"] = "at least"
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the bound holds; a number that is not one never does."""
        if self.bound is None:
            return True
        if self.direction == "at least":
            return self.value >= self.bound
        return self.value <= self.bound if self.direction == "at most" else self.value < self.bound

    def plain(self) -> dict[str, Any]:
        """Return what goes to JSON."""
        return {**asdict(self), "ok": self.ok}


def interleaved(sides: Mapping[str, Callable[[], float]], rounds: int) -> list[Round]:
    """Run all sides once per round and return the measurements, without the first round, which only warms up.

    Every second round goes backwards, so that a machine that grows slower or faster favours no side.
    """
    measured = []
    for number in range(rounds + 1):
        turns = list(sides) if number % 2 == 0 else list(sides)[::-1]
        seconds = {name: sides[name]() for name in turns}
        measured.append({name: seconds[name] for name in sides})
    return measured[1:]


def figure(name: str, values: Sequence[float], digits: int = 3, **rest: Any) -> Figure:
    """Summarise one value per round."""
    middle, low, high = (round(float(number), digits) for number in (median(values), min(values), max(values)))
    return Figure(name, middle, low, high, **rest)


def medians(rounds: Sequence[Round], digits: int = 3) -> dict[str, float]:
    """Return the median of each side over the rounds."""
    return {side: round(median(one[side] for one in rounds), digits) for side in rounds[0]}
