"""Explicitness: whether every value of a factor is predicted from the codes by a linear classifier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import check_codes
from untwine.metrics.directions import HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.ground_truth import Continuous, discretise_factors, varying_mask
from untwine.metrics.held_out import Split, column_stds, hold_out_third
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.metrics.requirements import BLOCK_FACTOR, SOURCES
from untwine.metrics.resampling import measure_over_halves
from untwine.training.threads import one_thread

BINS = 10


class Explicitness(NamedTuple):
    """The score on test samples, that on train samples, and both for each factor that varies."""

    explicitness: float
    train: float
    per_factor: tuple[float, ...]
    per_factor_train: tuple[float, ...]


def explicitness_score(
    codes: ArrayLike,
    factors: ArrayLike,
    continuous: Continuous = None,
    split: Split | None = None,
    seed: int = 0,
    sources: ArrayLike | None = None,
) -> Explicitness:
    """Return the explicitness of codes (n, d) for factors (n, k) (Ridgeway and Mozer 2018).

    mean over factors and their values v of the area under the ROC curve of P(y = v | z), by multinomial logistic regression
    (C = 1) on all latents, each standardised, for held-out samples. In [0, 1], higher is better: 1 means that every value is
    separated from all others, 0.5 that the codes do not encode the factors (constant or random ones). Not rescaled to start
    at 0, as in the original paper. Order, scale and copies of latents do not matter, and rotation hardly: it does not measure
    disentanglement.

    Integer factors are classes; floats are continuous, and cut into 10 bins where they have more values, unless `continuous`
    says otherwise; a factor that never varies is left out, and so is a value that no test sample has. `split` gives two sets of
    samples (train, test); without it a random third is held out by `seed`, of whole `sources` (n,) where given.

    Version 1.
    """
    table = check_codes(codes)
    classes = discretise_factors(factors, len(table), continuous, BINS)
    train, test = hold_out_third(split, len(table), "explicitness_score", seed, sources)
    varies = varying_mask(classes[train], "explicitness_score")
    std = column_stds(table[train])
    scaled = (table - table[train].mean(axis=0)) / np.where(std > 0, std, np.inf)
    areas = [_areas(scaled, y, train, test) for y in classes[:, varies].T]
    held_out, fitted = zip(*areas, strict=True)
    return Explicitness(float(np.mean(held_out)), float(np.mean(fitted)), held_out, fitted)


def _areas(codes: Array, y: Array, train: Array, test: Array) -> tuple[float, float]:
    """Return the mean area under the curve over the values of one factor, on test and on train samples."""
    from sklearn.linear_model import LogisticRegression

    with one_thread():
        model = LogisticRegression(max_iter=10_000).fit(codes[train], y[train])
        means = []
        for indices in (test, train):
            p = model.predict_proba(codes[indices])
            each = [_area(p[:, i], y[indices] == value) for i, value in enumerate(model.classes_)]
            known = [area for area in each if area is not None]
            if not known:
                raise ValueError(
                    "every factor must have two values among the test samples; got one with one value; pass another split."
                )
            means.append(float(np.mean(known)))
    return means[0], means[1]


def _area(score: Array, positive: Array) -> float | None:
    """Return the area under the ROC curve: the share of (positive, negative) pairs in order, ties counting half."""
    from scipy.stats import rankdata

    count = int(positive.sum())
    if not 0 < count < len(positive):
        return None
    ranks = rankdata(score)[positive].sum()
    return float((ranks - count * (count + 1) / 2) / (count * (len(positive) - count)))


def _measure(data: Encoded) -> Iterator[Measurement]:
    fields = {"explicitness": "explicitness"}
    yield from measure_over_halves(data.factors_by_block(), explicitness_score, fields, data.seeds, 1, data.block_sources, True)


METRIC = Metric(
    name="explicitness",
    function=_measure,
    description="Explicitness: whether a linear classifier separates every value of a factor.",
    scores={
        "explicitness": ScoreInfo(
            "Does a linear classifier separate every value of a factor? Area under the ROC curve, 0.5 is chance.",
            HIGHER,
        )
    },
    requires=(BLOCK_FACTOR, SOURCES),
)
