"""How far made images are from real ones, and how sure and varied they look, in the features of some network."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from untwine.metrics.checks import code_rows


def frechet(real: ArrayLike, made: ArrayLike) -> float:
    r"""Return the Frechet distance of two sets of features (n, d) and (m, d) (Heusel et al. 2017).

    $|\mu_1 - \mu_2|^2 + \mathrm{tr}(\Sigma_1 + \Sigma_2 - 2 (\Sigma_1 \Sigma_2)^{1/2})$: the squared W2 distance of the two
    Gaussians with the sets' means and covariances (divided by n - 1). At least 0, lower is better: 0 means equal means and
    covariances. Few rows make it larger, so only values of equally many rows can be compared. It is called FID when the
    features are those of the Inception network that Heusel et al. took, and by the network's name otherwise.
    """
    a, b = code_rows(real), code_rows(made)
    if a.shape[1] != b.shape[1] or min(len(a), len(b)) < 2:
        raise ValueError(f"frechet expected two sets of at least 2 rows with as many features; got {a.shape} and {b.shape}.")
    first, second = (np.atleast_2d(np.cov(part, rowvar=False)) for part in (a, b))
    values, vectors = np.linalg.eigh(first)
    root = vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T
    # The trace of the root of a product is that of a symmetric matrix with the same eigenvalues.
    shared = np.sqrt(np.maximum(np.linalg.eigvalsh(root @ second @ root), 0)).sum()
    return max(0.0, float(np.square(a.mean(0) - b.mean(0)).sum() + np.trace(first) + np.trace(second) - 2 * shared))


def class_score(probabilities: ArrayLike) -> float:
    r"""Return how sure and how varied a classifier (n, k) finds images: $\exp E\, KL(p(y|x) \| p(y))$ (Salimans et al. 2016).

    From 1 to k, higher is better: k means that every image is surely of one class and all classes come equally often, 1 that
    all images get the same answer. It is called the inception score when the classifier is the Inception network.
    """
    p = np.asarray(probabilities, dtype=float)
    if p.ndim != 2 or not len(p) or not np.isfinite(p).all() or (p < 0).any() or not np.allclose(p.sum(axis=1), 1, atol=1e-3):
        raise ValueError(f"class_score expected probabilities (n, k) whose rows add up to 1; got others, of shape {p.shape}.")
    mean = p.mean(axis=0)
    logs = np.where(p > 0, np.log(np.where(p > 0, p, 1)) - np.log(np.where(mean > 0, mean, 1)), 0.0)
    return float(np.exp((p * logs).sum(axis=1).mean()))
