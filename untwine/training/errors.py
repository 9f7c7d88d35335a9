"""The error that ends a training run; importing it does not import torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from untwine.runs.history import Row


class TrainingError(RuntimeError):
    """Training stopped early; the last good weights and the history up to there were kept."""

    def __init__(self, sentence: str, history: Sequence[Row] = ()) -> None:
        super().__init__(sentence)
        self.history = list(history)
