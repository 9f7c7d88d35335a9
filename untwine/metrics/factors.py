"""Whether continuous truths can be read off the codes by a linear map."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import code_rows, factor_columns, fold_count
from untwine.metrics.held_out import random_folds
from untwine.training.threads import one_thread

ALPHAS = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)


class Factors(NamedTuple):
    """What `factors` found.

    Attributes
    ----------
    r2
        The mean over the scored factors, in [0, 1].
    per_factor
        The R2 of each factor, in [0, 1]; NaN for a factor that was left out.
    folds
        For each fold the mean over the scored factors.
    n
        How many rows were used: those where at least one scored factor is known.
    """

    r2: float
    per_factor: tuple[float, ...]
    folds: tuple[float, ...]
    n: int


def factors(codes: ArrayLike, factors: ArrayLike, folds: int = 5, seed: int = 0) -> Factors:
    """Return how much of the factors (n, k) a linear map of codes (n, d) explains, held out.

    Ridge regression on codes standardised by the training rows of each fold, its penalty chosen there by leave-one-out. Per
    factor R2 = 1 - sum_i (y_i - yhat_i)^2 / sum_i (y_i - mean y)^2 over the held-out rows of all folds together, **cut off
    below at 0**, so that one factor predicted worse than by its mean does not hide another that was found; then the mean
    over factors. In [0, 1]: 1 means that every factor is linear in the codes, 0 that none is (constant or random codes).
    Higher is better where the factor should be, lower where it should not. A factor's unknown rows (NaN) are left out for
    that factor; a factor that is constant or known in fewer than 2 rows a fold is left out.
    """
    codes = code_rows(codes)
    columns = factor_columns(factors, len(codes))
    fold_count(folds, len(codes))
    per_factor: list[float] = []
    per_fold: list[list[float]] = []
    used = np.zeros(len(codes), dtype=bool)
    for y in columns.T:
        known = ~np.isnan(y)
        if known.sum() < 2 * folds or np.ptp(y[known]) == 0:
            per_factor.append(np.nan)
            continue
        used |= known
        with one_thread():
            ratios = _unexplained(codes[known], y[known], folds, seed)
        per_factor.append(max(0.0, 1.0 - float(ratios.mean())))
        per_fold.append([max(0.0, 1.0 - float(ratio)) for ratio in _fold_means(ratios, folds, seed)])
    if not per_fold:
        raise ValueError(
            f"factors expected at least one factor that varies and is known in {2 * folds} rows, but none of the "
            f"{columns.shape[1]} does; pass others or lower folds."
        )
    return Factors(
        r2=float(np.nanmean(per_factor)),
        per_factor=tuple(per_factor),
        folds=tuple(map(float, np.mean(per_fold, axis=0))),
        n=int(used.sum()),
    )


def _unexplained(codes: Array, y: Array, folds: int, seed: int) -> Array:
    """Return for each row its held-out squared error over the variance of y: the mean over all rows is 1 - R2."""
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    y = (y - y.mean()) / y.std()
    errors = np.empty(len(y))
    for train, test in random_folds(len(y), folds, seed):
        model = make_pipeline(StandardScaler(), RidgeCV(ALPHAS)).fit(codes[train], y[train])
        errors[test] = (y[test] - model.predict(codes[test])) ** 2
    return errors


def _fold_means(ratios: Array, folds: int, seed: int) -> list[float]:
    return [float(ratios[test].mean()) for _, test in random_folds(len(ratios), folds, seed)]
