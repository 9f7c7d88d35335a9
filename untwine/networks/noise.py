"""Gaussian noise on the input of a layer. The training step draws it, never a module."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

# Of *shape, returns standard normal noise (n, *shape) for the n samples of a forward pass; `Batch.noise` is one.
Draw = Callable[..., Tensor]
NOISE_STD = 0.2  # in Carton et al. 2024


def add_noise(x: Tensor, draw: Draw | None, noise_std: float = NOISE_STD) -> Tensor:
    r"""Return $x + \sigma \epsilon$, or x itself where `draw` is None or `noise_std` is 0."""
    if draw is None or not noise_std:
        return x
    if x.ndim == 4:  # drawn channels last, the memory layout of images
        return torch.add(x, draw(*x.shape[2:], x.shape[1]).permute(0, 3, 1, 2), alpha=noise_std)
    return torch.add(x, draw(*x.shape[1:]), alpha=noise_std)
