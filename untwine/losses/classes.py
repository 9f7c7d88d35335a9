"""Latent codes that all samples of a class share."""

from __future__ import annotations

import torch
from torch import Tensor


def class_means(codes: Tensor, labels: Tensor) -> Tensor:
    """Replace each code (n, d) by the mean code of its class, given labels (n,): (n, d)."""
    classes, index = torch.unique(labels, return_inverse=True)
    sums = codes.new_zeros(len(classes), codes.shape[1]).index_add(0, index, codes)
    counts = torch.bincount(index, minlength=len(classes)).to(codes.dtype)
    return (sums / counts[:, None])[index]


def product_of_gaussians(mu: Tensor, logvar: Tensor) -> tuple[Tensor, Tensor]:
    r"""Return mean and log-variance (n, d) of the product $\prod_i N(\mu_i, \sigma_i^2)$ of m Gaussians (m, n, d), normalised.

    Precisions add up, $\sigma^{-2} = \sum_i \sigma_i^{-2}$, and the mean is $\mu = \sigma^2 \sum_i \mu_i \sigma_i^{-2}$
    (Bouchacourt et al. 2018, ML-VAE).
    """
    total = -torch.logsumexp(-logvar, 0)
    return (mu * torch.exp(total - logvar)).sum(0), total
