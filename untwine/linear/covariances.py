"""Covariances of target and background, in the leading principal directions of both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from untwine._typing import Array
from untwine.linear.randomised import leading_eigenvectors, orthonormalise
from untwine.registry.sparse_vectors import is_sparse, to_dense
from untwine.samples import BACKGROUND, Samples

Precision = type[np.float32] | type[np.float64]

CHUNK = 1024  # samples that are converted to float64 at a time
ELEMENTS = 2**23  # that are centred at a time
MAX_EXACT = 2_500  # up to so many samples or features the directions are exact
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


def group_covariances(samples: Samples, seed: int = 0) -> GroupCovariances:
    """Return the covariances of target and background, in float64; images are flattened, in [0, 1].

    Where samples and features are both more than `MAX_EXACT`, the directions are found by a randomised method with that seed.
    """
    target, background = _sides(samples)
    features = int(np.prod(target.shape[1:]))
    if min(len(samples), features) > MAX_EXACT:
        return _randomised(target, background, seed)
    return (_from_gram if len(samples) < features else _from_covariances)(target, background)


def _sides(samples: Samples) -> list[Array]:
    """Return target and background; views where the samples of each stand together, so that they are not copied."""
    sides = []
    for mask in (samples.groups != BACKGROUND, samples.groups == BACKGROUND):
        rows = np.flatnonzero(mask)
        together = len(rows) > 0 and rows[-1] - rows[0] + 1 == len(rows)
        sides.append(samples.x[rows[0] : rows[-1] + 1] if together else samples.x[rows])
    return sides


def _from_covariances(target: Array, background: Array) -> GroupCovariances:
    """Compute them from the full covariances (d, d)."""
    (_, A), (origin, B) = mean_and_covariance(target), mean_and_covariance(background)
    axes = leading_axes(A + B, MAX_DIRECTIONS)
    inside = (axes.T @ A @ axes, axes.T @ B @ axes)
    n, m = target.shape[0], background.shape[0]
    return GroupCovariances(origin, axes, *inside, n, m, float(np.trace(A)), float(np.trace(B)))


def _from_gram(target: Array, background: Array) -> GroupCovariances:
    """Compute them from the Gram matrix (n + m, n + m), which is smaller where features outnumber samples."""
    columns = _Columns(target, background)
    gram = np.zeros((columns.samples, columns.samples))
    for U in columns.blocks():
        gram += U.T @ U
    leading = leading_axes(gram, MAX_DIRECTIONS)
    axes = np.linalg.qr(np.concatenate([U @ leading for U in columns.blocks()]))[0]
    return columns.covariances(axes)


def _randomised(target: Array, background: Array, seed: int) -> GroupCovariances:
    """Compute them in leading directions that a randomised method finds, in single precision."""
    n, features = target.shape[0] + background.shape[0], int(np.prod(target.shape[1:]))
    both = (_Columns if n < features else _Rows)(target, background, np.float32)
    V = leading_eigenvectors(both.blocks, min(n, features), MAX_DIRECTIONS, seed)
    axes = orthonormalise(V if n >= features else np.concatenate([U @ V for U in both.blocks()]))
    return both.covariances(axes)


class _Columns:
    r"""Some features (c, n + m) of target and background at a time, centred and scaled such that $X^T X$ is the covariance."""

    def __init__(self, target: Array, background: Array, dtype: Precision = np.float64) -> None:
        self.sides = [x.tocsc() if is_sparse(x) else x.reshape(len(x), -1) for x in (target, background)]  # type: ignore[attr-defined]
        self.sizes, self.dtype, self.scale = (target.shape[0], background.shape[0]), dtype, dtype(pixel_scale(target))
        self.samples, self.features = sum(self.sizes), self.sides[0].shape[1]
        self.means, self.factors, self.variances = np.empty((2, self.features)), np.empty((2, self.features)), np.zeros(2)
        for start in range(0, self.features, self.step):
            for i in range(2):
                self._measure(i, slice(start, start + self.step))

    @property
    def step(self) -> int:
        """The number of features at a time."""
        return max(1, ELEMENTS // self.samples)

    def _measure(self, i: int, chosen: slice) -> None:
        x, n = to_dense(self.sides[i][:, chosen]), self.sizes[i]
        self.means[i, chosen] = mean = x.mean(axis=0, dtype=np.float64) / self.scale
        X = x / self.scale - mean.astype(self.dtype)
        squares = np.einsum("ij,ij->j", X, X).astype(np.float64)
        constant = _constant(squares, mean, n)
        self.factors[i, chosen] = np.where(constant, 0, 1 / np.sqrt(n - 1))
        self.variances[i] += squares[~constant].sum() / (n - 1)

    def blocks(self) -> Iterator[Array]:
        """Yield the features in their order."""
        for start in range(0, self.features, self.step):
            chosen = slice(start, start + self.step)
            yield np.concatenate([self._centred(i, chosen).T for i in range(2)], axis=1)

    def _centred(self, i: int, chosen: slice) -> Array:
        X = to_dense(self.sides[i][:, chosen]) / self.scale
        X -= self.means[i, chosen].astype(self.dtype)
        X *= self.factors[i, chosen].astype(self.dtype)
        return np.asarray(X)

    def covariances(self, axes: Array) -> GroupCovariances:
        """Return the covariances in orthonormal directions (d, r)."""
        projected, start, inside = np.zeros((self.samples, axes.shape[1])), 0, axes.astype(self.dtype)
        for U in self.blocks():
            projected += U.T @ inside[start : start + len(U)]
            start += len(U)
        X, Y = projected[: self.sizes[0]], projected[self.sizes[0] :]
        return GroupCovariances(
            self.means[1], axes, X.T @ X, Y.T @ Y, *self.sizes, float(self.variances[0]), float(self.variances[1])
        )


class _Rows:
    """The same, some samples (c, d) at a time."""

    def __init__(self, target: Array, background: Array, dtype: Precision) -> None:
        self.sides = [x if is_sparse(x) else x.reshape(len(x), -1) for x in (target, background)]
        self.dtype, self.scale = dtype, pixel_scale(target)
        self.sizes = (target.shape[0], background.shape[0])
        self.means = [mean_of(x) / self.scale for x in self.sides]
        self.factors = [np.full(x.shape[1], 1 / np.sqrt(x.shape[0] - 1)) for x in self.sides]
        self.variances: list[float] = []
        for i, mean in enumerate(self.means):
            variance = np.zeros(len(mean))
            for X in self._side(i):
                variance += np.square(X).sum(0, dtype=np.float64)
            constant = _constant(variance * (self.sizes[i] - 1), mean, self.sizes[i])
            self.factors[i][constant] = 0
            self.variances.append(float(variance[~constant].sum()))

    def blocks(self) -> Iterator[Array]:
        """Yield the samples in their order, targets first."""
        yield from self._side(0)
        yield from self._side(1)

    def _side(self, i: int) -> Iterator[Array]:
        x, mean, factor = self.sides[i], self.means[i], self.factors[i].astype(self.dtype)
        size = max(1, ELEMENTS // x.shape[1])
        for start in range(0, x.shape[0], size):
            X: Array = (to_dense(x[start : start + size]) / self.scale - mean).astype(self.dtype)
            X *= factor
            yield X

    def covariances(self, axes: Array) -> GroupCovariances:
        """Return the covariances in orthonormal directions (d, r)."""
        inside, r = axes.astype(self.dtype), axes.shape[1]
        both = np.zeros((2, r, r))
        for i in range(2):
            for U in self._side(i):
                P = (U @ inside).astype(np.float64)
                both[i] += P.T @ P
        return GroupCovariances(self.means[1], axes, both[0], both[1], *self.sizes, *self.variances)


def pixel_scale(x: Array) -> float:
    """Return what x is divided by to be in [0, 1]: 255 for uint8 images, 1 for all else."""
    return 255.0 if x.dtype == np.uint8 else 1.0


def mean_of(x: Array) -> Array:
    """Return the mean (d,), in float64, of samples (n, d), which may be sparse."""
    if not is_sparse(x):
        return np.asarray(x.mean(axis=0, dtype=np.float64))
    total = np.bincount(x.indices, weights=x.data, minlength=x.shape[1])  # type: ignore[attr-defined]
    return np.asarray(total / x.shape[0])


def _constant(squares: Array, mean: Array, n: int) -> Array:
    """Return which features (d,) are constant up to float32 rounding, given their sums of squares about the mean."""
    return np.asarray(np.sqrt(squares / n) <= 1e-7 * np.abs(mean))


def mean_and_covariance(x: Array) -> tuple[Array, Array]:
    """Return mean (d,) and covariance (d, d), with 1 / (n - 1), of flattened samples; they become float64 in chunks."""
    n = x.shape[0]
    flat, scale = x if is_sparse(x) else x.reshape(n, -1), pixel_scale(x)
    mean = mean_of(flat) / scale
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
