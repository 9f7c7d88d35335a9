"""Whether the codes span the truth: canonical correlations of two sets of columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import centred, code_rows, factor_columns


def canonical_correlation(codes: ArrayLike, factors: ArrayLike) -> float:
    """Return the mean canonical correlation of codes (n, d) with factors (n, k), over the factors' k dimensions.

    (1/k) sum_i c_i, where c_1 >= c_2 >= ... are the singular values of Q_codes' Q_factors, the Q being orthonormal bases of
    the centred columns. In [0, 1], higher is better where the factors should be, lower where they should not: 1 means that
    every factor is a linear function of the codes, however rotated or scaled; 0 that none correlates. A dimension that the
    codes or the factors lack (too few, constant or repeated columns) counts as 0. Codes that know nothing score about
    sqrt(d / n), not 0, for it is fitted on the rows it is scored on.
    """
    codes = code_rows(codes)
    factors = factor_columns(factors, len(codes))
    if np.isnan(factors).any():
        raise ValueError("canonical_correlation expected every factor to be known; got NaN; leave those rows out.")
    k = factors.shape[1]
    if len(codes) <= codes.shape[1] + k:
        raise ValueError(
            f"canonical_correlation expected more rows than codes and factors have columns, {codes.shape[1]} + {k}, or any "
            f"codes would fit; got {len(codes)}; pass more rows."
        )
    correlations = np.linalg.svd(_basis(codes).T @ _basis(factors), compute_uv=False)
    return float(np.clip(correlations, 0.0, 1.0).sum() / k)


def _basis(columns: Array) -> Array:
    """Return an orthonormal basis (n, rank) of the span of the centred columns."""
    columns = centred(columns)
    spread = columns.std(axis=0)
    columns = columns[:, spread > 0] / spread[spread > 0]
    if not columns.shape[1]:
        return columns
    left, values, _ = np.linalg.svd(columns, full_matrices=False)
    rank = values > values[0] * len(columns) * np.finfo(np.float64).eps
    return np.asarray(left[:, rank])
