"""Density-ratio estimate of total correlation by a discriminator (Kim and Mnih 2018; Abid and Zou 2019)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def joint_and_shuffled_pairs(z: Tensor, s: Tensor) -> tuple[Tensor, Tensor]:
    """Return samples of q(z, s) and of q(z) q(s), each (n, d_z + d_s): the second pairs z_i with the s half a batch away."""
    return torch.cat([z, s], 1), torch.cat([z, s.roll(len(s) // 2, 0)], 1)


def total_correlation(logits: Tensor) -> Tensor:
    r"""$E[\log d / (1 - d)]$, the mean logit on joint pairs: the total correlation where the discriminator d is optimal."""
    return logits.mean()


def discriminator_loss(joint: Tensor, independent: Tensor) -> Tensor:
    r"""Binary cross-entropy of logits for joint pairs (class 1) and independent pairs (class 0).

    $\tfrac12 (E_{joint}[-\log \sigma(l)] + E_{indep}[-\log (1 - \sigma(l))])$: $\log 2$ at chance level, 0 for perfect logits.
    """
    return 0.5 * (functional.softplus(-joint).mean() + functional.softplus(independent).mean())
