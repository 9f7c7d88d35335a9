r"""Spectral clustering of a few objects by their affinities (Shi and Malik 2000), with the random draws of scikit-learn.

The objects are embedded by the leading eigenvectors of $D^{-1/2} W D^{-1/2}$, divided by $D^{1/2}$, and clustered there by
k-means. W is the affinity with 0 on its diagonal, D the diagonal matrix of its sums. `sklearn.cluster.SpectralClustering` gives
the same clusters for the same seed; importing it takes over a second, more than all else in a closed form of small data.
"""

from __future__ import annotations

import numpy as np

from untwine._typing import Array

STARTS, ITERATIONS, TOLERANCE = 10, 300, 1e-4


def spectral_clusters(affinity: Array, clusters: int, seed: int) -> Array:
    """Return the cluster (n,) of each object, given positive affinities (n, n)."""
    W = affinity - np.diag(affinity.diagonal())
    root = np.sqrt(W.sum(0))
    vectors = np.linalg.eigh(W / np.outer(root, root))[1][:, -clusters:]
    rng = np.random.RandomState(seed % 2**32)
    rng.uniform(size=len(W))  # which scikit-learn draws for its iterative eigensolver
    return k_means(vectors / root[:, None], clusters, rng)


def k_means(points: Array, clusters: int, rng: np.random.RandomState) -> Array:
    """Return the cluster (n,) of each point (n, d): of several starts by k-means++, the one with the least squares."""
    points = points - points.mean(0)
    tolerance = TOLERANCE * points.var(0).mean()
    best, least = np.zeros(len(points), dtype=int), np.inf
    for _ in range(STARTS):
        labels, squares = _descend(points, _first_centres(points, clusters, rng), tolerance)
        if squares < least and not _same(labels, best):
            best, least = labels, squares
    return best


def _first_centres(points: Array, clusters: int, rng: np.random.RandomState) -> Array:
    """Return points, each the best of a few that are drawn by their squared distance from those before (greedy k-means++)."""
    n, trials = len(points), 2 + int(np.log(clusters))
    chosen = [int(rng.choice(n, p=np.full(n, 1 / n)))]
    nearest = _squares(points, points[chosen])[:, 0]
    for _ in range(clusters - 1):
        drawn = np.searchsorted(np.cumsum(nearest), rng.uniform(size=trials) * nearest.sum()).clip(max=n - 1)
        after = np.minimum(nearest[:, None], _squares(points, points[drawn]))
        one = int(after.sum(0).argmin())
        chosen.append(int(drawn[one]))
        nearest = after[:, one]
    return points[chosen]


def _descend(points: Array, centres: Array, tolerance: float) -> tuple[Array, float]:
    """Return the clusters where k-means comes to rest, and the sum of squares about their centres."""
    labels = np.full(len(points), -1)
    for _ in range(ITERATIONS):
        before, labels = labels, _squares(points, centres).argmin(1)
        moved = _means(points, labels, centres)
        shift, centres = np.square(moved - centres).sum(), moved
        if np.array_equal(before, labels):
            break
        if shift <= tolerance:
            labels = _squares(points, centres).argmin(1)
            break
    return labels, float(np.square(points - centres[labels]).sum())


def _means(points: Array, labels: Array, centres: Array) -> Array:
    """Return the mean of each cluster; one without points gets the point that is farthest from its centre."""
    distances, labels, means = np.square(points - centres[labels]).sum(1), labels.copy(), centres.copy()
    empty = np.setdiff1d(np.arange(len(centres)), labels)
    for label, point in zip(empty, np.argsort(-distances, kind="stable"), strict=False):
        if distances[point] > 0:
            labels[point] = label
    for label in np.unique(labels):
        means[label] = points[labels == label].mean(0)
    return means


def _same(labels: Array, others: Array) -> bool:
    """Whether two clusterings differ at most in the names of their clusters."""
    pairs = set(zip(labels.tolist(), others.tolist(), strict=True))
    return len(pairs) == len(set(labels.tolist())) == len(set(others.tolist()))


def _squares(points: Array, centres: Array) -> Array:
    return np.asarray(np.square(points[:, None] - centres).sum(-1))
