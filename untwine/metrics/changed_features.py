"""Whether the features that the salient block changes most are those that truly respond."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.directions import HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import random_subsets
from untwine.metrics.intervals import subset_interval
from untwine.metrics.metric import Measurement, Metric, Requirement, ScoreInfo
from untwine.metrics.requirements import SALIENT_BLOCK

SUBSETS = 5


class ChangedFeatures(NamedTuple):
    """How well changes find the features that respond.

    Attributes
    ----------
    precision
        The average precision.
    random
        The share of features that respond: the chance level.
    folds
        The average precision on each of five random subsets of the samples.
    n
        The number of samples.
    """

    precision: float
    random: float
    folds: tuple[float, ...]
    n: int


def changed_features(
    decoded: ArrayLike,
    counterparts: ArrayLike,
    std: ArrayLike,
    responds: ArrayLike,
    seed: int = 0,
    sources: ArrayLike | None = None,
) -> ChangedFeatures:
    r"""Return the average precision with which the change of features finds those that respond.

    The change is that of `salient_features`, $c_j = \sqrt{\sum_i (\hat x_{ij} - \hat x^-_{ij})^2 / n} / \sigma_j$, for decoded
    samples $\hat x$ (n, d), the same without the salient block, and the standard deviation (d,) of each feature; `responds`
    (d,) says which features do. Features in decreasing order of change, the average precision is $\sum_k (R_k - R_{k-1}) P_k$,
    with precision $P_k$ and recall $R_k$ of the first k: the area under the curve of precision over recall. In [0, 1], higher
    is better: 1 means that all features that respond come first, and a random order gets the share of them.
    """
    x, h, scale = (np.asarray(one, dtype=np.float64) for one in (decoded, counterparts, std))
    truth = np.asarray(responds, dtype=bool)
    if x.ndim != 2 or x.shape != h.shape or not x.shape[1:] == scale.shape == truth.shape:
        raise ValueError(
            "changed_features needs vectors (n, d), twice, and a value for each of the d features, twice; got "
            f"{x.shape}, {h.shape}, {scale.shape} and {truth.shape}."
        )
    if not 0 < truth.sum() < len(truth):
        raise ValueError(f"some features must respond and some not; got {truth.sum()} of {len(truth)}; pass other samples.")
    squares = np.square(x - h) / np.where(scale > 0, scale, np.inf) ** 2
    subsets = random_subsets(np.arange(len(x)), SUBSETS, seed, sources)
    folds = tuple(_average_precision(truth, squares[one].mean(0)) for one in subsets)
    return ChangedFeatures(_average_precision(truth, squares.mean(0)), float(truth.mean()), folds, len(x))


def _average_precision(truth: Array, change: Array) -> float:
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(truth, change))


def _responds(data: Encoded) -> Array:
    """Return which features (d,) respond in some target."""
    masks = data.samples.masks
    if masks is None or len(data.samples.shape) != 1:
        return np.zeros(1, bool)
    return np.asarray(masks[data.is_target].any(axis=0))


def _measure(data: Encoded) -> Iterator[Measurement]:
    latents, x = data.latents.take(data.is_target), data.samples.dense()
    sources = data.sources_of(np.flatnonzero(data.is_target))
    decoded, counterparts = data.decode(latents), data.decode(latents.remove("salient"))
    result = changed_features(decoded, counterparts, x.std(axis=0), _responds(data), sources=sources)
    interval = subset_interval(result.precision, result.folds)
    yield Measurement("changed_features.x", result.precision, interval, result.n)


METRIC = Metric(
    name="changed_features",
    function=_measure,
    description="Average precision of the change by the salient block, for features that are known to respond.",
    scores={
        "changed_features": ScoreInfo(
            "Are the features that removing the salient block changes most those that truly respond? Area under the curve of "
            "precision over recall: 1 is perfect, chance is the share of features that respond.",
            HIGHER,
        )
    },
    requires=(
        SALIENT_BLOCK,
        Requirement(
            "features that respond",
            lambda data: bool(0 < _responds(data).mean() < 1),
            "vectors with masks, so that some features respond in some target and some in none",
            "none",
            "pass Samples(..., masks=...)",
        ),
    ),
)
