"""Checks of the arrays that metrics are given."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array

LARGEST = 1e70  # fourth powers, such as products of covariances, have to stay finite


def check_codes(codes: ArrayLike) -> Array:
    """Return codes (n, d) as float64, or refuse them."""
    codes = np.asarray(codes)
    if codes.ndim != 2 or codes.dtype.kind not in "uif" or 0 in codes.shape:
        raise ValueError(
            f"codes must be numbers of shape (n, d), n and d at least 1; got {codes.dtype} of shape {codes.shape}; "
            "pass one block, such as z.salient."
        )
    codes = codes.astype(np.float64)
    if not np.isfinite(codes).all():
        raise ValueError("codes must be finite; got NaN or infinity; leave those samples out.")
    largest = np.abs(codes).max()
    if largest >= LARGEST:
        raise ValueError(f"codes must be smaller than {LARGEST:g} in absolute value; got {largest:g}; rescale them.")
    return codes


def check_labels(labels: ArrayLike, n: int) -> Array:
    """Return labels (n,) numbered from 0 without gaps, or refuse them."""
    labels = np.asarray(labels)
    if labels.shape != (n,):
        raise ValueError(f"labels must have shape ({n},), a class for each sample; got shape {labels.shape}.")
    if labels.dtype.kind not in "uibUS":
        raise TypeError(
            f"labels must be integers or strings; got {labels.dtype}; use labels.astype(int), or factor_r2 for continuous "
            "factors."
        )
    if labels.dtype.kind == "i" and labels.min() < 0:
        raise ValueError(f"labels must be at least 0; got {labels.min()}, which means unknown; leave those samples out.")
    return np.unique(labels, return_inverse=True)[1].reshape(-1)


def check_factors(factors: ArrayLike, n: int) -> Array:
    """Return factors (n, k) as float64, NaN meaning unknown, or refuse them where they are not continuous."""
    factors = np.asarray(factors)
    if factors.dtype.kind != "f":
        raise TypeError(
            f"factors must be continuous, as floats; got {factors.dtype}, which is taken for classes; use probe_accuracy for "
            "classes, or pass factors.astype(float)."
        )
    factors = factors[:, None] if factors.ndim == 1 else factors
    if factors.ndim != 2 or len(factors) != n or not factors.shape[1]:
        raise ValueError(f"factors must have shape ({n}, k), one row for each sample; got {factors.shape}.")
    if np.isinf(factors).any():
        raise ValueError("factors must be finite, or NaN for unknown; got infinities.")
    return factors.astype(np.float64)


def check_folds(folds: int, n: int) -> int:
    """Return the number of folds, or refuse it where there are too few samples."""
    if folds < 2 or n < 2 * folds:
        raise ValueError(f"folds must be at least 2, of at least 2 samples each; got {folds} folds of {n} samples.")
    return folds


def centred(columns: Array) -> Array:
    """Return columns minus their means; a constant column becomes exactly 0, free of rounding."""
    return np.where(np.ptp(columns, axis=0) > 0, columns - columns.mean(axis=0), 0.0)
