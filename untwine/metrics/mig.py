"""Mutual information gap: whether one latent has much more information on each factor than any other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import check_codes
from untwine.metrics.directions import HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.ground_truth import BINS, Continuous, discretise, discretise_factors, top_two_gaps, varying_mask
from untwine.metrics.information import entropy, mutual_information
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.metrics.requirements import BLOCK_FACTOR
from untwine.metrics.resampling import measure_over_halves


class MIG(NamedTuple):
    """The score, the gap of each factor (0 where it does not vary), and the mutual information (d, k) in nats."""

    mig: float
    per_factor: tuple[float, ...]
    matrix: Array


def mig_score(codes: ArrayLike, factors: ArrayLike, continuous: Continuous = None, bins: int = BINS) -> MIG:
    """Return the mutual information gap of codes (n, d) for factors (n, k) (Chen et al. 2018).

    mean_j (I(z_a; y_j) - I(z_b; y_j)) / H(y_j), z_a and z_b being the two latents with most information on factor j. Latents
    are discretised into 20 bins of equal width. In [0, 1], higher is better: 1 means that one latent determines the factor and
    all others are independent of it; 0 that the best two are equally informative (constant and duplicated codes, and those
    rotated so far that two latents share each factor evenly, as by 45 degrees; a slight rotation leaves a gap). Order and scale
    of latents do not matter. Noise latents have a little information by chance, the more the fewer the samples.

    Integer factors are classes; floats are continuous, and discretised as well where they have more than 20 values;
    `continuous` (one bool, or one for each factor) says otherwise. A factor that never varies is left out of the mean.

    Version 1: equal-width bins from the smallest to the largest value, natural logarithms, plug-in estimate.
    """
    codes = check_codes(codes)
    classes = discretise_factors(factors, len(codes), continuous, bins)
    varies = varying_mask(classes, "mig_score")
    matrix = mutual_information(np.stack([discretise(z, bins) for z in codes.T], axis=1), classes)
    entropies = entropy(classes)
    per_factor = np.divide(top_two_gaps(matrix), entropies, out=np.zeros(len(entropies)), where=varies)
    return MIG(float(per_factor[varies].mean()), tuple(per_factor.tolist()), matrix)


def _measure(data: Encoded) -> Iterator[Measurement]:
    yield from measure_over_halves(data.factors_by_block(), mig_score, {"mig": "mig"}, data.seeds, 1, data.block_sources)


METRIC = Metric(
    name="mig",
    function=_measure,
    description="Mutual information gap between the two latents that are most informative about a factor.",
    scores={
        "mig": ScoreInfo(
            "Is one latent much more informative about a factor than the next best? Mutual information gap, from 0 to 1.",
            HIGHER,
        )
    },
    requires=(BLOCK_FACTOR,),
)
