"""Maximum mean discrepancy of two sets of points, with a sum of Gaussian kernels (Gretton et al. 2012)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def gaussian_kernel(a: Tensor, b: Tensor, gammas: Sequence[float]) -> Tensor:
    r"""Return $k(a_i, b_j) = \sum_\gamma \exp(-\gamma \|a_i - b_j\|^2)$ for all pairs of a (n, d) and b (m, d): (n, m)."""
    # Not by matrix products: their rounding gives a point a distance to itself, which narrow kernels are sensitive to.
    squared = torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist").square()
    return torch.exp(-squared.new_tensor(list(gammas))[:, None, None] * squared).sum(0)


def mmd_squared(a: Tensor, b: Tensor, gammas: Sequence[float], biased: bool = False) -> Tensor:
    r"""Estimate the squared MMD between the distributions of a (n, d) and b (m, d).

    $E\,k(a, a') + E\,k(b, b') - 2 E\,k(a, b)$ with the kernel summed over `gammas`. The unbiased estimate leaves the diagonals
    out of the first two means: its expectation is 0 for equal distributions, and it can be negative. The biased estimate keeps
    them: it is at least 0, and above 0 for equal distributions, the more so the fewer points there are.
    """
    if min(len(a), len(b)) < 2 and not biased:
        raise ValueError(
            f"mmd_squared needs at least 2 points in each set; got {len(a)} and {len(b)}; raise batch to at least 2."
        )
    mean_within = Tensor.mean if biased else _off_diagonal_mean
    within = mean_within(gaussian_kernel(a, a, gammas)) + mean_within(gaussian_kernel(b, b, gammas))
    return within - 2 * gaussian_kernel(a, b, gammas).mean()


def _off_diagonal_mean(k: Tensor) -> Tensor:
    return (k.sum() - k.diagonal().sum()) / (len(k) * (len(k) - 1))
