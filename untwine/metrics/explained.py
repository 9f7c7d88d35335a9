"""The share of the samples' variance that decoded samples explain: whether there is room in the codes for what is salient."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine.metrics.directions import HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import random_subsets
from untwine.metrics.intervals import subset_interval
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.samples import unit_range

SUBSETS, MAX_SAMPLES = 5, 2_000


class Explained(NamedTuple):
    """The share, the share on five random subsets of the samples, and the number of samples."""

    value: float
    folds: tuple[float, ...]
    n: int


def explained_variance(x: ArrayLike, decoded: ArrayLike, seed: int = 0, sources: ArrayLike | None = None) -> Explained:
    r"""Return $1 - \sum_i |x_i - \hat x_i|^2 / \sum_i |x_i - \bar x|^2$ of samples x (n, ...) and their reconstructions.

    Higher is better: 1 means perfect, 0 no better than the mean sample, and below 0 worse than it. Unlike the squared error it
    compares between data sets. Vectors have every feature in units of its standard deviation.
    """
    truth, given = np.asarray(x, dtype=np.float64), np.asarray(decoded, dtype=np.float64)
    if truth.shape != given.shape or len(truth) < 2:
        raise ValueError(f"x and decoded must be two or more samples of one shape; got {truth.shape} and {given.shape}.")
    variance = truth.var(axis=0)
    weight = 1 / np.where(variance > 0, variance, np.inf) if truth.ndim == 2 else np.ones(truth.shape[1:])
    scale = float((variance * weight).sum())
    if scale == 0:
        raise ValueError("x must vary for explained variance; all samples are the same; pass other samples.")
    lost = ((truth - given) ** 2 * weight).reshape(len(truth), -1).sum(axis=1) / scale
    subsets = random_subsets(np.arange(len(lost)), SUBSETS, seed, sources)
    return Explained(1 - float(lost.mean()), tuple(1 - float(lost[one].mean()) for one in subsets), len(lost))


def _measure(data: Encoded) -> Iterator[Measurement]:
    chosen = np.sort(np.random.default_rng(0).permutation(len(data.samples))[:MAX_SAMPLES])
    decoded = data.decode(data.latents.take(chosen))
    result = explained_variance(unit_range(data.samples.dense(chosen)), decoded, sources=data.sources_of(chosen))
    yield Measurement("explained.x", result.value, subset_interval(result.value, result.folds, (-np.inf, 1)), result.n)


METRIC = Metric(
    name="explained",
    function=_measure,
    description="The share of the samples' variance that decoded samples explain.",
    scores={
        "explained": ScoreInfo(
            "How much of what varies is in the decoded samples? The share of the variance: 1 is all, 0 is no better than the "
            "mean sample. What is not decoded cannot be salient.",
            HIGHER,
        )
    },
    default=True,
)
