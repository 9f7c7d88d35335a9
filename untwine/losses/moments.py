"""Maximum mean discrepancy: how far two sets of points are from one distribution, by all their moments at once."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def kernel(a: Tensor, b: Tensor, gammas: Sequence[float]) -> Tensor:
    r"""Return $\sum_\gamma \exp(-\gamma \|a_i - b_j\|^2)$ for all pairs of a (n, d) and b (m, d): (n, m)."""
    # Not through a matrix product: its rounding gives a point a distance to itself, which the narrow kernels see.
    squared = torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist").square()
    return torch.exp(-squared.new_tensor(list(gammas))[:, None, None] * squared).sum(0)


def mmd_squared(a: Tensor, b: Tensor, gammas: Sequence[float], biased: bool = False) -> Tensor:
    r"""Squared MMD of the distributions behind a (n, d) and b (m, d), kernels summed over `gammas`.

    $E\,k(a, a') + E\,k(b, b') - 2 E\,k(a, b)$. Without bias the first two means leave out each point's kernel with itself, so
    the expectation is 0 for equal distributions, and a value can be negative. With bias they keep it: at least 0, and well
    above for equal distributions, the more so the fewer points there are.
    """
    if min(len(a), len(b)) < 2 and not biased:
        raise ValueError(
            f"mmd_squared expected at least 2 points in each set; got {len(a)} and {len(b)}; raise batch to at least 2."
        )
    within = Tensor.mean if biased else _mean_of_pairs
    return within(kernel(a, a, gammas)) + within(kernel(b, b, gammas)) - 2 * kernel(a, b, gammas).mean()


def _mean_of_pairs(k: Tensor) -> Tensor:
    """Return the mean over pairs of two different points."""
    return (k.sum() - k.diagonal().sum()) / (len(k) * (len(k) - 1))
