"""Whether the codes span the ground-truth factors: canonical correlations of two sets of columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import centred, check_codes, check_factors


def canonical_correlation(codes: ArrayLike, factors: ArrayLike) -> float:
    """Return the mean canonical correlation of codes (n, d) with factors (n, k), over the factors' k dimensions.

    (1/k) sum_i c_i, where c_1 >= c_2 >= ... are the singular values of Q_codes' Q_factors, the Q being orthonormal bases of
    the centred columns. In [0, 1], higher is better where the factors should be encoded, lower where not: 1 means that
    every factor is a linear function of the codes, however rotated or scaled; 0 that none correlates. A dimension that the
    codes or the factors lack (too few, constant or collinear columns) counts as 0. Independent codes score about
    sqrt(d / n), not 0, because it is fitted on the samples it is scored on.
    """
    codes = check_codes(codes)
    factors = check_factors(factors, len(codes))
    if np.isnan(factors).any():
        raise ValueError("factors must be known; got NaN; leave those samples out.")
    k = factors.shape[1]
    if len(codes) <= codes.shape[1] + k:
        raise ValueError(
            f"canonical_correlation needs more samples than codes and factors have columns, {codes.shape[1]} + {k}, or any "
            f"codes would fit; got {len(codes)}; pass more samples."
        )
    correlations = np.linalg.svd(_basis(codes).T @ _basis(factors), compute_uv=False)
    return float(np.clip(correlations, 0.0, 1.0).sum() / k)


def _basis(columns: Array) -> Array:
    """Return an orthonormal basis (n, rank) of the span of the centred columns."""
    columns = centred(columns)
    std = columns.std(axis=0)
    columns = columns[:, std > 0] / std[std > 0]
    if not columns.shape[1]:
        return columns
    left, values, _ = np.linalg.svd(columns, full_matrices=False)
    rank = values > values[0] * len(columns) * np.finfo(np.float64).eps
    return np.asarray(left[:, rank])
