"""How well ground-truth factors are predicted from the codes by a linear regression: R2."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.data.sources import repeated_sources
from untwine.metrics.checks import check_codes, check_factors, check_folds
from untwine.metrics.directions import FACTORS_HIGHER, LABELS_HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import FOLDS, Split, check_split, random_folds, random_subsets, select_sources
from untwine.metrics.intervals import fold_interval
from untwine.metrics.metric import LINEAR, Measurement, Metric, ScoreInfo
from untwine.metrics.requirements import FACTORS, SOURCES
from untwine.training.threads import one_thread

ALPHAS = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)


class FactorR2(NamedTuple):
    """R2 of a linear regression of factors.

    Attributes
    ----------
    r2
        The mean over the scored factors, in [0, 1].
    per_factor
        The R2 of each factor, in [0, 1]; NaN for a factor that was left out.
    folds
        For each fold the mean over the scored factors.
    n
        The number of samples for which at least one scored factor is known.
    """

    r2: float
    per_factor: tuple[float, ...]
    folds: tuple[float, ...]
    n: int


def factor_r2(
    codes: ArrayLike,
    factors: ArrayLike,
    folds: int = 5,
    seed: int = 0,
    sources: ArrayLike | None = None,
    split: Split | None = None,
) -> FactorR2:
    """Return how much of the variance of factors (n, k) a linear regression on codes (n, d) explains, held out.

    Ridge regression on codes standardised by the train samples of each fold, its penalty chosen there by leave-one-out. Per
    factor R2 = 1 - sum_i (y_i - yhat_i)^2 / sum_i (y_i - mean y)^2 over the held-out samples of all folds together, **clipped
    at 0**, so that one factor predicted worse than by its mean does not hide another that is predicted well; then the mean
    over factors. In [0, 1]: 1 means that every factor is linear in the codes, 0 that none is (constant or random codes).
    Higher is better where the factor should be encoded, lower where it should not. Samples for which a factor is unknown (NaN)
    are left out for that factor; a factor that is constant or known for fewer than 2 samples a fold is left out.
    With `sources` (n,), what each sample was made from or belongs to, no source is in two folds, and the penalty is chosen by
    folds of whole sources: leave-one-out would choose one that recognises them.
    With `split`, two sets of samples (train, test) as indices or masks, one regression is fitted on the first and tested on the
    second; `folds` then are random subsets of the test samples.
    """
    codes = check_codes(codes)
    columns = check_factors(factors, len(codes))
    if split is not None:
        return _factor_r2_of_split(codes, columns, folds, seed, sources, check_split(split, len(codes)))
    check_folds(folds, len(codes))
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
            own = select_sources(sources, known)
            pairs = random_folds(int(known.sum()), folds, seed, own)
            ratios = _unexplained(codes[known], y[known], pairs, own)
        per_factor.append(max(0.0, 1.0 - float(ratios.mean())))
        per_fold.append([max(0.0, 1.0 - float(ratio)) for ratio in _fold_means(ratios, pairs)])
    if not per_fold:
        raise ValueError(
            f"factor_r2 needs at least one factor that varies and is known for {2 * folds} samples; got none among "
            f"{columns.shape[1]}; pass others or lower folds."
        )
    return FactorR2(
        r2=float(np.nanmean(per_factor)),
        per_factor=tuple(per_factor),
        folds=tuple(map(float, np.mean(per_fold, axis=0))),
        n=int(used.sum()),
    )


def _factor_r2_of_split(
    codes: Array, columns: Array, folds: int, seed: int, sources: ArrayLike | None, split: tuple[Array, Array]
) -> FactorR2:
    train, test = split
    per_factor = np.full(columns.shape[1], np.nan)
    ratios = np.full(columns.shape, np.nan)
    for j, y in enumerate(columns.T):
        a, b = train[~np.isnan(y[train])], test[~np.isnan(y[test])]
        if min(len(a), len(b)) < 2 or np.ptp(y[a]) == 0 or np.ptp(y[b]) == 0:
            continue
        with one_thread():
            predicted = _ridge(codes[a], y[a], select_sources(sources, a)).predict(codes[b])
        ratios[b, j] = (y[b] - predicted) ** 2 / y[b].var()
        per_factor[j] = max(0.0, 1.0 - float(ratios[b, j].mean()))
    scored = ~np.isnan(per_factor)
    if not scored.any():
        raise ValueError(
            f"factor_r2 needs at least one factor that varies over train and test samples; got none among {columns.shape[1]}; "
            "pass others."
        )
    used = test[~np.isnan(ratios[test]).all(axis=1)]
    subsets = random_subsets(used, folds, seed, select_sources(sources, used))
    per_fold = [float(np.mean(np.maximum(0.0, 1.0 - np.nanmean(ratios[subset][:, scored], axis=0)))) for subset in subsets]
    return FactorR2(float(per_factor[scored].mean()), tuple(map(float, per_factor)), tuple(per_fold), len(used))


def _unexplained(codes: Array, y: Array, pairs: list[tuple[Array, Array]], sources: Array | None) -> Array:
    """Return for each sample its held-out squared error over the variance of y: the mean over all samples is 1 - R2."""
    y = (y - y.mean()) / y.std()
    errors = np.empty(len(y))
    for train, test in pairs:
        model = _ridge(codes[train], y[train], select_sources(sources, train))
        errors[test] = (y[test] - model.predict(codes[test])) ** 2
    return errors


def _ridge(codes: Array, y: Array, sources: Array | None) -> Any:
    """Return the fitted ridge regression, its penalty chosen by leave-one-out or, of sources, by folds of whole ones."""
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    repeated = repeated_sources(sources, len(y))
    inner = None
    if repeated is not None and repeated.max() > 0:
        inner = random_folds(len(y), min(FOLDS, int(repeated.max()) + 1), 0, repeated)
    return make_pipeline(StandardScaler(), RidgeCV(ALPHAS, cv=inner)).fit(codes, y)


def _fold_means(ratios: Array, pairs: list[tuple[Array, Array]]) -> list[float]:
    return [float(ratios[test].mean()) for _, test in pairs]


def _measure(data: Encoded) -> Iterator[Measurement]:
    for salient in (False, True):
        blocks, truth, split, sources = data.with_train(partial(Encoded.with_factors, salient=salient))
        for block, codes in blocks.items() if truth.size else ():
            own = data.own_factors(block, salient)
            result = factor_r2(codes, truth[:, own], FOLDS, sources=sources, split=split)
            name = "factors_salient" if salient else "factors"
            yield Measurement(f"{name}.{block}", result.r2, fold_interval(result.r2, result.folds, (0, 1)), result.n)


METRIC = Metric(
    name="factors",
    function=_measure,
    description='R2 of a linear regression of the factors, held out, for each block; factors named "salient ..." apart.',
    scores={
        "factors": ScoreInfo(
            "How well does a linear regression predict the ground-truth factors from this block? Mean R²: 1 is perfectly, "
            "0 is not at all.",
            FACTORS_HIGHER,
            LINEAR,
        ),
        "factors_salient": ScoreInfo(
            "The same for the ground-truth factors that only targets have.",
            LABELS_HIGHER,
            LINEAR,
        ),
    },
    requires=(FACTORS, SOURCES),
    default=True,
)
