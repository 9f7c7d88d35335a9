"""Mean absolute error of a linear regression of ground-truth factors on the codes, in the factors' own units."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import check_codes, check_factors, check_folds
from untwine.metrics.directions import FACTORS_LOWER, INFO, LABELS_LOWER
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import FOLDS, Split, check_split, column_stds, random_folds, random_subsets, select_sources
from untwine.metrics.intervals import fold_interval
from untwine.metrics.metric import LINEAR, Measurement, Metric, ScoreInfo, score_names
from untwine.metrics.requirements import FACTORS, SOURCES
from untwine.training.threads import one_thread


class Regression(NamedTuple):
    """Mean absolute errors, in the units of the factors.

    Attributes
    ----------
    error, constant
        The mean over the factors that vary: of the regression, and of the constant predictor.
    per_factor, constant_per_factor
        The mean absolute error of each factor; 0 for a factor that does not vary.
    folds, constant_folds
        For each fold (or subset of the test samples) the same mean over the factors.
    per_factor_folds, constant_per_factor_folds
        Both errors of each factor in each fold (or subset).
    n
        The number of test samples.
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
    """Absolute errors of the regression and of the median for each test sample, and subsets of these samples."""

    regression: Array
    constant: Array
    subsets: list[Array]


def regression_error(
    codes: ArrayLike,
    factors: ArrayLike,
    folds: int = 5,
    seed: int = 0,
    split: Split | None = None,
    sources: ArrayLike | None = None,
) -> Regression:
    """Return the mean absolute error of a linear regression of factors (n, k) on codes (n, d), held out.

    Least squares with an intercept (minimum norm where codes are collinear), fitted on the other folds; per factor
    (1/n) sum_i |y_i - yhat_i| over the held-out samples of all folds together, then the mean over factors (Ruiz et al. 2018,
    table 1). At least 0, lower is better where the factors should be encoded: 0 means that every factor is linear in the codes.
    `constant` is the error of the median of the train samples, the constant-predictor baseline: codes that do not encode the
    factors come out near it, mostly above, and so should a block that ought not to encode them. Bring factors in different
    units to one scale first, because the mean adds their errors as they are.

    Samples for which a factor is unknown (NaN) are left out for that factor; a factor that never varies has error 0 and does
    not count in the means. With `split`, two sets of samples (train, test) as indices or masks, one regression is fitted on the
    first and tested on the second; `folds` then are the errors on that many random subsets of the test samples. With `sources`
    (n,), what each sample was made from or belongs to, no source is in two folds or subsets.
    """
    codes = check_codes(codes)
    columns = check_factors(factors, len(codes))
    varies = [bool(len(known) and np.ptp(known) > 0) for known in (y[~np.isnan(y)] for y in columns.T)]
    if not any(varies):
        raise ValueError(f"regression_error needs a factor that varies; got none among {columns.shape[1]}; pass others.")
    results = [
        _held_out_errors(codes, y, folds, seed, split, sources) if vary else _no_errors(folds)
        for y, vary in zip(columns.T, varies, strict=True)
    ]
    errors, constants = [float(one.regression.mean()) for one in results], [float(one.constant.mean()) for one in results]
    each = [[float(one.regression[subset].mean()) for subset in one.subsets] for one in results]
    constant_each = [[float(one.constant[subset].mean()) for subset in one.subsets] for one in results]
    return Regression(
        error=float(np.mean(np.array(errors)[varies])),
        constant=float(np.mean(np.array(constants)[varies])),
        per_factor=tuple(errors),
        constant_per_factor=tuple(constants),
        folds=tuple(np.mean(np.array(each)[varies], axis=0).tolist()),
        constant_folds=tuple(np.mean(np.array(constant_each)[varies], axis=0).tolist()),
        per_factor_folds=tuple(map(tuple, each)),
        constant_per_factor_folds=tuple(map(tuple, constant_each)),
        n=max(len(one.regression) for one, vary in zip(results, varies, strict=True) if vary),
    )


def _no_errors(folds: int) -> _Errors:
    """Return the errors of a factor that never varies."""
    return _Errors(np.zeros(folds), np.zeros(folds), list(np.arange(folds)[:, None]))


def _held_out_errors(codes: Array, y: Array, folds: int, seed: int, split: Split | None, sources: ArrayLike | None) -> _Errors:
    known = np.flatnonzero(~np.isnan(y))
    if split is None:
        pairs = random_folds(len(known), check_folds(folds, len(known)), seed, select_sources(sources, known))
        pairs = [(known[train], known[test]) for train, test in pairs]
    else:
        train, test = (np.intersect1d(indices, known) for indices in check_split(split, len(codes)))
        if len(train) < 2 or len(test) < 2 * folds:
            raise ValueError(
                f"every factor must be known for 2 train and {2 * folds} test samples; got one that is known for "
                f"{len(train)} and {len(test)}; pass more samples, or lower folds."
            )
        pairs = [(train, test)]
    errors = [np.abs(y[test] - least_squares(codes, y, train, test)) for train, test in pairs]
    constants = [np.abs(y[test] - np.median(y[train])) for train, test in pairs]
    ends = np.cumsum([len(test) for _, test in pairs])
    order = np.arange(ends[-1])
    subsets = np.split(order, ends[:-1]) if split is None else random_subsets(order, folds, seed, select_sources(sources, test))
    return _Errors(np.concatenate(errors), np.concatenate(constants), subsets)


def least_squares(codes: Array, y: Array, train: Array, test: Array) -> Array:
    """Return the predictions of y, (n,) or (n, k), for the test samples by a linear regression on the train samples."""
    mean, std = codes[train].mean(0), column_stds(codes[train])
    scale = np.where(std > 0, std, np.inf)
    intercept = y[train].mean(0)
    with one_thread():
        weights = np.linalg.lstsq((codes[train] - mean) / scale, y[train] - intercept, rcond=1e-10)[0]
    return np.asarray(intercept + ((codes[test] - mean) / scale) @ weights)


def measure_regression(data: Encoded, each: bool) -> Iterator[Measurement]:
    """Yield the error of the regression of each block and of the constant predictor: their means, or those of each factor."""
    for salient in (False, True):
        columns = data.factor_columns(salient)
        if not len(columns):
            continue
        directions = LABELS_LOWER if salient else FACTORS_LOWER
        words = [f"regression_{word}" for word in score_names([data.samples.factor_names[j] for j in columns])]
        blocks, truth, split, sources = data.with_train(partial(Encoded.with_factors, salient=salient, columns=columns))
        for i, (block, codes) in enumerate(blocks.items()):
            result = regression_error(codes, truth, FOLDS, split=split, sources=sources)
            name = "regression_salient" if salient else "regression"
            scores = [(name, result.error, result.folds, result.constant, result.constant_folds)]
            if each:
                errors, constants = result.per_factor, result.constant_per_factor
                folds, constant_folds = result.per_factor_folds, result.constant_per_factor_folds
                scores = list(zip(words, errors, folds, constants, constant_folds, strict=True))
            for score, error, error_folds, constant, constant_error_folds in scores:
                if i == 0:  # it does not depend on the codes, so it is the same for every block
                    interval = fold_interval(constant, constant_error_folds, (0, np.inf))
                    yield Measurement(f"{score}_constant.x", constant, interval, result.n, "info")
                interval = fold_interval(error, error_folds, (0, np.inf))
                yield Measurement(f"{score}.{block}", error, interval, result.n, directions[block])


METRIC = Metric(
    name="regression",
    function=partial(measure_regression, each=False),
    description="Mean absolute error of a linear regression of the factors, and of the constant predictor.",
    scores={
        "regression": ScoreInfo(
            "How far off is a linear regression of the ground-truth factors on this block? Mean absolute error, held out.",
            FACTORS_LOWER,
            LINEAR,
        ),
        "regression_constant": ScoreInfo(
            "Constant-predictor baseline: the same error for predicting the median of each factor.", INFO
        ),
        "regression_salient": ScoreInfo(
            "The regression's error for the ground-truth factors that only targets have.",
            LABELS_LOWER,
            LINEAR,
        ),
        "regression_salient_constant": ScoreInfo("Constant-predictor baseline of the factors that only targets have.", INFO),
    },
    requires=(FACTORS, SOURCES),
)
