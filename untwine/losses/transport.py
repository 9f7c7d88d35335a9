"""Optimal transport between the codes of two batches."""

from __future__ import annotations

import torch
from torch import Tensor


def w2_squared(a: Tensor, b: Tensor) -> Tensor:
    r"""Exact squared Wasserstein distance of two equally large sets of points (paper 000, Eq. 9).

    $\min_T \sum_{ij} T_{ij} \|a_i - b_j\|^2$. Between equal batches the best plan is an assignment. The plan is a constant
    of the gradient, which passes through the cost alone (Danskin).
    """
    from scipy.optimize import linear_sum_assignment

    with torch.no_grad():
        # Points go as differences from a common centre, so that far-away codes keep their distances in single precision.
        centre = b.mean(0)
        cost = torch.cdist(a - centre, b - centre).square()
        rows, columns = linear_sum_assignment(cost.double().cpu().numpy())
    return (a[torch.as_tensor(rows, device=a.device)] - b[torch.as_tensor(columns, device=b.device)]).square().sum(1).mean()
