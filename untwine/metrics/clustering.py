"""Do the classes form clusters? t-SNE to a plane, k-means there, and the best matching of clusters to classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import centred, class_column, code_rows
from untwine.training.threads import one_thread

PERPLEXITY = 30
# With exaggeration and without: three fifths of the usual, after which the scores below no longer change beyond chance.
STEPS = (150, 350)
# Exact neighbours cost O(n^2); beyond this many rows they are approximate.
EXACT_ROWS = 10_000
SHUFFLES = 20


class Clustering(NamedTuple):
    """What `clustering` found.

    Attributes
    ----------
    accuracy
        The share of rows in the cluster matched to their class, in [0, 1].
    random
        The mean of the same share over shuffled labels: what no knowledge at all scores.
    silhouette
        The silhouette of the true classes in the plane, in [-1, 1].
    n
        How many rows were scored.
    shuffles
        The share for each shuffle of the labels.
    """

    accuracy: float
    random: float
    silhouette: float
    n: int
    shuffles: tuple[float, ...]


def tsne(codes: ArrayLike, seed: int = 0) -> Array:
    """Return the t-SNE plane (n, 2) of codes (n, d): neighbours stay neighbours, far distances mean little.

    Perplexity 30, or (n - 1) / 3 where there are fewer than 91 rows; started from the two principal components, with
    a little noise by `seed` so that equal rows can part; 150 steps with exaggeration and 350 without; one thread, so the
    same seed gives the same plane. Constant codes give the origin, and fewer than 5 rows their principal plane.
    """
    codes = centred(code_rows(codes))
    scale = np.abs(codes).max()
    if scale == 0:
        return np.zeros((len(codes), 2))
    start = _principal_plane(codes / scale)
    if len(codes) < 5:
        return start
    from openTSNE import TSNE

    start = 1e-4 * (start / start[:, 0].std() + 0.01 * np.random.default_rng(seed).standard_normal(start.shape))
    plane = TSNE(
        perplexity=min(PERPLEXITY, (len(codes) - 1) / 3),
        initialization=start / max(1.0, start.std(axis=0).max() / 1e-4),
        neighbors="exact" if len(codes) <= EXACT_ROWS else "auto",
        random_state=seed,
        early_exaggeration_iter=STEPS[0],
        n_iter=STEPS[1],
        n_jobs=1,  # see one_thread, which does not reach its threads
    ).fit(codes / scale)
    return np.array(plane)


def matching_accuracy(labels: ArrayLike, clusters: ArrayLike) -> float:
    """Return the accuracy of clusters as classes under the best one-to-one matching.

    max over matchings m of (1/n) sum_i [m(cluster_i) = label_i]. In [0, 1], higher is better: 1 means that clusters are
    classes up to their names; never below 1/k for k clusters and as many classes. With more of one than of the other, the
    rest stays unmatched and counts as wrong.
    """
    from scipy.optimize import linear_sum_assignment

    labels = class_column(labels, np.size(labels))
    clusters = np.unique(np.asarray(clusters), return_inverse=True)[1].reshape(-1)
    if len(clusters) != len(labels):
        raise ValueError(f"clusters must be one for each of the {len(labels)} labels; got {len(clusters)}.")
    table = np.zeros((labels.max() + 1, clusters.max() + 1), dtype=np.int64)
    np.add.at(table, (labels, clusters), 1)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / len(labels))


def clustering(codes: ArrayLike, labels: ArrayLike, seed: int = 0) -> Clustering:
    """Return how well the classes (n,) form clusters in the t-SNE plane of codes (n, d).

    The accuracy of k-means (as many clusters as classes, 10 starts) under the best one-to-one matching, the same for
    shuffled labels, and the silhouette mean_i (b_i - a_i) / max(a_i, b_i) of the true classes, a_i being the mean distance
    in the plane to the own class and b_i to the nearest other one. Higher means more clustered: 1 and a silhouette towards 1
    say that classes are islands; `random`, and a silhouette of 0 or below, that the plane knows nothing of them. Constant
    codes get the largest class's share, and silhouette 0. `random` exceeds 1/k, and the more so the fewer the rows.
    """
    codes = code_rows(codes)
    labels = class_column(labels, len(codes))
    return plane_clustering(tsne(codes, seed), labels, seed)


def plane_clustering(plane: ArrayLike, labels: ArrayLike, seed: int = 0) -> Clustering:
    """Return what `clustering` does, for a plane (n, 2) in hand."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    plane = code_rows(plane)
    labels = class_column(labels, len(plane))
    classes = int(labels.max()) + 1
    if not 2 <= classes < len(labels):
        raise ValueError(
            f"clustering expected at least 2 classes and more rows than classes; got {classes} classes in "
            f"{len(labels)} rows; pass more rows."
        )
    # k-means cannot make more clusters than there are different points, and would warn.
    k = min(classes, len(np.unique(plane, axis=0)))
    with one_thread():
        clusters = KMeans(k, n_init=10, random_state=seed).fit_predict(plane)
        silhouette = float(silhouette_score(plane, labels))
    rng = np.random.default_rng(seed)
    shuffles = tuple(matching_accuracy(rng.permutation(labels), clusters) for _ in range(SHUFFLES))
    return Clustering(
        accuracy=matching_accuracy(labels, clusters),
        random=float(np.mean(shuffles)),
        silhouette=silhouette,
        n=len(labels),
        shuffles=shuffles,
    )


def _principal_plane(codes: Array) -> Array:
    """Return the first two principal components of centred codes, with the sign that makes the largest loading positive."""
    _, _, axes = np.linalg.svd(codes, full_matrices=False)
    axes = axes[:2] * np.sign(axes[np.arange(len(axes[:2])), np.abs(axes[:2]).argmax(axis=1)])[:, None]
    plane = codes @ axes.T
    return np.pad(plane, ((0, 0), (0, 2 - plane.shape[1])))
