r"""Total correlation of all single codes, $KL(q(z) \| \prod_j q(z_j))$: by a discriminator, or from the batch itself."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor


def permuted(z: Tensor, noise: Tensor) -> Tensor:
    r"""Return codes (n, d) as if drawn from $\prod_j q(z_j)$: each dimension in an order of its own, that of the noise."""
    return z.gather(0, noise.argsort(0))


def log_ratio(logits: Tensor) -> Tensor:
    r"""$\log d / (1 - d)$ from two logits (n, 2), the first for codes as they are, the second for permuted ones."""
    return logits[:, 0] - logits[:, 1]


def log_density(z: Tensor, mu: Tensor, logvar: Tensor) -> Tensor:
    r"""$\log N(z; \mu, \sigma^2)$ in each dimension, broadcast."""
    return -0.5 * ((z - mu).square() * torch.exp(-logvar) + logvar + math.log(2 * math.pi))


def stratified(batch: int, rows: int) -> Tensor:
    r"""Log weights by which q(z|x_m) of a batch sum to an estimate of q(z_n): (n, m), double precision.

    Minibatch stratified sampling (Chen et al. 2018, appendix C.2), N rows in all and a batch of M + 1: the row that z was drawn
    from counts 1 / N, one other (N - M) / N M, the rest 1 / M each. Over all batches that hold the row, the estimate's mean is
    $q(z) = \tfrac1N \sum q(z|x)$.
    """
    if batch < 2:
        raise ValueError("stratified must be a batch of at least 2 rows; got 1; raise batch.")
    others = batch - 1
    weights = torch.full((batch, batch), 1 / others, dtype=torch.float64)
    weights.fill_diagonal_(1 / rows)
    row = torch.arange(batch)
    # Rows that fill up the last batch may make it larger than the data; nothing is then left for this one.
    weights[row, row.roll(-1)] = max(rows - others, 0) / (rows * others)
    return weights.log()


class Parts(NamedTuple):
    """What the divergence of q(z|x) from p(z) = N(0, I) is made of; means over rows."""

    mutual_information: Tensor
    total_correlation: Tensor
    marginals: Tensor


def parts(z: Tensor, mu: Tensor, logvar: Tensor, all_mu: Tensor, all_logvar: Tensor, log_weights: Tensor) -> Parts:
    r"""Estimate each part of $E[KL(q(z|x) \| p(z))]$ on codes z (n, d) drawn from N(mu, exp(logvar)).

    $E \log \tfrac{q(z|x)}{q(z)}$, $E \log \tfrac{q(z)}{\prod_j q(z_j)}$, $\sum_j E \log \tfrac{q(z_j)}{p(z_j)}$, with
    $q(z) = \sum_m w_{nm} q(z|x_m)$ over all rows m of the batch (m, d), and $q(z_j)$ by the same weights (n, m).
    """
    # The sums over m run along the last dimension, where they are quickest.
    each = log_density(z.T[:, :, None], all_mu.T[:, None, :], all_logvar.T[:, None, :])  # (d, n, m)
    conditional = log_density(z, mu, logvar).sum(1)
    joint = torch.logsumexp(each.sum(0) + log_weights, 1)
    product = torch.logsumexp(each + log_weights, 2).sum(0)
    prior = -0.5 * (z.square() + math.log(2 * math.pi)).sum(1)
    return Parts((conditional - joint).mean(), (joint - product).mean(), (product - prior).mean())
