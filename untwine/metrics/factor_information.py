"""How much each latent by itself tells of each factor."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import code_rows
from untwine.metrics.information import entropy, mutual_information
from untwine.metrics.truths import BINS, DEAD, Continuous, binned, class_columns, live


def information_matrix(
    codes: ArrayLike, factors: ArrayLike, continuous: Continuous = None, bins: int = BINS, dead: float = DEAD
) -> Array:
    """Return for each latent of codes (n, d) the share (d, k) that it tells of each of the factors (n, k).

    I(z_i; y_j) / H(y_j), from the counts of `mig`. In [0, 1]: 1 means that the latent tells the factor whole, 0 that it tells
    nothing of it. Of one latent for each factor higher is better, of all others lower is better. Perfect codes have one 1 in
    each column, wherever the order puts it; duplicated ones have equal rows; rotated ones spread a factor over several rows,
    none of which tells it whole; constant ones have zeros alone. A factor that never varies has zeros, and so has a latent
    with less than the share `dead` of the largest deviation, as in `sap`: what traces in it tell (which `mig` counts),
    nothing decoded shows. Order of latents, the scale of all and the form of a relation do not matter. Noise shares a little
    by chance: about (bins - 1) (values - 1) / (2 n H(y_j)).

    Integer factors are classes; floats are continuous, and cut into bins where they have more than `bins` values, unless
    `continuous` says otherwise.

    Version 1: equal-width bins from the least to the largest value, plug-in estimate.
    """
    codes = code_rows(codes)
    classes = class_columns(factors, len(codes), continuous, bins)
    matrix = mutual_information(np.stack([binned(z, bins) for z in codes.T], axis=1), classes)
    most = entropy(classes)
    shares = np.clip(np.divide(matrix, most, out=np.zeros(matrix.shape), where=most > 0), 0.0, 1.0)
    return np.where(live(codes, dead)[:, None], shares, 0.0)
