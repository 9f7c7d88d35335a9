"""FactorVAE score: whether the latent that varies least names the factor that was held fixed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import code_rows
from untwine.metrics.held_out import random_parts
from untwine.metrics.sampling import Batches, Draw, from_draws, from_rows
from untwine.metrics.truths import DEAD, Continuous

ROWS, TRAIN, TEST = 64, 10_000, 5_000
VARIANCE_ROWS = 10_000
PARTS = 5


class FactorVAEScore(NamedTuple):
    """What `factor_vae_score` found.

    Attributes
    ----------
    accuracy, train
        The score: the accuracy of the vote on test votes; and that on the votes it was made of.
    votes
        How often (k, d) each latent varied least while each factor was fixed, among training votes.
    alive
        Which latents (d,) took part.
    folds
        The accuracy on five random parts of the test votes.
    """

    accuracy: float
    train: float
    votes: Array
    alive: Array
    folds: tuple[float, ...]


def factor_vae_score(
    codes: ArrayLike,
    factors: ArrayLike,
    continuous: Continuous = None,
    rows: int = ROWS,
    train: int = TRAIN,
    test: int = TEST,
    dead: float = DEAD,
    seed: int = 0,
) -> FactorVAEScore:
    """Return the FactorVAE score of codes (n, d) for factors (n, k) (Kim and Mnih 2018).

    A vote: 64 rows that share the value of one factor; the latent whose variance among them (ddof 1), over its variance among
    all rows, is least. Each latent stands for the factor that it was voted for most often in 10,000 votes; the score is the
    share of 5,000 further votes in which it stands for the fixed factor. In [0, 1], higher is better: 1 means that every
    factor has latents of its own (also where codes are duplicated), about one over the number of factors that the codes tell
    nothing; 0 is given to constant codes. Rotated codes lose what latents share evenly: two factors at 45 degrees are guessed
    (1/2). Order and scale of latents do not matter.

    Rows are drawn among those given: the value they share is that of a random row. Integer factors are classes; floats are
    continuous, and cut into 20 bins where they have more values, unless `continuous` says otherwise; a factor that never
    varies is left out.

    Parameters
    ----------
    dead
        Latents with less than this share of the largest deviation take no part; 0 leaves out constant ones alone.

    Version 1: random numbers of numpy's default generator.
    """
    varies, batches = from_rows(codes, factors, continuous, "factor_vae_score", paired=False)
    return _score(varies, batches, variances(codes), rows, train, test, dead, seed)


def factor_vae_score_drawn(
    draw: Draw,
    sizes: Sequence[int],
    rows: int = ROWS,
    train: int = TRAIN,
    test: int = TEST,
    dead: float = DEAD,
    seed: int = 0,
) -> FactorVAEScore:
    """Return the FactorVAE score as `factor_vae_score` does, from a function that draws codes for given factors.

    In [0, 1], higher is better, with the extremes of `factor_vae_score`. It is asked for (train + test) x rows codes, about a
    million of them as it is; where they are dear, ask for fewer votes, or encode rows once and use `factor_vae_score`.

    Parameters
    ----------
    draw
        Takes factors (m, k), integers from 0, and returns codes (m, d) of rows with these factors.
    sizes
        How many values each factor has; all combinations are equally likely.

    Version 1: variances among 10,000 drawn codes; random numbers of numpy's default generator.
    """
    varies, batches = from_draws(draw, sizes, "factor_vae_score", paired=False)
    rng = np.random.default_rng(seed)
    all_factors = np.stack([rng.integers(0, size, VARIANCE_ROWS) for size in sizes], axis=1)
    return _score(varies, batches, variances(draw(all_factors)), rows, train, test, dead, seed)


def variances(codes: ArrayLike) -> Array:
    """Return the variance of each latent (d,), ddof 1; exactly 0 for a constant one, free of rounding."""
    table = code_rows(codes)
    return np.asarray(np.where(np.ptp(table, axis=0) > 0, table.var(axis=0, ddof=min(1, len(table) - 1)), 0.0))


def least_variance(codes: Array, whole: Array) -> Array:
    """Return for each batch of codes (m, rows, d) the latent whose variance is the least share of its whole variance (d,)."""
    rest = codes - codes[:, :1]  # far from 0 the squares would lose digits
    total = np.einsum("mrd->md", rest)
    squares = np.einsum("mrd,mrd->md", rest, rest)
    return np.asarray(((squares - total**2 / codes.shape[1]) / (codes.shape[1] - 1) / whole).argmin(axis=1))


def counted(factors: Array, latents: Array, shape: tuple[int, int]) -> Array:
    """Return how often (k, d) each latent was voted for while each factor was fixed."""
    return np.bincount(factors * shape[1] + latents, minlength=shape[0] * shape[1]).reshape(shape)


def _score(
    varies: Array, batches: Batches, whole: Array, rows: int, train: int, test: int, dead: float, seed: int
) -> FactorVAEScore:
    if rows < 2 or train < 1 or test < PARTS:
        raise ValueError(
            f"factor_vae_score expected 2 rows a vote, 1 training and {PARTS} test votes; got {rows}, {train} and {test}."
        )
    alive = (whole > 0) & (whole >= dead**2 * whole.max())
    shape = (len(varies), len(whole))
    if not alive.any():
        return FactorVAEScore(0.0, 0.0, np.zeros(shape, dtype=int), alive, (0.0,) * PARTS)
    rng = np.random.default_rng(seed)
    fixed = rng.choice(np.flatnonzero(varies), train + test)
    live = np.flatnonzero(alive)
    least = [least_variance(codes[:, :, live], whole[live]) for codes in batches(fixed, rows, rng)]
    latents = live[np.concatenate(least)]
    votes = counted(fixed[:train], latents[:train], shape)
    right = votes.argmax(axis=0)[latents] == fixed
    folds = tuple(float(right[part].mean()) for part in random_parts(np.arange(train, train + test), PARTS, seed))
    return FactorVAEScore(float(right[train:].mean()), float(right[:train].mean()), votes, alive, folds)
