"""Dependence among the latents of a block, without ground truth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine.metrics.checks import check_codes
from untwine.metrics.directions import LOWER
from untwine.metrics.encoded import Encoded
from untwine.metrics.ground_truth import BINS, discretise
from untwine.metrics.information import mutual_information
from untwine.metrics.intervals import halves_interval, random_halves
from untwine.metrics.metric import Measurement, Metric, ScoreInfo


class Unsupervised(NamedTuple):
    """Dependence among latents.

    Attributes
    ----------
    total_correlation
        That of the Gaussian with the codes' covariance, in nats, from 0.
    wasserstein_correlation
        The squared Wasserstein distance of that Gaussian to the one without covariances, from 0.
    relative
        The same over the sum of the variances, in [0, 1).
    mutual_information
        The mean over pairs of different latents, in nats, from 0.
    """

    total_correlation: float
    wasserstein_correlation: float
    relative: float
    mutual_information: float


def unsupervised_scores(codes: ArrayLike, bins: int = BINS) -> Unsupervised:
    """Return how dependent the latents of codes (n, d) are.

    With C the covariance and D its diagonal: total correlation (1/2) (sum_i log D_ii - log |C|); Wasserstein correlation 2 tr C
    - 2 tr (D^1/2 C D^1/2)^1/2; and the mean mutual information of pairs of latents in 20 bins. All from 0, lower is better: 0
    means uncorrelated latents, or independent ones. Rotated codes score above 0 wherever their variances differ, and have
    mutual information unless they are Gaussian of equal variance; of duplicated codes the total correlation is infinite, and
    comes out as about 18 for each duplicated latent, and the Wasserstein correlation is 2 - sqrt 2 of the variance. Order of
    latents does not matter; scale does to the Wasserstein correlation alone. Constant latents are left out; all constant gives
    0.

    It does not measure whether codes are informative: noise scores 0. Compare models of similar reconstruction error.

    Version 1: covariance with 1 / (n - 1), natural logarithms, plug-in estimate.
    """
    codes = check_codes(codes)
    if len(codes) < 2:
        raise ValueError(f"unsupervised_scores needs at least 2 samples; got {len(codes)}; pass more.")
    varying = codes[:, np.ptp(codes, axis=0) > 0]
    if not varying.shape[1]:
        return Unsupervised(0.0, 0.0, 0.0, 0.0)
    covariance = np.atleast_2d(np.cov(varying.T))
    std = np.sqrt(np.diag(covariance))
    eigenvalues = np.linalg.eigvalsh(covariance / np.outer(std, std))
    total = -0.5 * float(np.log(np.maximum(eigenvalues, np.finfo(np.float64).eps)).sum())
    # D^1/2 C D^1/2 is symmetric, so the trace of its root is the sum of the roots of its eigenvalues.
    roots = np.sqrt(np.maximum(np.linalg.eigvalsh(covariance * np.outer(std, std)), 0.0))
    variance = float(np.trace(covariance))
    distance = max(0.0, 2 * variance - 2 * float(roots.sum()))
    classes = np.stack([discretise(z, bins) for z in codes.T], axis=1)
    shared = mutual_information(classes, classes)
    pairs = ~np.eye(len(shared), dtype=bool)
    together = float(shared[pairs].mean()) if pairs.any() else 0.0
    return Unsupervised(max(0.0, total), distance, distance / variance, together)


SCORES = {
    "total_correlation": "total_correlation",
    "wasserstein_correlation": "relative",
    "latent_information": "mutual_information",
}


def _measure(data: Encoded) -> Iterator[Measurement]:
    for block, codes in data.latents.items():
        result = unsupervised_scores(codes)
        halves = random_halves(np.zeros(len(codes), dtype=int), data.seeds, sources=data.samples.sources)
        repeats = [unsupervised_scores(codes[half]) for half in halves]
        for name, field in SCORES.items():
            value = getattr(result, field)
            interval = halves_interval(value, [getattr(one, field) for one in repeats], (0, np.inf))
            yield Measurement(f"{name}.{block}", value, interval, len(codes))


METRIC = Metric(
    name="unsupervised",
    function=_measure,
    description="Dependence among the latents of each block, without ground truth.",
    scores={
        "total_correlation": ScoreInfo(
            "How dependent are the latents of this block, taken as Gaussian? Total correlation in nats: 0 is independent.",
            LOWER,
        ),
        "wasserstein_correlation": ScoreInfo(
            "The same as a squared Wasserstein distance to independent latents, over their variance: 0 is independent.", LOWER
        ),
        "latent_information": ScoreInfo(
            "How informative are two latents about each other on average? Mutual information in nats: 0 is independent.", LOWER
        ),
    },
)
