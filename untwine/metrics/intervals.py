"""95 % intervals around a score: from its folds, or from random halves of its rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from untwine._typing import Array

Bounds = tuple[float, float]

UNBOUNDED: Bounds = (-math.inf, math.inf)


def over_folds(value: float, folds: Sequence[float], bounds: Bounds = UNBOUNDED) -> tuple[float, float]:
    """Return value -+ t s / sqrt(k), where s is the standard deviation of the k values of disjoint folds.

    The training sets of folds overlap, so the interval is somewhat too narrow; `bounds` are the score's own range.
    """
    return _student(value, float(np.std(folds, ddof=1)) / math.sqrt(len(folds)), len(folds), bounds)


def over_halves(value: float, halves: Sequence[float], bounds: Bounds = UNBOUNDED) -> tuple[float, float]:
    """Return value -+ t s, where s is the standard deviation of the score over random halves of the rows.

    Drawn without replacement, a half of n rows has variance (1 - 1/2) v / (n/2) = v / n: that of the score of all n rows. And
    unlike the bootstrap it repeats no row, which would look like structure to distances.
    """
    return _student(value, float(np.std(halves, ddof=1)), len(halves), bounds)


def halves(classes: Array, repeats: int, seed: int = 0) -> Iterator[Array]:
    """Yield the indices of random halves of the rows, half of every class (rounded up) in each."""
    rng = np.random.default_rng(seed)
    for _ in range(repeats):
        order = rng.permutation(len(classes))
        parts = [order[classes[order] == c] for c in np.unique(classes)]
        yield np.sort(np.concatenate([part[: (len(part) + 1) // 2] for part in parts]))


def _student(value: float, error: float, repeats: int, bounds: Bounds) -> tuple[float, float]:
    from scipy.special import stdtrit

    reach = float(stdtrit(repeats - 1, 0.975)) * error
    return max(value - reach, min(bounds[0], value)), min(value + reach, max(bounds[1], value))
