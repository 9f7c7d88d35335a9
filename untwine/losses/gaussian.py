"""Diagonal Gaussians: reparametrised samples, KL to the standard normal prior, second moment, bounded log-variance."""

from __future__ import annotations

import torch
from torch import Tensor

LOGVAR_BOUND = 10.0


def clamp_logvar(logvar: Tensor) -> Tensor:
    r"""Bound a log-variance to (-10, 10) smoothly: $10 \tanh(v / 10)$, close to the identity near 0."""
    return LOGVAR_BOUND * torch.tanh(logvar / LOGVAR_BOUND)


def sample(mu: Tensor, logvar: Tensor, noise: Tensor) -> Tensor:
    r"""Reparametrised sample of $N(\mu, \sigma^2)$ from standard normal noise: $\mu + \sigma \epsilon$."""
    return mu + torch.exp(0.5 * logvar) * noise


def kl(mu: Tensor, logvar: Tensor) -> Tensor:
    r"""KL(N(mu, sigma^2) || N(0, I)) of (n, d): $\tfrac12 \sum (\mu^2 + \sigma^2 - 1 - \log \sigma^2)$.

    Summed over dimensions, mean over samples.
    """
    return 0.5 * (mu.square() + logvar.exp() - 1 - logvar).sum(1).mean()


def second_moment(mu: Tensor, logvar: Tensor) -> Tensor:
    r"""$E \|z\|^2 = \|\mu\|^2 + \|\sigma\|^2$ of (n, d), which is the squared W2 distance to a point mass at 0.

    Summed over dimensions, mean over samples.
    """
    return (mu.square() + logvar.exp()).sum(1).mean()
