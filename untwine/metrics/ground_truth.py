"""Ground-truth factors for scores of single latents: discrete or continuous, and which latents are active."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array

Continuous = bool | Sequence[bool] | None

BINS = 20
DEAD = 0.05


def typed_factors(factors: ArrayLike, n: int, continuous: Continuous = None) -> tuple[Array, list[bool]]:
    """Return factors (n, k) as float64 and which of them are continuous; discrete ones are numbered from 0 without gaps.

    Integers and booleans are discrete and floats are continuous, unless `continuous` says otherwise, for all or one by one.
    """
    given = np.asarray(factors)
    if given.dtype.kind not in "uibf":
        raise TypeError(f"factors must be numbers, integers for classes; got {given.dtype}; number the classes from 0.")
    given = given[:, None] if given.ndim == 1 else given
    if given.ndim != 2 or len(given) != n or not given.shape[1]:
        raise ValueError(f"factors must have shape ({n}, k), one row for each sample; got {given.shape}.")
    if not np.isfinite(given).all():
        raise ValueError("factors must be known and finite; got NaN or infinity; leave those samples out.")
    mask = _continuous_mask(given.dtype.kind == "f" if continuous is None else continuous, given.shape[1])
    columns = given.astype(np.float64)
    for j in np.flatnonzero(~mask):
        columns[:, j] = np.unique(columns[:, j], return_inverse=True)[1].reshape(-1)
    return columns, mask.tolist()


def _continuous_mask(continuous: bool | Sequence[bool], k: int) -> Array:
    """Return the mask (k,) of continuous factors, or refuse what does not say it for each of them."""
    given = np.asarray(continuous, dtype=object)  # as objects, so that only a bool counts as True or False
    rule = f"continuous must be None, True or False, or a list of True or False for each of the {k} factors"
    wrong = [one for one in given.flat if not isinstance(one, bool | np.bool_)]
    if wrong:
        raise TypeError(f"{rule}; got {wrong[0]!r}; pass True for continuous factors and False for classes.")
    if given.shape not in ((), (k,)):
        raise ValueError(f"{rule}; got shape {given.shape}; pass one bool for each factor, or one for all.")
    return np.broadcast_to(given.astype(bool), (k,))


def discretise_factors(factors: ArrayLike, n: int, continuous: Continuous = None, bins: int = BINS) -> Array:
    """Return factors (n, k) as classes (integers from 0): continuous ones of many values in bins of equal width."""
    columns, mask = typed_factors(factors, n, continuous)
    classes = []
    for y, is_continuous in zip(columns.T, mask, strict=True):
        values, levels = np.unique(y, return_inverse=True)
        classes.append(discretise(y, bins) if is_continuous and len(values) > bins else levels.reshape(-1))
    return np.stack(classes, axis=1)


def discretise(column: Array, bins: int = BINS) -> Array:
    """Return the bin (from 0) of each value, for bins of equal width from the smallest to the largest.

    A constant has one bin, and so has what varies by rounding alone, for which there are no edges.
    """
    if bins < 2:
        raise ValueError(f"bins must be at least 2; got {bins}.")
    if np.ptp(column) <= 2 * bins * np.spacing(np.abs(column).max()):
        return np.zeros(len(column), dtype=np.int64)
    edges = np.histogram_bin_edges(column, bins)
    return np.asarray(np.searchsorted(edges[1:-1], column, side="right"))


def varying_mask(factors: Array, metric: str, least: int = 1) -> Array:
    """Return the mask (k,) of factors that vary, or refuse them where fewer than `least` do."""
    mask = np.ptp(factors, axis=0) > 0
    if mask.sum() < least:
        raise ValueError(
            f"{metric} needs at least {least} factor{'s' * (least > 1)} with two values or more; got "
            f"{int(mask.sum())} among {factors.shape[1]}; pass factors that vary."
        )
    return np.asarray(mask)


def active_latents(codes: Array, dead: float = DEAD) -> Array:
    """Return the mask (d,) of active latents: their standard deviation is at least `dead` times the largest one."""
    std = np.where(np.ptp(codes, axis=0) > 0, codes.std(axis=0), 0.0)
    return np.asarray((std > 0) & (std >= dead * std.max()))


def top_two_gaps(matrix: Array) -> Array:
    """Return the difference of the two largest scores (d, k) of each column; a single latent is compared with 0."""
    best = np.sort(np.vstack([matrix, np.zeros((1, matrix.shape[1]))]) if len(matrix) == 1 else matrix, axis=0)
    return np.asarray(best[-1] - best[-2])
