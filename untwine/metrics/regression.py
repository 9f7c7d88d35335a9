"""How far a linear regression is off when it reads true factors from the codes, in the factors' own units."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import code_rows, factor_columns, fold_count
from untwine.metrics.held_out import Split, random_folds, random_parts, split_rows, spreads
from untwine.training.threads import one_thread


class Regression(NamedTuple):
    """What `regression` found, in the units of the factors.

    Attributes
    ----------
    error, constant
        The mean over the factors that vary: of the regression, and of the constant predictor.
    per_factor, constant_per_factor
        The mean absolute error for each factor; 0 for a factor that does not vary.
    folds, constant_folds
        For each fold (or part) the same mean over the factors.
    per_factor_folds, constant_per_factor_folds
        Both errors of each factor in each fold (or part).
    n
        How many rows were judged.
    """

    error: float
    constant: float
    per_factor: tuple[float, ...]
    constant_per_factor: tuple[float, ...]
    folds: tuple[float, ...]
    constant_folds: tuple[float, ...]
    per_factor_folds: tuple[tuple[float, ...], ...]
    constant_per_factor_folds: tuple[tuple[float, ...], ...]
    n: int


class _Errors(NamedTuple):
    """The absolute errors of the regression and of the median at each held-out row, and the parts of these rows."""

    regression: Array
    constant: Array
    parts: list[Array]


def regression(codes: ArrayLike, factors: ArrayLike, folds: int = 5, seed: int = 0, split: Split | None = None) -> Regression:
    """Return the mean absolute error of a linear regression of factors (n, k) on codes (n, d), held out.

    Least squares with an intercept (the smallest weights where codes repeat each other), fitted on the other folds; per
    factor (1/n) sum_i |y_i - yhat_i| over the held-out rows of all folds together, then the mean over factors (paper 001, table
    1). From 0, lower is better where the factors should be: 0 means that every factor is linear in the codes. `constant` is the
    error of the median of the training rows, the best that can be done without codes: codes that tell nothing come out near
    it, mostly above, and so should a part that ought to know nothing. Factors in different units should be brought to one
    scale first, for the mean adds their errors as they are.

    A factor's unknown rows (NaN) are left out for that factor; a factor that never varies has error 0 and does not count in the
    means. With `split`, two sets of rows (train, test) as indices or masks, one regression is fitted on the first and judged on
    the second; `folds` then are the errors on that many random parts of the test rows.
    """
    codes = code_rows(codes)
    columns = factor_columns(factors, len(codes))
    varies = [bool(len(known) and np.ptp(known) > 0) for known in (y[~np.isnan(y)] for y in columns.T)]
    if not any(varies):
        raise ValueError(f"regression must be a factor that varies, but none of the {columns.shape[1]} does; pass others.")
    found = [_judged(codes, y, folds, seed, split) if vary else _none(folds) for y, vary in zip(columns.T, varies, strict=True)]
    errors, constants = [float(one.regression.mean()) for one in found], [float(one.constant.mean()) for one in found]
    each = [[float(one.regression[part].mean()) for part in one.parts] for one in found]
    constant_each = [[float(one.constant[part].mean()) for part in one.parts] for one in found]
    return Regression(
        error=float(np.mean(np.array(errors)[varies])),
        constant=float(np.mean(np.array(constants)[varies])),
        per_factor=tuple(errors),
        constant_per_factor=tuple(constants),
        folds=tuple(np.mean(np.array(each)[varies], axis=0).tolist()),
        constant_folds=tuple(np.mean(np.array(constant_each)[varies], axis=0).tolist()),
        per_factor_folds=tuple(map(tuple, each)),
        constant_per_factor_folds=tuple(map(tuple, constant_each)),
        n=max(len(one.regression) for one, vary in zip(found, varies, strict=True) if vary),
    )


def _none(folds: int) -> _Errors:
    """Return the errors of a factor that never varies."""
    return _Errors(np.zeros(folds), np.zeros(folds), list(np.arange(folds)[:, None]))


def _judged(codes: Array, y: Array, folds: int, seed: int, split: Split | None) -> _Errors:
    known = np.flatnonzero(~np.isnan(y))
    if split is None:
        pairs = random_folds(len(known), fold_count(folds, len(known)), seed)
        pairs = [(known[train], known[test]) for train, test in pairs]
    else:
        train, test = (np.intersect1d(part, known) for part in split_rows(split, len(codes)))
        if len(train) < 2 or len(test) < 2 * folds:
            raise ValueError(
                f"regression expected every factor to be known in 2 training and {2 * folds} test rows, but one is known in "
                f"{len(train)} and {len(test)}; pass more rows, or lower folds."
            )
        pairs = [(train, test)]
    errors = [np.abs(y[test] - least_squares(codes, y, train, test)) for train, test in pairs]
    constants = [np.abs(y[test] - np.median(y[train])) for train, test in pairs]
    ends = np.cumsum([len(test) for _, test in pairs])
    parts = np.split(np.arange(ends[-1]), ends[:-1]) if split is None else random_parts(np.arange(ends[-1]), folds, seed)
    return _Errors(np.concatenate(errors), np.concatenate(constants), parts)


def least_squares(codes: Array, y: Array, train: Array, test: Array) -> Array:
    """Return what a linear regression on the training rows predicts of y, (n,) or (n, k), for the test rows."""
    centre, spread = codes[train].mean(0), spreads(codes[train])
    scale = np.where(spread > 0, spread, np.inf)
    middle = y[train].mean(0)
    with one_thread():
        weights = np.linalg.lstsq((codes[train] - centre) / scale, y[train] - middle, rcond=1e-10)[0]
    return np.asarray(middle + ((codes[test] - centre) / scale) @ weights)
