"""FactorVAE score: whether the latent that varies least identifies the factor that was held fixed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import check_codes
from untwine.metrics.directions import HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.ground_truth import DEAD, Continuous
from untwine.metrics.held_out import random_subsets
from untwine.metrics.intervals import fold_interval
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.metrics.requirements import TWO_BLOCK_FACTORS
from untwine.metrics.sampling import Batches, Draw, batches_from_draws, batches_from_samples

BATCH_SIZE, TRAIN, TEST = 64, 10_000, 5_000
VARIANCE_SAMPLES = 10_000
SUBSETS = 5


class FactorVAEScore(NamedTuple):
    """The FactorVAE score.

    Attributes
    ----------
    accuracy, train
        The score: the accuracy of the majority vote on test votes; and that on the train votes.
    votes
        How often (k, d) each latent varied least while each factor was fixed, among train votes.
    active
        Which latents (d,) took part.
    folds
        The accuracy on five random subsets of the test votes.
    """

    accuracy: float
    train: float
    votes: Array
    active: Array
    folds: tuple[float, ...]


def factor_vae_score(
    codes: ArrayLike,
    factors: ArrayLike,
    continuous: Continuous = None,
    batch_size: int = BATCH_SIZE,
    train: int = TRAIN,
    test: int = TEST,
    dead: float = DEAD,
    seed: int = 0,
) -> FactorVAEScore:
    """Return the FactorVAE score of codes (n, d) for factors (n, k) (Kim and Mnih 2018).

    A vote: 64 samples that share the value of one factor, and the latent whose variance among them (ddof 1), over its variance
    among all samples, is smallest. Each latent is assigned the factor that it was voted for most often in 10,000 votes; the
    score is the share of 5,000 further votes in which it is assigned the fixed factor. In [0, 1], higher is better: 1 means
    that every factor has latents of its own (also where codes are duplicated), about one over the number of factors that the
    codes do not encode them; 0 is given to constant codes. Rotated codes lose what latents share evenly: two factors at 45
    degrees are at chance (1/2). Order and scale of latents do not matter.

    Samples are drawn among those given: the value they share is that of a random one. Integer factors are classes; floats are
    continuous, and discretised into 20 bins where they have more values, unless `continuous` says otherwise; a factor that
    never varies is left out.

    Parameters
    ----------
    dead
        Latents with less than this share of the largest standard deviation are left out; 0 leaves out only constant ones.

    Notes
    -----
    Version 1: random numbers of numpy's default generator.
    """
    varies, batches = batches_from_samples(codes, factors, continuous, "factor_vae_score", paired=False)
    return _score(varies, batches, variances(codes), batch_size, train, test, dead, seed)


def factor_vae_score_from_draws(
    draw: Draw,
    sizes: Sequence[int],
    batch_size: int = BATCH_SIZE,
    train: int = TRAIN,
    test: int = TEST,
    dead: float = DEAD,
    seed: int = 0,
) -> FactorVAEScore:
    """Return the FactorVAE score as `factor_vae_score` does, from a function that draws codes for given factors.

    In [0, 1], higher is better, with the extremes of `factor_vae_score`. It draws (train + test) x batch_size codes, about
    a million by default; where this is expensive, use fewer votes, or encode samples once and use `factor_vae_score`.

    Parameters
    ----------
    draw
        Takes factors (m, k), integers from 0, and returns codes (m, d) of samples with these factors.
    sizes
        How many values each factor has; all combinations are equally likely.

    Notes
    -----
    Version 1: variances among 10,000 drawn codes; random numbers of numpy's default generator.
    """
    varies, batches = batches_from_draws(draw, sizes, "factor_vae_score", paired=False)
    rng = np.random.default_rng(seed)
    all_factors = np.stack([rng.integers(0, size, VARIANCE_SAMPLES) for size in sizes], axis=1)
    return _score(varies, batches, variances(draw(all_factors)), batch_size, train, test, dead, seed)


def variances(codes: ArrayLike) -> Array:
    """Return the variance of each latent (d,), ddof 1; exactly 0 for a constant one, free of rounding."""
    table = check_codes(codes)
    return np.asarray(np.where(np.ptp(table, axis=0) > 0, table.var(axis=0, ddof=min(1, len(table) - 1)), 0.0))


def least_variance(codes: Array, total_variance: Array) -> Array:
    """Return for each batch of codes (m, b, d) the latent whose variance is the smallest share of its total variance (d,)."""
    rest = codes - codes[:, :1]  # far from 0 the squares would lose digits
    total = np.einsum("mbd->md", rest)
    squares = np.einsum("mbd,mbd->md", rest, rest)
    return np.asarray(((squares - total**2 / codes.shape[1]) / (codes.shape[1] - 1) / total_variance).argmin(axis=1))


def count_votes(factors: Array, latents: Array, shape: tuple[int, int]) -> Array:
    """Return how often (k, d) each latent was voted for while each factor was fixed."""
    return np.bincount(factors * shape[1] + latents, minlength=shape[0] * shape[1]).reshape(shape)


def _score(
    varies: Array,
    batches: Batches,
    total_variance: Array,
    batch_size: int,
    train: int,
    test: int,
    dead: float,
    seed: int,
) -> FactorVAEScore:
    if batch_size < 2 or train < 1 or test < SUBSETS:
        raise ValueError(
            f"batch_size must be at least 2, train at least 1, test at least {SUBSETS}; got {batch_size}, {train} and {test}."
        )
    active = (total_variance > 0) & (total_variance >= dead**2 * total_variance.max())
    shape = (len(varies), len(total_variance))
    if not active.any():
        return FactorVAEScore(0.0, 0.0, np.zeros(shape, dtype=int), active, (0.0,) * SUBSETS)
    rng = np.random.default_rng(seed)
    fixed = rng.choice(np.flatnonzero(varies), train + test)
    used = np.flatnonzero(active)
    least = [least_variance(codes[:, :, used], total_variance[used]) for codes in batches(fixed, batch_size, rng)]
    latents = used[np.concatenate(least)]
    votes = count_votes(fixed[:train], latents[:train], shape)
    correct = votes.argmax(axis=0)[latents] == fixed
    folds = tuple(float(correct[subset].mean()) for subset in random_subsets(np.arange(train, train + test), SUBSETS, seed))
    return FactorVAEScore(float(correct[train:].mean()), float(correct[:train].mean()), votes, active, folds)


def _measure(data: Encoded) -> Iterator[Measurement]:
    for block, codes, factors, continuous in data.factors_by_block():
        if factors.shape[1] > 1:
            result = factor_vae_score(codes, factors, continuous)
            interval = fold_interval(result.accuracy, result.folds, (0, 1))
            yield Measurement(f"factor_vae_score.{block}", result.accuracy, interval, len(codes))


METRIC = Metric(
    name="factor_vae_score",
    function=_measure,
    description="FactorVAE score: whether the latent that varies least identifies the factor that was fixed.",
    scores={
        "factor_vae_score": ScoreInfo(
            "Does the latent that varies least identify the factor that was held fixed? Accuracy of a majority vote.", HIGHER
        )
    },
    requires=(TWO_BLOCK_FACTORS,),
)
