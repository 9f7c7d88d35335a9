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


def laplace_learned(x: Tensor, mean: Tensor, log_scale: Tensor) -> Tensor:
    r"""$\sum |x - m| / b + \log 2 b$ with a learned $\log b$, broadcast to x."""
    return ((x - mean).abs() * torch.exp(-log_scale) + log_scale + math.log(2)).flatten(1).sum(1).mean()


def negative_binomial(x: Tensor, log_mean: Tensor, log_dispersion: Tensor) -> Tensor:
    """-log p of counts x under negative binomials with mean m and inverse dispersion r: their variance is m + m^2 / r."""
    return -negative_binomial_log_prob(x, log_mean, log_dispersion).flatten(1).sum(1).mean()


def zero_inflated(x: Tensor, log_mean: Tensor, log_dispersion: Tensor, logits: Tensor) -> Tensor:
    r"""As `negative_binomial`, for counts that are 0 with probability $\pi = \sigma(\mathrm{logits})$ whatever the mean."""
    return -zero_inflated_log_prob(x, log_mean, log_dispersion, logits).flatten(1).sum(1).mean()


def negative_binomial_log_prob(x: Tensor, log_mean: Tensor, log_dispersion: Tensor) -> Tensor:
    r"""$\log \binom{x + r - 1}{x} + r \log \frac{r}{r + m} + x \log \frac{m}{r + m}$ elementwise, `log_dispersion` = log r."""
    r, log_sum = torch.exp(log_dispersion), torch.logaddexp(log_dispersion, log_mean)
    binomial = torch.lgamma(x + r) - torch.lgamma(r) - torch.lgamma(x + 1)
    return binomial + r * (log_dispersion - log_sum) + x * (log_mean - log_sum)


def zero_inflated_log_prob(x: Tensor, log_mean: Tensor, log_dispersion: Tensor, logits: Tensor) -> Tensor:
    r"""$\log (\pi 1_{x = 0} + (1 - \pi) NB(x))$ elementwise, with $\pi = \sigma(\mathrm{logits})$."""
    counted = negative_binomial_log_prob(x, log_mean, log_dispersion) + functional.logsigmoid(-logits)
    return torch.where(x == 0, torch.logaddexp(functional.logsigmoid(logits), counted), counted)
