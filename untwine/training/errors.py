"""The error that ends a training; in a file of its own, so that catching it imports nothing heavy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from untwine.runs.history import Row


class TrainingError(RuntimeError):
    """Training stopped early; the last finite weights and the history up to there are kept."""

    def __init__(self, message: str, history: Sequence[Row] = ()) -> None:
        super().__init__(message)
        self.history = list(history)
