"""Gaussian noise as a layer's input has it: drawn by the step, never by a module."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

# Returns standard normal noise (n, *shape) for each row of a pass; `Batch.noise` is one.
Draw = Callable[..., Tensor]
DEVIATION = 0.2  # of paper 003


def noisy(x: Tensor, draw: Draw | None, deviation: float = DEVIATION) -> Tensor:
    """Return x with noise added, or x itself where nothing is drawn."""
    if draw is None or not deviation:
        return x
    if x.ndim == 4:  # drawn with the channels last, as images lie in memory
        return torch.add(x, draw(*x.shape[2:], x.shape[1]).permute(0, 3, 1, 2), alpha=deviation)
    return torch.add(x, draw(*x.shape[1:]), alpha=deviation)
