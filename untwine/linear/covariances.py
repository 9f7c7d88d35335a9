"""Target and background as two covariances, in the directions in which either varies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from untwine._typing import Array
from untwine.samples import Samples

CHUNK = 1024
MAX_DIRECTIONS = 500  # beyond these, closed forms would take minutes
RANK_TOLERANCE = 1e-10  # a variance below this share of the largest one is rounding


@dataclass(frozen=True, eq=False)
class GroupCovariances:
    """Target and background in the r leading directions in which either varies.

    Parameters
    ----------
    origin
        The mean of the background, over d flattened columns.
    axes
        The directions (d, r), orthonormal: the leading eigenvectors of A + B, without those that have no variance.
    A, B
        The covariances (r, r) of target and of background, each about its own mean.
    n, m
        The number of rows of target and of background.
    target_variance, background_variance
        The variance over all d columns.
    """

    origin: Array
    axes: Array
    A: Array
    B: Array
    n: int
    m: int
    target_variance: float
    background_variance: float


def group_covariances(samples: Samples) -> GroupCovariances:
    """Return both covariances in the directions that matter, in double precision; images are flattened, in [0, 1]."""
    target, background = samples.target.x, samples.background.x
    few = len(target) + len(background) < np.prod(target.shape[1:])
    return (_from_gram if few else _from_covariances)(target, background)


def _from_covariances(target: Array, background: Array) -> GroupCovariances:
    """Compare by way of the products of all columns."""
    (_, A), (origin, B) = mean_and_covariance(target), mean_and_covariance(background)
    axes = leading_axes(A + B, MAX_DIRECTIONS)
    inside = (axes.T @ A @ axes, axes.T @ B @ axes)
    return GroupCovariances(origin, axes, *inside, len(target), len(background), float(np.trace(A)), float(np.trace(B)))


def _from_gram(target: Array, background: Array) -> GroupCovariances:
    """Compare by way of the products of all rows, which are fewer where rows are few and wide: the directions are the same."""
    (_, X), (origin, Y) = _centred(target), _centred(background)
    both = np.concatenate([X, Y])
    axes = np.linalg.qr(both.T @ leading_axes(both @ both.T, MAX_DIRECTIONS))[0]
    inside = ((X @ axes).T @ (X @ axes), (Y @ axes).T @ (Y @ axes))
    return GroupCovariances(origin, axes, *inside, len(X), len(Y), float(np.vdot(X, X)), float(np.vdot(Y, Y)))


def _centred(x: Array) -> tuple[Array, Array]:
    """Return the mean (d,) and rows (n, d) whose products summed are the covariance."""
    flat, unit = x.reshape(len(x), -1), 255.0 if x.dtype == np.uint8 else 1.0
    mean = flat.mean(axis=0, dtype=np.float64) / unit
    rows = flat / unit - mean
    rows[:, _constant(np.square(rows).sum(0), mean, len(x))] = 0
    return mean, rows / np.sqrt(len(x) - 1)


def _constant(squares: Array, mean: Array, n: int) -> Array:
    """Tell which columns differ by the rounding of single precision alone, from the sum of their squared deviations."""
    return np.asarray(np.sqrt(squares / n) <= 1e-7 * np.abs(mean))


def mean_and_covariance(x: Array) -> tuple[Array, Array]:
    """Return mean (d,) and covariance (d, d), with 1 / (n - 1), of flattened rows; in parts, for images are kept as bytes."""
    flat, unit = x.reshape(len(x), -1), 255.0 if x.dtype == np.uint8 else 1.0
    mean = flat.mean(axis=0, dtype=np.float64) / unit
    scatter = np.zeros((flat.shape[1], flat.shape[1]))
    for start in range(0, len(flat), CHUNK):
        rows = flat[start : start + CHUNK] / unit - mean
        scatter += rows.T @ rows
    constant = _constant(scatter.diagonal(), mean, len(flat))
    scatter[constant], scatter[:, constant] = 0, 0
    return mean, scatter / (len(flat) - 1)


def leading_axes(S: Array, most: int) -> Array:
    """Return the leading eigenvectors (d, r) of a covariance, at most so many, without those that have no variance."""
    from scipy import linalg

    d = len(S)
    values, vectors = linalg.eigh(S, subset_by_index=(max(0, d - most), d - 1))
    found = values > RANK_TOLERANCE * max(values[-1], 0.0)
    return np.asarray(vectors[:, found][:, ::-1])
