"""Optimal transport between the latent codes of two batches."""

from __future__ import annotations

import torch
from torch import Tensor


def w2_squared(a: Tensor, b: Tensor) -> Tensor:
    r"""Exact squared 2-Wasserstein distance of two sets of n points (n, d) each (*Towards Principled Objectives*, Eq. 9).

    $\min_T \sum_{ij} T_{ij} \|a_i - b_j\|^2$. Between sets of equal size the optimal plan is an assignment. The gradient passes
    through the cost only, with the plan held constant (Danskin's theorem).
    """
    from scipy.optimize import linear_sum_assignment

    with torch.no_grad():
        # Centred first, so that float32 keeps the distances of codes far from the origin.
        centre = b.mean(0)
        cost = torch.cdist(a - centre, b - centre).square()
        i, j = linear_sum_assignment(cost.double().cpu().numpy())
    return (a[torch.as_tensor(i, device=a.device)] - b[torch.as_tensor(j, device=b.device)]).square().sum(1).mean()
