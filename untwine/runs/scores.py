"""One score of a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Score:
    """One value with its name, 95 % interval, number of samples, seconds and direction ("higher", "lower" or "info").

    `version` is that of its metric: only values of one version can be compared.
    """

    name: str
    value: float
    low: float
    high: float
    n: int
    seconds: float
    direction: str
    version: int = 1

    def to_json(self) -> dict[str, Any]:
        """Return what is stored under the score's name."""
        return {key: value for key, value in asdict(self).items() if key != "name"}
