"""Exact squared Wasserstein distance between two sets of codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.method.fields import Count
from untwine.metrics.checks import check_codes
from untwine.metrics.directions import LOWER
from untwine.metrics.encoded import Encoded
from untwine.metrics.intervals import halves_interval, random_halves, subset_interval
from untwine.metrics.metric import Measurement, Metric, Requirement, ScoreInfo
from untwine.metrics.options import Options
from untwine.metrics.requirements import GROUPS

MAX_SAMPLES = 2_000


class W2(NamedTuple):
    """The squared distance, the same over the codes' mean squared norm, and the number of samples drawn of each set."""

    value: float
    relative: float
    n: int


def w2_distance(target: ArrayLike, background: ArrayLike, n: int | None = None, seed: int = 0) -> W2:
    """Return the exact squared 2-Wasserstein distance between n codes of the target and n of the background.

    W2^2 = min over permutations p of (1/n) sum_i |t_i - b_p(i)|^2, for n samples drawn from each set without replacement (the
    smaller set's size, at most 2,000, unless given), by an optimal assignment: no entropic or sliced approximation. From 0,
    lower is better for a block that both groups should share: 0 means the same points. Two samples of one distribution do not
    reach 0: their distance falls slowly with n (about n^(-2/d) for d latents), so only values of equal n and width compare.
    `relative` is W2^2 over the mean of all |t_i|^2 and |b_i|^2, which is invariant to rescaling the codes: in [0, 4], 0 for the
    same points, 2 for sets at right angles around 0, 4 for two opposite points. Codes that are all 0 get 0.
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    target, background = check_codes(target), check_codes(background)
    if target.shape[1] != background.shape[1]:
        raise ValueError(
            f"w2_distance needs codes of one width; got {target.shape[1]} for the target and {background.shape[1]} for the "
            "background; pass the same block of both."
        )
    most = min(len(target), len(background))
    n = min(most, MAX_SAMPLES) if n is None else n
    if not 1 <= n <= most:
        raise ValueError(f"n must be from 1 to {most}, the size of the smaller set; got {n}.")
    rng = np.random.default_rng(seed)
    t = target[rng.permutation(len(target))[:n]]
    b = background[rng.permutation(len(background))[:n]]
    rows, columns = linear_sum_assignment(cdist(t, b, "sqeuclidean"))
    value = float(((t[rows] - b[columns]) ** 2).sum() / n)
    norm = float(((t**2).sum() + (b**2).sum()) / (2 * n))
    return W2(value, value / norm if norm > 0 else 0.0, n)


@dataclass(frozen=True)
class W2Options(Options):
    """Options of the metric `w2`.

    Parameters
    ----------
    of
        `means`, the codes that `encode` returns; or `samples`, one z ~ q(z|x) = N(mean, std^2) for each, as the loss in Eq. 8
        of the principled contrastive VAE takes them.
    batch
        Samples of each group in a batch: the mean distance over disjoint batches, which is what that loss is during training;
        `None` takes all samples at once. At most 2,000 of each group are used, or one larger batch.
    """

    of: Literal["means", "samples"] = "means"
    batch: Count | None = None

    def requires(self) -> tuple[Requirement, ...]:
        """Return a Gaussian posterior for samples, and samples for a batch."""
        batch = self.batch or 1
        enough = Requirement(
            "a batch",
            lambda data: batch <= int(data.is_target.sum()) <= len(data.samples) - batch,
            f"at least {batch} samples each of target and background",
            "fewer",
            "lower batch",
        )
        return (*((POSTERIOR,) if self.of == "samples" else ()), *((enough,) if self.batch else ()))


def _measure(data: Encoded, options: W2Options) -> Iterator[Measurement]:
    codes = data.latents["common"] if options.of == "means" else _posterior_samples(data)
    sides = np.flatnonzero(data.is_target), np.flatnonzero(~data.is_target)
    n = min(*map(len, sides), max(MAX_SAMPLES, options.batch or 0))
    rng = np.random.default_rng(0)
    drawn = [side[rng.permutation(len(side))[:n]] for side in sides]
    target, background = (codes[indices] for indices in drawn)
    if options.batch is not None:
        yield from _measure_batches(target, background, options.batch)
        return
    result, one_class = w2_distance(target, background), np.zeros(n, dtype=int)
    halves = [random_halves(one_class, data.seeds, seed, data.sources_of(own)) for seed, own in enumerate(drawn, 1)]
    pairs = zip(*halves, strict=True)
    repeats = [w2_distance(target[a], background[b]) for a, b in pairs]
    interval = halves_interval(result.value, [one.value for one in repeats], (0, np.inf))
    yield Measurement("w2.common", result.value, interval, n)
    interval = halves_interval(result.relative, [one.relative for one in repeats], (0, np.inf))
    yield Measurement("w2_relative.common", result.relative, interval, n)


def _measure_batches(target: Array, background: Array, batch: int) -> Iterator[Measurement]:
    """Yield the mean distances over disjoint batches; samples that do not fill one are left out."""
    n = len(target) // batch * batch
    results = [w2_distance(target[i : i + batch], background[i : i + batch]) for i in range(0, n, batch)]
    for name, field in (("w2", "value"), ("w2_relative", "relative")):
        values = [getattr(one, field) for one in results]
        value = float(np.mean(values))
        yield Measurement(f"{name}.common", value, subset_interval(value, values, (0, np.inf)), n)


def _posterior_samples(data: Encoded) -> Array:
    """Return a code of the common block drawn from the posterior of each sample."""
    mean, std = data.latents["common"], data.posterior_std(len(data.samples))["common"]
    return np.asarray(mean + std * np.random.default_rng(1).standard_normal(mean.shape))


POSTERIOR = Requirement(
    "a posterior of the common block",
    lambda data: "common" in data.posterior_std(1),
    "a method whose common block has a Gaussian posterior",
    "a method without one",
    "take of=means",
)
METRIC = Metric(
    name="w2",
    function=_measure,
    description="Squared Wasserstein distance of target and background in the common block, also over the mean squared norm.",
    scores={
        "w2": ScoreInfo(
            "How far apart are the codes of target and background? Squared Wasserstein distance: 0 is the same distribution.",
            LOWER,
        ),
        "w2_relative": ScoreInfo(
            "The same distance over the mean squared norm of the codes, so that it does not depend on their scale.", LOWER
        ),
    },
    requires=(
        Requirement(
            "a common block",
            lambda data: "common" in data.latents,
            "a method with the block 'common'",
            "the blocks {blocks}",
            "evaluate a contrastive method",
        ),
        GROUPS,
    ),
    default=True,
    options=W2Options(),
)
