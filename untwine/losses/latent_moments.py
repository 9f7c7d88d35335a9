r"""Moments of the aggregated posterior q(z), and penalties on their distance from those of N(0, I) (DIP-VAE).

$q(z|x) = N(\mu(x), \Sigma(x))$ with diagonal $\Sigma$ (Kumar et al. 2018). Moments are means over the n samples of the batch
(divided by n, not n - 1). Penalties are sums of squares over all entries.
"""

from __future__ import annotations

import torch
from torch import Tensor


def covariance_of_means(mu: Tensor) -> Tensor:
    r"""$Cov_{p(x)}[\mu(x)]$, (d, d), of posterior means (n, d): the covariance that DIP-VAE-I penalises."""
    centred = mu - mu.mean(0)
    return _mean_product(centred, centred)


def covariance_of_samples(mu: Tensor, logvar: Tensor) -> Tensor:
    r"""$Cov_{q(z)}[z] = E_{p(x)}[\Sigma(x)] + Cov_{p(x)}[\mu(x)]$ (Eq. 5), (d, d): the covariance that DIP-VAE-II penalises."""
    return covariance_of_means(mu) + torch.diag(logvar.exp().mean(0))


def off_diagonal_penalty(covariance: Tensor) -> Tensor:
    r"""$\sum_{i \ne j} C_{ij}^2$ of a covariance (d, d): 0 where all dimensions are uncorrelated."""
    return (covariance - torch.diag(covariance.diagonal())).square().sum()


def diagonal_penalty(covariance: Tensor) -> Tensor:
    r"""$\sum_i (C_{ii} - 1)^2$ of a covariance (d, d): 0 where every dimension has variance 1."""
    return (covariance.diagonal() - 1).square().sum()


def third_moments_of_means(mu: Tensor) -> Tensor:
    r"""$E_{p(x)}[\delta_i \delta_j \delta_k]$ with $\delta = \mu(x) - E[\mu]$: all third central moments, (d, d, d)."""
    centred, d = mu - mu.mean(0), mu.shape[1]
    return _mean_product(centred, (centred[:, :, None] * centred[:, None, :]).flatten(1)).view(d, d, d)


def third_moments_of_samples(mu: Tensor, logvar: Tensor) -> Tensor:
    r"""All third central moments of q(z), (d, d, d), in closed form.

    $E[\delta_i \delta_j \delta_k] + E[\delta_i \Sigma_{jk}] + E[\delta_j \Sigma_{ik}] + E[\delta_k \Sigma_{ij}]$: each
    q(z|x) is symmetric about its mean, but the mixture is skewed where the variances depend on the means.
    """
    mixed = torch.diag_embed(_mean_product(mu - mu.mean(0), logvar.exp()))  # (i, j, k): E[delta_i Sigma_jk]
    return third_moments_of_means(mu) + mixed + mixed.transpose(0, 1) + mixed.permute(1, 2, 0)


def _mean_product(a: Tensor, b: Tensor) -> Tensor:
    """Return $a^T b / n$ in the precision of the inputs, also under autocast."""
    with torch.autocast(a.device.type, enabled=False):
        return a.T @ b / len(a)
