"""Diagonal Gaussians: sampling, divergence and bounds."""

from __future__ import annotations

import torch
from torch import Tensor

BOUND = 10.0


def bounded(logvar: Tensor) -> Tensor:
    r"""Keep a log-variance within +-10, smoothly: $10 \tanh(v / 10)$, the identity near 0."""
    return BOUND * torch.tanh(logvar / BOUND)


def sample(mu: Tensor, logvar: Tensor, noise: Tensor) -> Tensor:
    r"""Reparametrise: $\mu + \sigma \epsilon$."""
    return mu + torch.exp(0.5 * logvar) * noise


def kl(mu: Tensor, logvar: Tensor) -> Tensor:
    r"""KL to N(0, I), $\tfrac12 \sum (\mu^2 + \sigma^2 - 1 - \log \sigma^2)$: summed over dimensions, mean over rows."""
    return 0.5 * (mu.square() + logvar.exp() - 1 - logvar).sum(1).mean()


def energy(mu: Tensor, logvar: Tensor) -> Tensor:
    r"""$\|\mu\|^2 + \|\sigma\|^2$, the squared W2 distance to a point mass at 0: summed over dimensions, mean over rows."""
    return (mu.square() + logvar.exp()).sum(1).mean()
