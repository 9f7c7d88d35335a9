r"""Total correlation of latent dimensions, $KL(q(z) \| \prod_j q(z_j))$.

Two estimates: by a discriminator of two logits (FactorVAE, Kim and Mnih 2018), and from the minibatch itself
(beta-TCVAE, Chen et al. 2018).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor


def permute_dimensions(z: Tensor, noise: Tensor) -> Tensor:
    r"""Turn z (n, d) into samples of $\prod_j q(z_j)$: each dimension is permuted over the batch, by the order of its noise."""
    return z.gather(0, noise.argsort(0))


def log_ratio(logits: Tensor) -> Tensor:
    r"""$\log d / (1 - d)$, (n,), from two logits (n, 2): class 0 is z as encoded, class 1 is z with permuted dimensions."""
    return logits[:, 0] - logits[:, 1]


def log_density(z: Tensor, mu: Tensor, logvar: Tensor) -> Tensor:
    r"""$\log N(z; \mu, \sigma^2)$ in each dimension, broadcast."""
    return -0.5 * ((z - mu).square() * torch.exp(-logvar) + logvar + math.log(2 * math.pi))


def log_importance_weights(batch: int, n_samples: int) -> Tensor:
    r"""Return $\log w_{nm}$, (batch, batch) in float64, such that $\sum_m w_{nm} q(z_n|x_m)$ estimates $q(z_n)$.

    Minibatch stratified sampling (Chen et al. 2018, appendix C.2) for N samples in all and a batch of M + 1: the sample that
    z_n was drawn from has weight 1 / N, one other (N - M) / N M, the rest 1 / M each. Over all batches that hold the sample,
    the estimate's mean is $q(z) = \tfrac1N \sum q(z|x)$.
    """
    if batch < 2:
        raise ValueError(f"log_importance_weights needs a batch of at least 2 samples; got {batch}; raise batch.")
    others = batch - 1
    weights = torch.full((batch, batch), 1 / others, dtype=torch.float64)
    weights.fill_diagonal_(1 / n_samples)
    index = torch.arange(batch)
    # The last batch is filled up with repeated samples and may be larger than the data; this weight is then 0.
    weights[index, index.roll(-1)] = max(n_samples - others, 0) / (n_samples * others)
    return weights.log()


class KLTerms(NamedTuple):
    """The three terms of E[KL(q(z|x) || p(z))] with p(z) = N(0, I), each a mean over samples."""

    mutual_information: Tensor
    total_correlation: Tensor
    marginals: Tensor


def kl_decomposition(z: Tensor, mu: Tensor, logvar: Tensor, all_mu: Tensor, all_logvar: Tensor, log_weights: Tensor) -> KLTerms:
    r"""Estimate the three terms of $E[KL(q(z|x) \| p(z))]$ (Chen et al. 2018, Eq. 2) from z (n, d) ~ N(mu, exp(logvar)).

    $E \log \tfrac{q(z|x)}{q(z)}$, $E \log \tfrac{q(z)}{\prod_j q(z_j)}$, $\sum_j E \log \tfrac{q(z_j)}{p(z_j)}$, with
    $q(z_n) = \sum_m w_{nm} q(z_n|x_m)$ over the posteriors (m, d) of the whole batch, and $q(z_j)$ by the same weights (n, m).
    """
    # The sums over m run along the last dimension, where they are fastest.
    each = log_density(z.T[:, :, None], all_mu.T[:, None, :], all_logvar.T[:, None, :])  # (d, n, m)
    log_qzx = log_density(z, mu, logvar).sum(1)
    log_qz = torch.logsumexp(each.sum(0) + log_weights, 1)
    log_prod_qzj = torch.logsumexp(each + log_weights, 2).sum(0)
    log_pz = -0.5 * (z.square() + math.log(2 * math.pi)).sum(1)
    return KLTerms((log_qzx - log_qz).mean(), (log_qz - log_prod_qzj).mean(), (log_prod_qzj - log_pz).mean())
