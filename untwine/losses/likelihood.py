"""Negative log-likelihoods -log p(x | z) of x (n, *shape): summed over features, mean over samples, constants included."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional


def bernoulli(x: Tensor, logits: Tensor) -> Tensor:
    r"""$-\sum x \log p + (1 - x) \log (1 - p)$ with $p = \sigma(\mathrm{logits})$ and x in [0, 1]."""
    return functional.binary_cross_entropy_with_logits(logits, x, reduction="sum") / len(x)


def gaussian(x: Tensor, mean: Tensor, scale: float) -> Tensor:
    r"""$\sum (x - m)^2 / 2 \sigma^2 + \log \sigma + \tfrac12 \log 2 \pi$ with a fixed $\sigma$ = `scale`."""
    constant = x.numel() // len(x) * (math.log(scale) + 0.5 * math.log(2 * math.pi))
    return functional.mse_loss(mean, x, reduction="sum") / (2 * scale**2 * len(x)) + constant


def gaussian_learned(x: Tensor, mean: Tensor, logvar: Tensor) -> Tensor:
    r"""$\tfrac12 \sum (x - m)^2 / \sigma^2 + \log \sigma^2 + \log 2 \pi$ with a learned $\log \sigma^2$, broadcast to x."""
    return 0.5 * ((x - mean).square() * torch.exp(-logvar) + logvar + math.log(2 * math.pi)).flatten(1).sum(1).mean()


def laplace(x: Tensor, mean: Tensor, scale: float) -> Tensor:
    r"""$\sum |x - m| / b + \log 2 b$ with a fixed $b$ = `scale`."""
    return functional.l1_loss(mean, x, reduction="sum") / (scale * len(x)) + x[0].numel() * math.log(2 * scale)
