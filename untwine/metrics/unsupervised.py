"""How much latents repeat each other, without any truth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine.metrics.checks import code_rows
from untwine.metrics.information import mutual_information
from untwine.metrics.truths import BINS, binned


class Unsupervised(NamedTuple):
    """What `unsupervised` found.

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


def unsupervised(codes: ArrayLike, bins: int = BINS) -> Unsupervised:
    """Return how much the latents of codes (n, d) repeat each other.

    With C the covariance and D its diagonal: total correlation (1/2) (sum_i log D_ii - log |C|); Wasserstein correlation
    2 tr C - 2 tr (D^1/2 C D^1/2)^1/2; and the mean mutual information of pairs of latents in 20 bins. All from 0,
    lower is better: 0 means uncorrelated latents, or independent ones. Rotated codes score above 0 wherever their spreads
    differ, and have mutual information unless they are Gaussian and spread alike; of duplicated codes the total correlation
    is infinite, and comes out as about 18 for each repeated latent, and the Wasserstein correlation is 2 - sqrt 2 of the
    variance. Order of latents does not matter; scale does to the Wasserstein correlation alone. Constant latents are left
    out; all constant gives 0.

    None of it says that codes are any good: noise scores 0. Compare models that reconstruct alike.

    Version 1: covariance with 1 / (n - 1), natural logarithms, plug-in estimate.
    """
    codes = code_rows(codes)
    if len(codes) < 2:
        raise ValueError(f"unsupervised expected at least 2 rows; got {len(codes)}; pass more.")
    alive = codes[:, np.ptp(codes, axis=0) > 0]
    if not alive.shape[1]:
        return Unsupervised(0.0, 0.0, 0.0, 0.0)
    covariance = np.atleast_2d(np.cov(alive.T))
    spread = np.sqrt(np.diag(covariance))
    eigenvalues = np.linalg.eigvalsh(covariance / np.outer(spread, spread))
    total = -0.5 * float(np.log(np.maximum(eigenvalues, np.finfo(np.float64).eps)).sum())
    # D^1/2 C D^1/2 is symmetric, so the trace of its root is the sum of the roots of its eigenvalues.
    roots = np.sqrt(np.maximum(np.linalg.eigvalsh(covariance * np.outer(spread, spread)), 0.0))
    variance = float(np.trace(covariance))
    distance = max(0.0, 2 * variance - 2 * float(roots.sum()))
    classes = np.stack([binned(z, bins) for z in codes.T], axis=1)
    shared = mutual_information(classes, classes)
    pairs = ~np.eye(len(shared), dtype=bool)
    together = float(shared[pairs].mean()) if pairs.any() else 0.0
    return Unsupervised(max(0.0, total), distance, distance / variance, together)
