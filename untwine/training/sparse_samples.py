"""Training samples that are kept sparse: those of a batch are made dense, and standardised as the networks see them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from untwine._typing import Array
from untwine.registry.sparse_vectors import to_dense

CPU = torch.device("cpu")


@dataclass(frozen=True, eq=False)
class SparseSamples:
    """Vectors x (n, d) as a CSR array, with the mean and the standard deviation (d,) that each feature is standardised by.

    What comes out is bit-exact: it is equal to the dense array, standardised at once.
    """

    x: Array
    centre: Tensor
    spread: Tensor
    device: torch.device = CPU

    def __len__(self) -> int:
        return int(self.x.shape[0])

    def __getitem__(self, index: slice | Array) -> Tensor:
        """Return the chosen samples, dense and standardised."""
        return ((torch.from_numpy(to_dense(self.x[index])) - self.centre) / self.spread).to(self.device)

    def to(self, device: torch.device) -> SparseSamples:
        """Return the same samples, of which the dense ones come on a device; the sparse ones stay in the memory of the CPU."""
        return replace(self, device=device)

    def index_select(self, index: Tensor) -> Tensor:
        """Return the samples with these numbers."""
        return self[index.cpu().numpy()]
