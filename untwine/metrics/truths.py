"""True factors as metrics of single latents see them: classes, or numbers on a scale, and which latents are dead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array

Continuous = bool | Sequence[bool] | None

BINS = 20
DEAD = 0.05


def truth_columns(factors: ArrayLike, rows: int, continuous: Continuous = None) -> tuple[Array, list[bool]]:
    """Return factors (n, k) as float64, and for each whether it is continuous: classes are numbered from 0 without gaps.

    Integers and booleans are classes and floats are continuous, unless `continuous` says otherwise, for all or one by one.
    """
    given = np.asarray(factors)
    if given.dtype.kind not in "uibf":
        raise TypeError(f"factors must be numbers, integers for classes; got {given.dtype}; number the classes from 0.")
    given = given[:, None] if given.ndim == 1 else given
    if given.ndim != 2 or len(given) != rows or not given.shape[1]:
        raise ValueError(f"factors expected shape ({rows}, k), a row for each row of codes; got {given.shape}.")
    if not np.isfinite(given).all():
        raise ValueError("factors expected known, finite values; got NaN or infinity; leave those rows out.")
    scale = _on_scale(given.dtype.kind == "f" if continuous is None else continuous, given.shape[1])
    columns = given.astype(np.float64)
    for j in np.flatnonzero(~scale):
        columns[:, j] = np.unique(columns[:, j], return_inverse=True)[1].reshape(-1)
    return columns, scale.tolist()


def _on_scale(continuous: bool | Sequence[bool], factors: int) -> Array:
    """Return the mask (k,) of factors that lie on a scale, or say why it is not told for each of them."""
    given = np.asarray(continuous, dtype=object)  # as it is: True of a bool, not of whatever is not empty
    expected = f"continuous expected None, True or False, or a list of True or False for each of the {factors} factors"
    wrong = [one for one in given.flat if not isinstance(one, bool | np.bool_)]
    if wrong:
        raise TypeError(f"{expected}; got {wrong[0]!r}; say True for what lies on a scale and False for classes.")
    if given.shape not in ((), (factors,)):
        raise ValueError(f"{expected}; got shape {given.shape}; name every factor once, or all at once.")
    return np.broadcast_to(given.astype(bool), (factors,))


def class_columns(factors: ArrayLike, rows: int, continuous: Continuous = None, bins: int = BINS) -> Array:
    """Return factors (n, k) as classes (integers from 0): continuous ones of many values are cut into bins of equal width."""
    columns, scale = truth_columns(factors, rows, continuous)
    classes = []
    for y, on_scale in zip(columns.T, scale, strict=True):
        values, levels = np.unique(y, return_inverse=True)
        classes.append(binned(y, bins) if on_scale and len(values) > bins else levels.reshape(-1))
    return np.stack(classes, axis=1)


def binned(column: Array, bins: int = BINS) -> Array:
    """Return the bin (from 0) of each value, for bins of equal width from the least to the largest.

    A constant has one bin, and so has what varies by rounding alone, for which there are no edges.
    """
    if bins < 2:
        raise ValueError(f"bins expected at least 2; got {bins}.")
    if np.ptp(column) <= 2 * bins * np.spacing(np.abs(column).max()):
        return np.zeros(len(column), dtype=np.int64)
    edges = np.histogram_bin_edges(column, bins)
    return np.asarray(np.searchsorted(edges[1:-1], column, side="right"))


def varying(factors: Array, metric: str, least: int = 1) -> Array:
    """Return the mask (k,) of factors that vary, or say that too few of them do."""
    mask = np.ptp(factors, axis=0) > 0
    if mask.sum() < least:
        raise ValueError(
            f"{metric} expected at least {least} factor{'s' * (least > 1)} with two values or more; got "
            f"{int(mask.sum())} among {factors.shape[1]}; pass factors that vary."
        )
    return np.asarray(mask)


def live(codes: Array, dead: float = DEAD) -> Array:
    """Return the mask (d,) of latents that are alive: their deviation is more than `dead` times the largest one."""
    spread = np.where(np.ptp(codes, axis=0) > 0, codes.std(axis=0), 0.0)
    return np.asarray((spread > 0) & (spread >= dead * spread.max()))


def gaps(matrix: Array) -> Array:
    """Return for each column of scores (d, k) the difference of its two largest entries; a lone latent is compared with 0."""
    best = np.sort(np.vstack([matrix, np.zeros((1, matrix.shape[1]))]) if len(matrix) == 1 else matrix, axis=0)
    return np.asarray(best[-1] - best[-2])
