"""The units of features: vectors go to the networks standardised."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from untwine._typing import Array
from untwine.registry.sparse_vectors import is_sparse, mean_and_std
from untwine.training.sparse_samples import SparseSamples


class Units(nn.Module):
    """The mean and the standard deviation of each feature in training: vectors go to the networks standardised by them."""

    centre: Tensor
    spread: Tensor

    def __init__(self, features: int) -> None:
        super().__init__()
        self.register_buffer("centre", torch.zeros(features))
        self.register_buffer("spread", torch.ones(features))

    def measure(self, x: Array) -> None:
        """Take mean and standard deviation from training samples."""
        centre, spread = mean_and_std(x)
        # A feature that only varies by rounding is constant: it keeps its units.
        constant = spread <= 1e-6 * np.abs(centre) + 1e-30
        self.centre.copy_(torch.from_numpy(centre))
        self.spread.copy_(torch.from_numpy(np.where(constant, 1.0, spread)))

    def standardise(self, x: Array | Tensor) -> Tensor | SparseSamples:
        """Return samples as the networks see them; sparse ones stay sparse until some of them are taken."""
        centre, spread = self.centre.cpu(), self.spread.cpu()
        if is_sparse(x):
            return SparseSamples(x, centre, spread)  # type: ignore[arg-type]
        return (torch.as_tensor(x) - centre) / spread
