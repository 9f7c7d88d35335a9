"""Whether the classes form clusters: t-SNE, k-means in its plane, and the best matching of clusters to classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import centred, check_codes, check_labels
from untwine.metrics.directions import INFO, LABELS_HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.intervals import fold_interval, halves_interval, random_halves
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.metrics.requirements import LABELS
from untwine.training.threads import one_thread

PERPLEXITY = 30
# Iterations with early exaggeration and without: three fifths of the usual; more do not change the scores beyond noise.
STEPS = (150, 350)
# Exact neighbours cost O(n^2); beyond this many samples they are approximate.
MAX_EXACT = 10_000
SHUFFLES = 20


class Clustering(NamedTuple):
    """How well clusters agree with classes.

    Attributes
    ----------
    accuracy
        The share of samples in the cluster matched to their class, in [0, 1].
    random
        The mean of the same share over shuffled labels: the chance level.
    silhouette
        The silhouette of the true classes in the plane, in [-1, 1].
    n
        The number of samples.
    shuffles
        The share for each shuffle of the labels.
    """

    accuracy: float
    random: float
    silhouette: float
    n: int
    shuffles: tuple[float, ...]


def tsne(codes: ArrayLike, seed: int = 0) -> Array:
    """Return the t-SNE plane (n, 2) of codes (n, d): neighbours stay neighbours, large distances mean little.

    Perplexity 30, or (n - 1) / 3 where there are fewer than 91 samples; initialised with the two principal components, with
    a little noise by `seed` so that equal samples can separate; 150 iterations with exaggeration and 350 without; one thread,
    so the same seed gives the same plane. Constant codes give the origin, and fewer than 5 samples their principal plane.
    """
    codes = centred(check_codes(codes))
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
        neighbors="exact" if len(codes) <= MAX_EXACT else "auto",
        random_state=seed,
        early_exaggeration_iter=STEPS[0],
        n_iter=STEPS[1],
        n_jobs=1,  # see one_thread, which does not reach its threads
    ).fit(codes / scale)
    return np.array(plane)


def matching_accuracy(labels: ArrayLike, clusters: ArrayLike) -> float:
    """Return the accuracy of clusters as classes under the best one-to-one matching.

    max over matchings m of (1/n) sum_i [m(cluster_i) = label_i]. In [0, 1], higher is better: 1 means that the
    clusters are the classes; never below 1/k for k clusters and as many classes. With more of one than of the other, the
    rest is unmatched and counts as wrong.
    """
    from scipy.optimize import linear_sum_assignment

    labels = check_labels(labels, np.size(labels))
    clusters = np.unique(np.asarray(clusters), return_inverse=True)[1].reshape(-1)
    if len(clusters) != len(labels):
        raise ValueError(f"clusters must have one entry for each of the {len(labels)} labels; got {len(clusters)}.")
    table = np.zeros((labels.max() + 1, clusters.max() + 1), dtype=np.int64)
    np.add.at(table, (labels, clusters), 1)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / len(labels))


def clustering_accuracy(codes: ArrayLike, labels: ArrayLike, seed: int = 0) -> Clustering:
    """Return how well the classes (n,) form clusters in the t-SNE plane of codes (n, d).

    The accuracy of k-means (as many clusters as classes, 10 initialisations) under the best one-to-one matching, the same for
    shuffled labels, and the silhouette mean_i (b_i - a_i) / max(a_i, b_i) of the true classes, a_i being the mean distance
    in the plane to the own class and b_i to the nearest other one. Higher means better clustered: 1 and a silhouette towards
    1 mean well-separated clusters; `random`, and a silhouette of 0 or below, that the classes are mixed. Constant codes get
    the share of the largest class, and silhouette 0. `random` exceeds 1/k, the more the fewer the samples.
    """
    codes = check_codes(codes)
    labels = check_labels(labels, len(codes))
    return plane_clustering(tsne(codes, seed), labels, seed)


def plane_clustering(plane: ArrayLike, labels: ArrayLike, seed: int = 0) -> Clustering:
    """Return the result of `clustering_accuracy` for a given plane (n, 2)."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    plane = check_codes(plane)
    labels = check_labels(labels, len(plane))
    classes = int(labels.max()) + 1
    if not 2 <= classes < len(labels):
        raise ValueError(
            f"clustering needs at least 2 classes and more samples than classes; got {classes} classes in "
            f"{len(labels)} samples; pass more samples."
        )
    # k-means cannot form more clusters than there are distinct points, and would warn.
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


def _measure(data: Encoded) -> Iterator[Measurement]:
    indices = data.labelled_indices()
    labels, sources = data.labels_of(indices), data.sources_of(indices)
    for block, codes in data.latents.take(indices).items():
        plane = tsne(codes)
        result = plane_clustering(plane, labels)
        halves = enumerate(random_halves(labels, data.seeds, sources=sources))
        repeats = [plane_clustering(plane[half], labels[half], seed) for seed, half in halves]
        interval = halves_interval(result.accuracy, [one.accuracy for one in repeats], (0, 1))
        yield Measurement(f"clustering.{block}", result.accuracy, interval, result.n)
        interval = fold_interval(result.random, result.shuffles, (0, 1))
        yield Measurement(f"clustering_random.{block}", result.random, interval, result.n)
        interval = halves_interval(result.silhouette, [one.silhouette for one in repeats], (-1, 1))
        yield Measurement(f"silhouette.{block}", result.silhouette, interval, result.n)


METRIC = Metric(
    name="clustering",
    function=_measure,
    description="Accuracy of k-means in the t-SNE plane of each block, that of shuffled labels, and the labels' silhouette.",
    scores={
        "clustering": ScoreInfo(
            "Do clusters that are computed without labels agree with the classes? Accuracy of k-means in the t-SNE plane, "
            "best matching.",
            LABELS_HIGHER,
        ),
        "clustering_random": ScoreInfo("Chance level of the clustering score: the same for shuffled labels.", INFO),
        "silhouette": ScoreInfo(
            "Are the classes separated in the t-SNE plane? 1 is well separated, 0 is touching, below 0 is mixed.", LABELS_HIGHER
        ),
    },
    requires=(LABELS,),
    default=True,
)
