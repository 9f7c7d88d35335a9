"""Agreement of k-means clusters of the codes with the classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine.metrics.checks import check_codes, check_labels
from untwine.metrics.directions import LABELS_HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.intervals import halves_interval, random_halves
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.metrics.requirements import LABELS
from untwine.training.threads import one_thread


class Agreement(NamedTuple):
    """The adjusted Rand index, the normalised mutual information, and the number of clustered samples."""

    ari: float
    nmi: float
    n: int


def cluster_agreement(codes: ArrayLike, labels: ArrayLike, seed: int = 0) -> Agreement:
    """Return how well k-means clusters of codes (n, d) agree with labels (n,).

    As many clusters as classes, 10 initialisations, on the codes as they are (no t-SNE, no scaling).
    ARI = (R - E) / (M - E), R being the number of pairs of samples that are together in both, E its expectation for random
    partitions and M its maximum: in [-0.5, 1], 1 for the same partition, 0 on average for random ones.
    NMI = 2 I(c; y) / (H(c) + H(y)): in [0, 1], 1 for the same partition, 0 for independent ones; for unrelated partitions of n
    samples it stays a little above 0, the more the smaller n. Higher is better where the class should be encoded, lower where
    it should not. Constant codes form one cluster: 0 and 0.
    """
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    codes = check_codes(codes)
    labels = check_labels(labels, len(codes))
    classes = int(labels.max()) + 1
    if not 2 <= classes < len(labels):
        raise ValueError(
            f"cluster_agreement needs at least 2 classes and more samples than classes; got {classes} classes in "
            f"{len(labels)} samples; pass more samples."
        )
    # k-means cannot form more clusters than there are distinct points, and would warn.
    k = min(classes, len(np.unique(codes, axis=0)))
    with one_thread():
        clusters = KMeans(k, n_init=10, random_state=seed).fit_predict(codes)
    return Agreement(
        ari=float(adjusted_rand_score(labels, clusters)),
        nmi=float(np.clip(normalized_mutual_info_score(labels, clusters), 0.0, 1.0)),
        n=len(labels),
    )


def _measure(data: Encoded) -> Iterator[Measurement]:
    indices = data.labelled_indices()
    labels, sources = data.labels_of(indices), data.sources_of(indices)
    for block, codes in data.latents.take(indices).items():
        result = cluster_agreement(codes, labels)
        halves = enumerate(random_halves(labels, data.seeds, sources=sources))
        repeats = [cluster_agreement(codes[half], labels[half], seed) for seed, half in halves]
        interval = halves_interval(result.ari, [one.ari for one in repeats], (-0.5, 1))
        yield Measurement(f"ari.{block}", result.ari, interval, result.n)
        interval = halves_interval(result.nmi, [one.nmi for one in repeats], (0, 1))
        yield Measurement(f"nmi.{block}", result.nmi, interval, result.n)


METRIC = Metric(
    name="agreement",
    function=_measure,
    description="Agreement of k-means clusters of each block with the labels: adjusted Rand index and mutual information.",
    scores={
        "ari": ScoreInfo(
            "Do k-means clusters of the codes agree with the classes? Adjusted Rand index: 1 is the same, 0 is chance.",
            LABELS_HIGHER,
        ),
        "nmi": ScoreInfo(
            "The same as normalised mutual information: 1 is the same partition, 0 is independent.", LABELS_HIGHER
        ),
    },
    requires=(LABELS,),
    default=True,
)
