"""Mutual information gap: whether each factor is told by one latent more than by any other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import code_rows
from untwine.metrics.information import entropy, mutual_information
from untwine.metrics.truths import BINS, Continuous, binned, class_columns, gaps, varying


class MIG(NamedTuple):
    """What `mig` found: the score, the gap of each factor (0 where it does not vary), and the information (d, k) in nats."""

    mig: float
    per_factor: tuple[float, ...]
    matrix: Array


def mig(codes: ArrayLike, factors: ArrayLike, continuous: Continuous = None, bins: int = BINS) -> MIG:
    """Return the mutual information gap of codes (n, d) for factors (n, k) (Chen et al. 2018).

    mean_j (I(z_a; y_j) - I(z_b; y_j)) / H(y_j), z_a and z_b being the two latents that tell most of factor j. Latents are cut
    into 20 bins of equal width. In [0, 1], higher is better: 1 means that one latent tells the factor whole and no other
    anything of it; 0 that the best two tell as much, whatever else there is (constant and duplicated codes, and those rotated
    so far that two latents share each factor evenly, as by 45 degrees; a slight rotation leaves a gap). Order and scale of
    latents do not matter. Noise latents share a little information by chance, the more the fewer the rows.

    Integer factors are classes; floats are continuous, and cut into bins as well where they have more than 20 values;
    `continuous` (one bool, or one for each factor) says otherwise. A factor that never varies is left out of the mean.

    Version 1: equal-width bins from the least to the largest value, natural logarithms, plug-in estimate.
    """
    codes = code_rows(codes)
    classes = class_columns(factors, len(codes), continuous, bins)
    varies = varying(classes, "mig")
    matrix = mutual_information(np.stack([binned(z, bins) for z in codes.T], axis=1), classes)
    entropies = entropy(classes)
    per_factor = np.divide(gaps(matrix), entropies, out=np.zeros(len(entropies)), where=varies)
    return MIG(float(per_factor[varies].mean()), tuple(per_factor.tolist()), matrix)
