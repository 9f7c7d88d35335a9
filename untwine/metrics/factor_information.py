"""Mutual information of each latent with each factor."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import check_codes
from untwine.metrics.ground_truth import BINS, DEAD, Continuous, active_latents, discretise, discretise_factors
from untwine.metrics.information import entropy, mutual_information


def information_matrix(
    codes: ArrayLike, factors: ArrayLike, continuous: Continuous = None, bins: int = BINS, dead: float = DEAD
) -> Array:
    """Return the normalised mutual information (d, k) of each latent of codes (n, d) with each of the factors (n, k).

    I(z_i; y_j) / H(y_j), from the counts of `mig_score`. In [0, 1]: 1 means that the latent determines the factor, 0 that it is
    independent of it. For one latent of each factor higher is better, for all others lower is better. Perfect codes have one 1
    in each column; duplicated ones have equal rows; rotated ones spread a factor over several rows, none of which is 1;
    constant ones have only zeros. A factor that never varies has zeros, and so has a latent
    with less than the share `dead` of the largest standard deviation, as in `sap_score`: such traces (which `mig_score` counts)
    do not show in decoded samples. Order and common scale of latents and the form of a relation do not matter. Noise has a
    little information by chance: about (bins - 1) (values - 1) / (2 n H(y_j)).

    Integer factors are classes; floats are continuous, and cut into bins where they have more than `bins` values, unless
    `continuous` says otherwise.

    Version 1: equal-width bins from the smallest to the largest value, plug-in estimate.
    """
    codes = check_codes(codes)
    classes = discretise_factors(factors, len(codes), continuous, bins)
    matrix = mutual_information(np.stack([discretise(z, bins) for z in codes.T], axis=1), classes)
    entropies = entropy(classes)
    shares = np.clip(np.divide(matrix, entropies, out=np.zeros(matrix.shape), where=entropies > 0), 0.0, 1.0)
    return np.where(active_latents(codes, dead)[:, None], shares, 0.0)


def best_factors(codes: ArrayLike, factors: ArrayLike, continuous: Continuous = None, seed: int = 0) -> tuple[Array, Array]:
    """Return which of the factors (n, k) each latent of codes (n, d) has most information on (d,), and how much (d,).

    (I - I_0) / (1 - I_0) of `information_matrix`, where I_0 is that of the same factors in permuted order, which corrects for
    what few samples and many values give by chance. At most 1: the latent determines the factor; about 0: it is independent of
    all of them. Higher is a clearer meaning, not a better code: a rotated code has a little information on every factor. A
    dead latent has 0.
    """
    y = np.asarray(factors)
    observed = information_matrix(codes, y, continuous)
    floor = information_matrix(codes, y[np.random.default_rng(seed).permutation(len(y))], continuous)
    share = np.divide(observed - floor, 1 - floor, out=np.zeros_like(observed), where=floor < 1)
    best = share.argmax(axis=1)
    return best, np.maximum(share[np.arange(len(best)), best], 0.0)
