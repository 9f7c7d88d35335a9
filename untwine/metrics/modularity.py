"""Modularity: whether each latent tells of one factor only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import code_rows
from untwine.metrics.information import mutual_information
from untwine.metrics.truths import BINS, Continuous, binned, class_columns, varying


class Modularity(NamedTuple):
    """What `modularity` found: the score, that of each latent (0 for one that tells nothing), and the information (d, k)."""

    modularity: float
    per_latent: tuple[float, ...]
    matrix: Array


def modularity(codes: ArrayLike, factors: ArrayLike, continuous: Continuous = None, bins: int = BINS) -> Modularity:
    """Return the modularity of codes (n, d) for factors (n, k) (Ridgeway and Mozer 2018).

    mean_i 1 - sum_{j != a} I_ij^2 / (I_ia^2 (k - 1)), I_ij being the mutual information of latent i (in 20 bins of equal
    width) and factor j, and a the factor that the latent tells most of. In [0, 1], higher is better: 1 means that no latent
    tells of two factors, also where codes are permuted, rescaled or duplicated, and where no latent tells of some factor; 0
    that each tells of all factors alike (constant codes get 0). Rotated codes keep much of it, as the squares favour the
    largest share: of three factors 0.5 and more under most rotations, of two at 45 degrees nothing. A latent that shares m
    factors evenly scores 1 - (m - 1) / (k - 1). A latent of pure noise tells a little of every factor by chance, and so
    scores low. A latent that tells nothing at all, as a constant one, is left out of the mean.

    Integer factors are classes; floats are continuous, and cut into bins as well where they have more than 20 values;
    `continuous` says otherwise. A factor that never varies is left out.

    Version 1: equal-width bins, plug-in estimate.
    """
    codes = code_rows(codes)
    classes = class_columns(factors, len(codes), continuous, bins)
    varies = varying(classes, "modularity", least=2)
    matrix = mutual_information(np.stack([binned(z, bins) for z in codes.T], axis=1), classes)
    squares = matrix[:, varies] ** 2
    most = squares.max(axis=1)
    tells = most > 1e-24  # what rounding leaves of no information at all
    rest = np.divide(squares.sum(axis=1) - most, most * (squares.shape[1] - 1), out=np.ones(len(most)), where=tells)
    per_latent = np.clip(1.0 - rest, 0.0, 1.0)
    return Modularity(float(per_latent[tells].mean()) if tells.any() else 0.0, tuple(per_latent.tolist()), matrix)
