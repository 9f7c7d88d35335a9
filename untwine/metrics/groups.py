"""Silhouette of target against background in the codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import check_codes
from untwine.metrics.directions import GROUPS_HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.intervals import halves_interval, random_halves
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.metrics.requirements import GROUPS

MAX_SAMPLES = 2_000


class GroupSilhouette(NamedTuple):
    """The silhouette, that of random halves of the samples, and the number of samples drawn of each group."""

    silhouette: float
    halves: tuple[float, ...]
    n: int


def group_silhouette(
    target: ArrayLike,
    background: ArrayLike,
    n: int | None = None,
    seed: int = 0,
    repeats: int = 5,
    sources: tuple[ArrayLike, ArrayLike] | None = None,
) -> GroupSilhouette:
    """Return the silhouette of target against background, for n codes (n, d) of each.

    mean_i (b_i - a_i) / max(a_i, b_i), a_i being the mean distance of sample i to the others of its group and b_i that to the
    other group. In [-1, 1]: 1 means two distant points, 0 the same distribution (constant codes get 0), below 0 that samples
    lie closer to the other group than to their own. Lower is better for a block that both groups share, higher for the salient
    block. A background that is one point in the middle of a wide target does not reach 1: its own samples get 1, but those of
    the target lie closer to that point than to each other and get about -0.3, so a good salient block of many dimensions,
    centred on the background, scores 0.35.

    As many samples of each group are drawn without replacement: the smaller group's size, at most 2,000, unless `n` is given.
    With `sources`, those of the target and of the background, no half cuts through one.
    """
    from scipy.spatial.distance import cdist

    target, background = check_codes(target), check_codes(background)
    if target.shape[1] != background.shape[1]:
        raise ValueError(
            f"group_silhouette needs codes of one width; got {target.shape[1]} for the target and {background.shape[1]} for "
            "the background; pass the same block of both."
        )
    most = min(len(target), len(background))
    n = min(most, MAX_SAMPLES) if n is None else n
    if not 2 <= n <= most:
        raise ValueError(f"n must be from 2 to {most}, the size of the smaller group; got {n}.")
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(len(group))[:n] for group in (target, background)]
    codes = np.concatenate([target[drawn[0]], background[drawn[1]]])
    own = None if sources is None else np.concatenate([np.asarray(s)[i] for s, i in zip(sources, drawn, strict=True)])
    distances = cdist(codes, codes)
    halves = random_halves(np.repeat([0, 1], n), repeats, seed, own) if n >= 4 else ()
    counts = [(half, int((half < n).sum())) for half in halves]
    return GroupSilhouette(
        silhouette=_silhouette(distances, n),
        # Whole sources may leave a single sample of a group, which has no silhouette.
        halves=tuple(_silhouette(distances[np.ix_(half, half)], k) for half, k in counts if 2 <= k <= len(half) - 2),
        n=n,
    )


def _silhouette(distances: Array, n: int) -> float:
    """Return the silhouette of the first n samples against the m others, from all distances."""
    to_first, to_last = (distances[:, group].sum(1) for group in (slice(None, n), slice(n, None)))
    m, first = len(distances) - n, np.arange(len(distances)) < n
    own = np.where(first, to_first, to_last) / np.where(first, n - 1, m - 1)
    other = np.where(first, to_last, to_first) / np.where(first, m, n)
    larger = np.maximum(own, other)
    return float(np.divide(other - own, larger, out=np.zeros(len(distances)), where=larger > 0).mean())


def _measure(data: Encoded) -> Iterator[Measurement]:
    column = data.samples.sources
    sources = None if column is None else (column[data.is_target], column[~data.is_target])
    for block, codes in data.latents.items():
        result = group_silhouette(codes[data.is_target], codes[~data.is_target], repeats=data.seeds, sources=sources)
        # Two or three samples have no halves, and then the interval has zero width.
        halves = result.halves if len(result.halves) > 1 else (result.silhouette,) * 2
        interval = halves_interval(result.silhouette, halves, (-1, 1))
        yield Measurement(f"group_silhouette.{block}", result.silhouette, interval, 2 * result.n)


METRIC = Metric(
    name="groups",
    function=_measure,
    description="Silhouette of target against background in each block: the common block should not separate them.",
    scores={
        "group_silhouette": ScoreInfo(
            "Are target and background separated? Silhouette: 1 is well separated, 0 is the same distribution.", GROUPS_HIGHER
        )
    },
    requires=(GROUPS,),
    default=True,
)
