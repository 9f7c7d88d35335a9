"""Covariances of target and background, in the leading principal directions of both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from untwine._typing import Array
from untwine.registry.sparse_vectors import is_sparse, mean_and_std, samples_at_once, to_dense
from untwine.samples import Samples

CHUNK = 1024  # samples that are converted to float64 at a time
MAX_DIRECTIONS = 500  # with more of them closed forms would take minutes
RANK_TOLERANCE = 1e-10  # eigenvalues below this fraction of the largest are rounding errors


@dataclass(frozen=True, eq=False)
class GroupCovariances:
    """Covariances of target and background in r leading principal directions of both.

    Parameters
    ----------
    origin
        The mean (d,) of the background, over the d flattened features.
    axes
        The orthonormal directions (d, r): the leading eigenvectors of A + B with non-zero variance.
    A, B
        The covariances (r, r) of target and background, each about its own mean.
    n, m
        The number of samples of target and background.
    target_variance, background_variance
        The total variance, summed over all d features.
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
    """Return the covariances of target and background, in float64; images are flattened, in [0, 1]."""
    target, background = samples.target.x, samples.background.x
    wide = len(samples) < np.prod(target.shape[1:])
    if wide and is_sparse(target):
        return _from_sparse_gram(target, background)
    return (_from_gram if wide else _from_covariances)(target, background)


def _from_covariances(target: Array, background: Array) -> GroupCovariances:
    """Compute them from the full covariances (d, d)."""
    (_, A), (origin, B) = mean_and_covariance(target), mean_and_covariance(background)
    axes = leading_axes(A + B, MAX_DIRECTIONS)
    inside = (axes.T @ A @ axes, axes.T @ B @ axes)
    n, m = target.shape[0], background.shape[0]
    return GroupCovariances(origin, axes, *inside, n, m, float(np.trace(A)), float(np.trace(B)))


def _from_gram(target: Array, background: Array) -> GroupCovariances:
    """Compute them from the Gram matrix (n + m, n + m), which is smaller where features outnumber samples."""
    (_, X), (origin, Y) = _centred(target), _centred(background)
    both = np.concatenate([X, Y])
    axes = np.linalg.qr(both.T @ leading_axes(both @ both.T, MAX_DIRECTIONS))[0]
    inside = ((X @ axes).T @ (X @ axes), (Y @ axes).T @ (Y @ axes))
    return GroupCovariances(origin, axes, *inside, len(X), len(Y), float(np.vdot(X, X)), float(np.vdot(Y, Y)))


def _centred(x: Array) -> tuple[Array, Array]:
    r"""Return the mean (d,) and samples X (n, d), centred and scaled such that $X^T X$ is the covariance."""
    flat, scale = x.reshape(len(x), -1), pixel_scale(x)
    mean = flat.mean(axis=0, dtype=np.float64) / scale
    X = flat / scale - mean
    X[:, _constant(np.square(X).sum(0), mean, len(x))] = 0
    return mean, X / np.sqrt(len(x) - 1)


def _from_sparse_gram(target: Array, background: Array) -> GroupCovariances:
    """Compute the same of sparse samples, of which the centred ones are dense in a few features at a time."""
    n, m, d = target.shape[0], background.shape[0], target.shape[1]
    columns = [x.tocsc() for x in (target, background)]  # type: ignore[attr-defined]
    size, origin = samples_at_once(n + m), np.empty(d)
    starts = range(0, d, size)

    def centred(start: int) -> Array:
        (_, X), (origin[start : start + size], Y) = (_centred(to_dense(x[:, start : start + size])) for x in columns)
        return np.concatenate([X, Y])

    gram, variances = np.zeros((n + m, n + m)), np.zeros(2)
    for start in starts:
        U = centred(start)
        gram += U @ U.T
        variances += np.square(U[:n]).sum(), np.square(U[n:]).sum()
    leading = leading_axes(gram, MAX_DIRECTIONS)
    axes = np.linalg.qr(np.concatenate([centred(start).T @ leading for start in starts]))[0]
    projected = np.zeros((n + m, axes.shape[1]))
    for start in starts:
        projected += centred(start) @ axes[start : start + size]
    inside = (projected[:n].T @ projected[:n], projected[n:].T @ projected[n:])
    return GroupCovariances(origin, axes, *inside, n, m, float(variances[0]), float(variances[1]))


def pixel_scale(x: Array) -> float:
    """Return what x is divided by to be in [0, 1]: 255 for uint8 images, 1 for all else."""
    return 255.0 if x.dtype == np.uint8 else 1.0


def _constant(squares: Array, mean: Array, n: int) -> Array:
    """Return which features (d,) are constant up to float32 rounding, given their sums of squares about the mean."""
    return np.asarray(np.sqrt(squares / n) <= 1e-7 * np.abs(mean))


def mean_and_covariance(x: Array) -> tuple[Array, Array]:
    """Return mean (d,) and covariance (d, d), with 1 / (n - 1), of flattened samples; they become float64 in chunks."""
    n = x.shape[0]
    flat, scale = x if is_sparse(x) else x.reshape(n, -1), pixel_scale(x)
    mean = mean_and_std(flat)[0] if is_sparse(x) else flat.mean(axis=0, dtype=np.float64) / scale
    scatter = np.zeros((flat.shape[1], flat.shape[1]))
    for start in range(0, n, CHUNK):
        X = to_dense(flat[start : start + CHUNK]) / scale - mean
        scatter += X.T @ X
    constant = _constant(scatter.diagonal(), mean, n)
    scatter[constant], scatter[:, constant] = 0, 0
    return mean, scatter / (n - 1)


def leading_axes(S: Array, most: int) -> Array:
    """Return the leading eigenvectors (d, r) of a covariance with non-zero eigenvalues, r at most `most`."""
    from scipy import linalg

    d = len(S)
    values, vectors = linalg.eigh(S, subset_by_index=(max(0, d - most), d - 1))
    positive = values > RANK_TOLERANCE * max(values[-1], 0.0)
    return np.asarray(vectors[:, positive][:, ::-1])
