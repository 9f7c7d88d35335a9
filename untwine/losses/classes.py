"""Codes that rows of one class share."""

from __future__ import annotations

import torch
from torch import Tensor


def class_means(codes: Tensor, labels: Tensor) -> Tensor:
    """Return for each row the mean of the codes (n, d) of all rows that have its label (n,)."""
    known, place = torch.unique(labels, return_inverse=True)
    sums = codes.new_zeros(len(known), codes.shape[1]).index_add(0, place, codes)
    counts = torch.bincount(place, minlength=len(known)).to(codes.dtype)
    return (sums / counts[:, None])[place]


def product(mu: Tensor, logvar: Tensor) -> tuple[Tensor, Tensor]:
    r"""Multiply the Gaussians of each set, (m, n, d) over m: mean and log-variance (n, d) of $\prod_i N(\mu_i, \sigma_i^2)$.

    The precision is a sum, $\sigma^{-2} = \sum_i \sigma_i^{-2}$, and the mean is $\mu = \sigma^2 \sum_i \mu_i \sigma_i^{-2}$.
    """
    total = -torch.logsumexp(-logvar, 0)
    return (mu * torch.exp(total - logvar)).sum(0), total
