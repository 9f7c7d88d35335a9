"""95 % intervals around a score: from its folds, or from random halves of the samples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.data.sources import repeated_sources

Bounds = tuple[float, float]

UNBOUNDED: Bounds = (-math.inf, math.inf)


def fold_interval(value: float, folds: Sequence[float], bounds: Bounds = UNBOUNDED) -> tuple[float, float]:
    """Return value -+ t s / sqrt(k), where s is the standard deviation of the k values of disjoint folds.

    The training sets of folds overlap, so the interval is somewhat too narrow; `bounds` are the score's own range.
    """
    return _student(value, float(np.std(folds, ddof=1)) / math.sqrt(len(folds)), len(folds), bounds)


def subset_interval(value: float, subsets: Sequence[float], bounds: Bounds = (0, 1)) -> tuple[float, float]:
    """Return the interval over disjoint subsets, as `fold_interval`; of zero width where there are fewer than two."""
    values = np.resize(subsets, max(2, len(subsets))).tolist() if len(subsets) else [value] * 2
    return fold_interval(value, values, bounds)


def halves_interval(value: float, halves: Sequence[float], bounds: Bounds = UNBOUNDED) -> tuple[float, float]:
    """Return value -+ t s, where s is the standard deviation of the score over random halves of the samples.

    Drawn without replacement, a half of n samples has variance (1 - 1/2) v / (n/2) = v / n: that of the score of all n. And
    unlike the bootstrap it repeats no sample, which distances would take for structure.
    """
    return _student(value, float(np.std(halves, ddof=1)), len(halves), bounds)


def proportion_interval(correct: Array, weights: Array | None = None, clusters: Array | None = None) -> tuple[float, float]:
    """Return Wilson's interval of the weighted share of correct samples (n,); it has a width even where none is correct.

    Weights make n smaller: (sum w)^2 / sum w^2. Samples of one cluster (n,) may be correct or wrong together: where the share
    varies more between clusters than by this n, n is what has that variance, with Student's quantile of the number of clusters.
    """
    from scipy.special import stdtrit

    w = np.ones(len(correct)) if weights is None else weights
    share, n, quantile = float(np.average(correct, weights=w)), float(w.sum() ** 2 / np.square(w).sum()), 1.96
    number = 0 if clusters is None else len(np.unique(clusters))
    if clusters is not None and number > 1 and 0 < share < 1:
        excess = np.bincount(np.unique(clusters, return_inverse=True)[1].reshape(-1), weights=w * (correct - share))
        variance = float(np.square(excess).sum()) * number / (number - 1) / float(w.sum()) ** 2
        if variance > share * (1 - share) / n:
            n, quantile = share * (1 - share) / variance, float(stdtrit(number - 1, 0.975))
    square = quantile**2 / n
    centre = (share + square / 2) / (1 + square)
    reach = math.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    return min(share, max(0.0, centre - reach)), max(share, min(1.0, centre + reach))


def random_halves(classes: Array, repeats: int, seed: int = 0, sources: ArrayLike | None = None) -> Iterator[Array]:
    """Yield the indices of random halves of the samples, half of every class (rounded up) in each.

    With sources, half of the sources of every class (rounded up) with all their samples, so that the interval also covers how
    much sources differ. Where all samples are of one source, halves of the samples.
    """
    rng = np.random.default_rng(seed)
    repeated = repeated_sources(sources, len(classes))
    if repeated is not None and repeated.max() > 0:
        yield from (_half_of_sources(classes, repeated, rng) for _ in range(repeats))
        return
    for _ in range(repeats):
        order = rng.permutation(len(classes))
        members = [order[classes[order] == c] for c in np.unique(classes)]
        yield np.sort(np.concatenate([indices[: (len(indices) + 1) // 2] for indices in members]))


def _half_of_sources(classes: Array, sources: Array, rng: np.random.Generator) -> Array:
    chosen, order = np.zeros(int(sources.max()) + 1, dtype=bool), rng.permutation(int(sources.max()) + 1)
    for c in np.unique(classes):
        own = order[np.isin(order, sources[classes == c])]
        missing = (len(own) + 1) // 2 - int(chosen[own].sum())
        chosen[own[~chosen[own]][: max(0, missing)]] = True
    return np.flatnonzero(chosen[sources])


def _student(value: float, error: float, repeats: int, bounds: Bounds) -> tuple[float, float]:
    from scipy.special import stdtrit

    reach = float(stdtrit(repeats - 1, 0.975)) * error
    return max(value - reach, min(bounds[0], value)), min(value + reach, max(bounds[1], value))
