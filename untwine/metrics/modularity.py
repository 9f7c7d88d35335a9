"""Modularity: whether each latent is informative about one factor only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import check_codes
from untwine.metrics.directions import HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.ground_truth import BINS, Continuous, discretise, discretise_factors, varying_mask
from untwine.metrics.information import mutual_information
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.metrics.requirements import TWO_BLOCK_FACTORS
from untwine.metrics.resampling import measure_over_halves


class Modularity(NamedTuple):
    """The score, that of each latent (0 for one without information), and the mutual information (d, k)."""

    modularity: float
    per_latent: tuple[float, ...]
    matrix: Array


def modularity_score(codes: ArrayLike, factors: ArrayLike, continuous: Continuous = None, bins: int = BINS) -> Modularity:
    """Return the modularity of codes (n, d) for factors (n, k) (Ridgeway and Mozer 2018).

    mean_i 1 - sum_{j != a} I_ij^2 / (I_ia^2 (k - 1)), I_ij being the mutual information of latent i (in 20 bins of equal
    width) and factor j, and a the factor that the latent is most informative about. In [0, 1], higher is better: 1 means that
    no latent is informative about two factors, also where codes are permuted, rescaled or duplicated, and where some factor is
    not encoded; 0 that each is equally informative about all factors (constant codes get 0). Rotated codes keep much of it, as
    the squares favour the largest share: of three factors 0.5 and more under most rotations, of two at 45 degrees nothing. A
    latent that shares m factors evenly scores 1 - (m - 1) / (k - 1). A latent of pure noise has a little information on every
    factor by chance, and so scores low. A latent without any information, such as a constant one, is left out of the mean.

    Integer factors are classes; floats are continuous, and discretised as well where they have more than 20 values;
    `continuous` says otherwise. A factor that never varies is left out.

    Version 1: equal-width bins, plug-in estimate.
    """
    codes = check_codes(codes)
    classes = discretise_factors(factors, len(codes), continuous, bins)
    varies = varying_mask(classes, "modularity_score", least=2)
    matrix = mutual_information(np.stack([discretise(z, bins) for z in codes.T], axis=1), classes)
    squares = matrix[:, varies] ** 2
    most = squares.max(axis=1)
    informative = most > 1e-24  # less is rounding
    rest = np.divide(squares.sum(axis=1) - most, most * (squares.shape[1] - 1), out=np.ones(len(most)), where=informative)
    per_latent = np.clip(1.0 - rest, 0.0, 1.0)
    return Modularity(float(per_latent[informative].mean()) if informative.any() else 0.0, tuple(per_latent.tolist()), matrix)


def _measure(data: Encoded) -> Iterator[Measurement]:
    fields = {"modularity": "modularity"}
    yield from measure_over_halves(data.factors_by_block(), modularity_score, fields, data.seeds, 2, data.block_sources)


METRIC = Metric(
    name="modularity",
    function=_measure,
    description="Modularity: whether each latent is informative about one factor only.",
    scores={
        "modularity": ScoreInfo(
            "Is each latent informative about one factor only? Mean over latents: 1 is one factor, 0 is all alike.", HIGHER
        )
    },
    requires=(TWO_BLOCK_FACTORS,),
)
