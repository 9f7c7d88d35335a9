"""Whether a block encodes known nuisances: batch, site, age and other covariates, which no block should hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import check_codes
from untwine.metrics.directions import LOWER
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import FOLDS
from untwine.metrics.intervals import fold_interval
from untwine.metrics.metric import MLP, Measurement, Metric, Requirement, ScoreInfo, score_names
from untwine.metrics.probe_strong import strong_factor_r2, strong_probe_accuracy
from untwine.metrics.requirements import SOURCES


class CovariateLeakage(NamedTuple):
    """How well a covariate is predicted from codes.

    Attributes
    ----------
    leakage
        0 is the chance level, 1 is perfectly.
    folds
        The same in each fold.
    n
        The number of samples.
    """

    leakage: float
    folds: tuple[float, ...]
    n: int


def covariate_leakage(
    codes: ArrayLike, covariate: ArrayLike, folds: int = 5, seed: int = 0, sources: ArrayLike | None = None
) -> CovariateLeakage:
    """Return how well a small network predicts a covariate (n,) from codes (n, d), held out.

    The network is that of `strong_probe_accuracy`, on standardised columns. For categories (strings, booleans, integers)
    max(0, (a - 1/k) / (1 - 1/k)), where a is the accuracy on as many samples of each of the k levels, chosen at random, so that
    it is the balanced accuracy and 1/k the chance level; for numbers (floats) the R2 of `strong_factor_r2`. With `sources` (n,)
    no source is in two folds. In [0, 1], lower is better: 0 means that the codes do not encode the covariate (constant and
    random codes), 1 that they determine it. Order, scale and copies of columns hardly matter.
    """
    codes, column = check_codes(codes), np.asarray(covariate)
    if column.shape != (len(codes),):
        raise ValueError(f"covariate_leakage needs one value for each of the {len(codes)} samples; got {column.shape}.")
    if column.dtype.kind == "f":
        result = strong_factor_r2(codes, column[:, None], folds, seed, sources)
        return CovariateLeakage(result.r2, result.folds, result.n)
    levels, numbers = np.unique(column, return_inverse=True)
    if len(levels) < 2:
        raise ValueError(f"covariate_leakage needs a covariate of at least 2 levels; got {len(levels)}; pass another one.")
    chosen = _balanced(numbers, seed)
    own = None if sources is None else np.asarray(sources)[chosen]
    probe = strong_probe_accuracy(codes[chosen], numbers[chosen], folds, seed, sources=own)
    chance = 1 / len(levels)
    value, *each = (max(0.0, (accuracy - chance) / (1 - chance)) for accuracy in (probe.accuracy, *probe.folds))
    return CovariateLeakage(value, tuple(each), probe.n)


def _balanced(numbers: Array, seed: int) -> Array:
    """Return the indices of as many samples of each level, in their order."""
    rng, fewest = np.random.default_rng(seed), int(np.unique(numbers, return_counts=True)[1].min())
    return np.sort(np.concatenate([rng.permutation(np.flatnonzero(numbers == level))[:fewest] for level in np.unique(numbers)]))


def _columns(data: Encoded) -> Iterator[tuple[str, Array, Array]]:
    """Yield each covariate that can be scored: its name, target samples, and its values of these.

    Levels of fewer than two samples for every fold, or of fewer sources than folds, are left out.
    """
    covariates, targets = data.samples.covariates, np.flatnonzero(data.is_target)
    if covariates is None:
        return
    for name, levels, column in zip(score_names(covariates.names), covariates.levels, covariates.values.T, strict=True):
        indices, values = targets, column[targets]
        if not levels:
            if len(indices) >= 2 * FOLDS and np.ptp(values) > 0:
                yield name, indices, values
            continue
        values = values.astype(int)
        frequent = np.bincount(values, minlength=len(levels))[values] >= 2 * FOLDS
        indices, values = indices[frequent], values[frequent]
        filled = data.fills_folds(indices, values)
        indices, values = indices[filled], values[filled]
        if len(np.unique(values)) < 2:
            continue
        some = _balanced(values, 0)  # the samples that are used: their sources must fill the folds, too
        if data.fills_folds(indices[some], values[some]).all():
            yield name, indices, values


def _measure(data: Encoded) -> Iterator[Measurement]:
    for name, indices, values in _columns(data):
        codes, sources = data.latents.take(indices), data.sources_of(indices)
        for block in codes:
            result = covariate_leakage(codes[block], values, FOLDS, sources=sources)
            interval = fold_interval(result.leakage, result.folds, (0, 1))
            yield Measurement(f"leakage_covariates_{name}.{block}", result.leakage, interval, result.n)


METRIC = Metric(
    name="leakage_covariates",
    function=_measure,
    description="How well a small MLP predicts each covariate (batch, site, age) from each block, from 0 (chance) to 1.",
    scores={
        "leakage_covariates_*": ScoreInfo(
            "How well does a small MLP on standardised columns predict this covariate from this block, over target samples? 0 "
            "is the chance level: by balanced accuracy for categories, by R2 for numbers. No block should encode it.",
            LOWER,
            MLP,
        )
    },
    requires=(
        SOURCES,
        Requirement(
            "covariates",
            lambda data: any(True for _ in _columns(data)),
            f"a covariate that varies over the target samples, with levels of {2 * FOLDS} samples each",
            "none",
            "pass Samples(x, covariates=...)",
        ),
    ),
    default=True,
)
