"""What every metric asks of its arrays, checked once and said in one sentence."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array

LARGEST = 1e70  # fourth powers, such as products of covariances, have to stay finite


def code_rows(codes: ArrayLike) -> Array:
    """Return codes (n, d) as float64, or say why they cannot be scored."""
    codes = np.asarray(codes)
    if codes.ndim != 2 or codes.dtype.kind not in "uif" or 0 in codes.shape:
        raise ValueError(
            f"codes must be numbers of shape (n, width), at least one of each; got {codes.dtype} of shape {codes.shape}; "
            "pass one block, such as z.salient."
        )
    codes = codes.astype(np.float64)
    if not np.isfinite(codes).all():
        raise ValueError("codes must be finite numbers; got NaN or infinity; leave those rows out.")
    largest = np.abs(codes).max()
    if largest >= LARGEST:
        raise ValueError(f"codes must be numbers below {LARGEST:g} in size; got {largest:g}; rescale them.")
    return codes


def class_column(labels: ArrayLike, rows: int) -> Array:
    """Return classes (n,) numbered from 0 without gaps, or say why they are not classes."""
    labels = np.asarray(labels)
    if labels.shape != (rows,):
        raise ValueError(f"labels must be one class for each of the {rows} rows of codes; got shape {labels.shape}.")
    if labels.dtype.kind not in "uibUS":
        raise TypeError(
            f"labels expected classes as integers or strings; got {labels.dtype}; use labels.astype(int), or the metric "
            "factors for continuous truths."
        )
    if labels.dtype.kind == "i" and labels.min() < 0:
        raise ValueError(f"labels expected classes from 0 up; got {labels.min()}, which means unknown; leave those rows out.")
    return np.unique(labels, return_inverse=True)[1].reshape(-1)


def factor_columns(factors: ArrayLike, rows: int) -> Array:
    """Return factors (n, k) as float64, NaN meaning unknown, or say why they are not continuous."""
    factors = np.asarray(factors)
    if factors.dtype.kind != "f":
        raise TypeError(
            f"factors expected continuous truths as floats; got {factors.dtype}, which stands for classes; use the metric "
            "probe for classes, or pass factors.astype(float)."
        )
    factors = factors[:, None] if factors.ndim == 1 else factors
    if factors.ndim != 2 or len(factors) != rows or not factors.shape[1]:
        raise ValueError(f"factors expected shape ({rows}, k), a row for each row of codes; got {factors.shape}.")
    if np.isinf(factors).any():
        raise ValueError("factors must be finite numbers (NaN for unknown); got infinities.")
    return factors.astype(np.float64)


def fold_count(folds: int, rows: int) -> int:
    """Return the number of folds, or say why so many cannot be made of so few rows."""
    if folds < 2 or rows < 2 * folds:
        raise ValueError(f"expected at least 2 folds of at least 2 rows each; got {folds} folds of {rows} rows.")
    return folds


def centred(columns: Array) -> Array:
    """Return columns minus their means; a constant column becomes exactly 0, free of rounding."""
    return np.where(np.ptp(columns, axis=0) > 0, columns - columns.mean(axis=0), 0.0)
