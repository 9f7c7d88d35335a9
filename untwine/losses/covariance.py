"""Moments of the codes of a batch, and how far they are from those of independent standard normal ones (paper 002).

Moments are means over the rows, divided by their number. Distances are sums of squares over all entries.
"""

from __future__ import annotations

import torch
from torch import Tensor


def of_means(mu: Tensor) -> Tensor:
    r"""$Cov_{p(x)}[\mu(x)]$, (d, d), of means (n, d)."""
    centred = mu - mu.mean(0)
    return _mean_product(centred, centred)


def of_codes(mu: Tensor, logvar: Tensor) -> Tensor:
    r"""$Cov_{q(z)}[z] = E_{p(x)}[\Sigma(x)] + Cov_{p(x)}[\mu(x)]$ (Eq. 5), with the variances on the diagonal alone."""
    return of_means(mu) + torch.diag(logvar.exp().mean(0))


def off_diagonal(covariance: Tensor) -> Tensor:
    r"""$\sum_{i \ne j} C_{ij}^2$: 0 where no two codes are correlated."""
    return (covariance - torch.diag(covariance.diagonal())).square().sum()


def diagonal(covariance: Tensor) -> Tensor:
    r"""$\sum_i (C_{ii} - 1)^2$: 0 where every code has variance 1."""
    return (covariance.diagonal() - 1).square().sum()


def third_of_means(mu: Tensor) -> Tensor:
    r"""$E_{p(x)}[\delta_i \delta_j \delta_k]$ with $\delta = \mu(x) - E[\mu]$: all third central moments, (d, d, d)."""
    centred, d = mu - mu.mean(0), mu.shape[1]
    return _mean_product(centred, (centred[:, :, None] * centred[:, None, :]).flatten(1)).view(d, d, d)


def third_of_codes(mu: Tensor, logvar: Tensor) -> Tensor:
    r"""All third central moments of q(z), (d, d, d), in closed form.

    $E[\delta_i \delta_j \delta_k] + E[\delta_i \Sigma_{jk}] + E[\delta_j \Sigma_{ik}] + E[\delta_k \Sigma_{ij}]$: each
    q(z|x) is symmetric about its own mean, but where variances follow the means the mixture is not.
    """
    mixed = torch.diag_embed(_mean_product(mu - mu.mean(0), logvar.exp()))  # (i, j, k): E[delta_i Sigma_jk]
    return third_of_means(mu) + mixed + mixed.transpose(0, 1) + mixed.permute(1, 2, 0)


def _mean_product(a: Tensor, b: Tensor) -> Tensor:
    """Return $a^T b / n$ in the precision of the codes, whatever precision the networks run in."""
    with torch.autocast(a.device.type, enabled=False):
        return a.T @ b / len(a)
