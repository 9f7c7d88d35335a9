"""Whether the salient block says nothing of backgrounds; needs no labels."""

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

SUBSETS, MAX_SAMPLES = 5, 2_000


class Quiet(NamedTuple):
    """The ratio, the ratio with the backgrounds of five random subsets, and the number of backgrounds."""

    value: float
    folds: tuple[float, ...]
    n: int


def background_change(
    targets: tuple[ArrayLike, ArrayLike],
    backgrounds: tuple[ArrayLike, ArrayLike],
    seed: int = 0,
    sources: ArrayLike | None = None,
) -> Quiet:
    r"""Return what removing the salient block changes in backgrounds, over what it changes in targets.

    $E_b |x - h|^2 / E_t |x - h|^2$ for decoded samples x and the same without their salient block h, both given for targets and
    for backgrounds as a pair. From 0, lower is better: 0 means that the salient block of a background is empty, 1 that it says
    as much of a background as of a target, or that it says nothing of either.
    """
    sizes = []
    for name, (decoded, counterparts) in (("targets", targets), ("backgrounds", backgrounds)):
        x, h = np.asarray(decoded, dtype=np.float64), np.asarray(counterparts, dtype=np.float64)
        if x.shape != h.shape or not len(x):
            raise ValueError(f"{name} must be decoded samples and counterparts of one shape; got {x.shape} and {h.shape}.")
        sizes.append(((x - h) ** 2).reshape(len(x), -1).sum(axis=1))
    of_targets, change = float(sizes[0].mean()), sizes[1]
    subsets = random_subsets(np.arange(len(change)), SUBSETS, seed, sources)
    return Quiet(_ratio(change, of_targets), tuple(_ratio(change[one], of_targets) for one in subsets), len(change))


def _ratio(change: Array, of_targets: float) -> float:
    return float(change.mean() / of_targets) if of_targets > 0 else 1.0


def _measure(data: Encoded) -> Iterator[Measurement]:
    rng, pairs = np.random.default_rng(0), []
    sides = [rng.permutation(np.flatnonzero(data.is_target == side))[:MAX_SAMPLES] for side in (True, False)]
    for indices in sides:
        latents = data.latents.take(indices)
        pairs.append((data.decode(latents), data.decode(latents.remove("salient"))))
    result = background_change(pairs[0], pairs[1], sources=data.sources_of(sides[1]))
    yield Measurement("background_change.x", result.value, subset_interval(result.value, result.folds, (0, np.inf)), result.n)


METRIC = Metric(
    name="background_quiet",
    function=_measure,
    description="What removing the salient block changes in backgrounds, over what it changes in targets; no labels.",
    scores={
        "background_change": ScoreInfo(
            "Is the salient block of backgrounds empty? What removing it changes, relative to targets: 0 is empty, 1 is as "
            "much as in targets.",
            LOWER,
        )
    },
    requires=(GROUPS, SALIENT_BLOCK),
    default=True,
)
