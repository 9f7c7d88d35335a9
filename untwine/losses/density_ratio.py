"""The density-ratio adversary: how far two blocks of codes are from independent (Kim and Mnih 2018; Abid and Zou 2019)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def pairs(z: Tensor, s: Tensor) -> tuple[Tensor, Tensor]:
    """Return joint pairs (z_i, s_i), and independent ones: z_i with the s of the row half a batch away."""
    return torch.cat([z, s], 1), torch.cat([z, s.roll(len(s) // 2, 0)], 1)


def total_correlation(logits: Tensor) -> Tensor:
    r"""$E[\log d / (1 - d)]$ on joint pairs: the total correlation, where the discriminator is at its best."""
    return logits.mean()


def discrimination(joint: Tensor, independent: Tensor) -> Tensor:
    r"""Cross-entropy of telling joint pairs (1) from independent ones (0), mean over both; $\log 2$ when it cannot."""
    return 0.5 * (functional.softplus(-joint).mean() + functional.softplus(independent).mean())
