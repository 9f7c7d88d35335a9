"""What is known of each sample beside its values, as networks are given it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor


class Conditions(NamedTuple):
    """What is known of each sample of a batch beside its values; nothing by default.

    Attributes
    ----------
    covariates
        The covariates (n, k): one-hot categories and standardised numbers.
    library
        The library size (n, 1) of each sample of counts: its total.
    """

    covariates: Tensor | None = None
    library: Tensor | None = None

    def __bool__(self) -> bool:
        """Whether anything is known."""
        return self.covariates is not None or self.library is not None

    def map(self, change: Callable[[Tensor], Tensor]) -> Conditions:
        """Return other samples' conditions: `change` chooses or repeats rows of what is known."""
        return Conditions(*(None if known is None else change(known) for known in self))

    def beside(self, other: Conditions) -> Conditions:
        """Return the covariates of pairs of samples: those of the other beside these."""
        if self.covariates is None or other.covariates is None:
            return Conditions()
        return Conditions(torch.cat([self.covariates, other.covariates], 1))
