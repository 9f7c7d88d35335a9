"""How much a background counterpart changes, beside what two backgrounds differ by; needs no labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.directions import LOWER
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import random_subsets
from untwine.metrics.intervals import subset_interval
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.metrics.requirements import GROUPS, SALIENT_BLOCK
from untwine.samples import unit_range

SUBSETS, MAX_SAMPLES = 5, 2_000


class Minimality(NamedTuple):
    """The ratio, the ratio on five random subsets of the targets, and the number of targets."""

    value: float
    folds: tuple[float, ...]
    n: int


def minimality_score(
    decoded: ArrayLike, counterparts: ArrayLike, backgrounds: ArrayLike, seed: int = 0, sources: ArrayLike | None = None
) -> Minimality:
    r"""Return how much counterparts differ from the decoded samples, over what two random backgrounds differ by.

    $\sum_i |x_i - h_i|^2 / n$ over $2 \sum_j Var(b_j)$, for decoded targets x (n, ...), their counterparts h without the
    salient block, and backgrounds b: the mean squared distance of both pairs; of vectors with every feature in units of its
    standard deviation in the backgrounds. From 0, lower is better among methods whose counterparts are valid
    (`counterfactual`): 0 means that nothing was changed, 1 that the counterpart is as different as another background, so that
    the common block holds nothing of the sample.
    """
    x, h, b = (np.asarray(one, dtype=np.float64) for one in (decoded, counterparts, backgrounds))
    if x.shape != h.shape or x.shape[1:] != b.shape[1:] or len(b) < 2:
        raise ValueError(
            f"decoded and counterparts must have one shape, and backgrounds be two or more of the same; got {x.shape}, "
            f"{h.shape} and {b.shape}."
        )
    x, h, b = (one.reshape(len(one), -1) for one in (x, h, b))
    variance = b.var(axis=0)
    weight = 1 / np.where(variance > 0, variance, np.inf) if np.ndim(decoded) == 2 else np.ones(x.shape[1])
    scale = 2 * float((variance * weight).sum())
    if scale == 0:
        raise ValueError("backgrounds must differ for minimality; all are the same; pass other samples.")
    change = ((x - h) ** 2 * weight).sum(axis=1) / scale
    subsets = random_subsets(np.arange(len(change)), SUBSETS, seed, sources)
    return Minimality(float(change.mean()), tuple(float(change[one].mean()) for one in subsets), len(change))


def _measure(data: Encoded) -> Iterator[Measurement]:
    rng = np.random.default_rng(0)
    targets, backgrounds = (rng.permutation(np.flatnonzero(data.is_target == side))[:MAX_SAMPLES] for side in (True, False))
    own, b = data.latents.take(targets), unit_range(data.samples.dense(backgrounds))
    decoded: Array = data.decode(own)
    result = minimality_score(decoded, data.decode(own.remove("salient")), b, sources=data.sources_of(targets))
    interval = subset_interval(result.value, result.folds, (0, np.inf))
    yield Measurement("minimality.x", result.value, interval, result.n)


METRIC = Metric(
    name="minimality",
    function=_measure,
    description="What removing the salient block changes, over what two backgrounds differ by; no labels.",
    scores={
        "minimality": ScoreInfo(
            "How much does removing the salient block change a target, relative to two random backgrounds? 0 is nothing, 1 is "
            "all that a sample is. Only comparable among methods whose counterparts pass for background.",
            LOWER,
        )
    },
    requires=(GROUPS, SALIENT_BLOCK),
    default=True,
)
