"""Do clusters of the codes agree with the classes? k-means on the codes as they are, by two counts of pairs and of bits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine.metrics.checks import class_column, code_rows
from untwine.training.threads import one_thread


class Agreement(NamedTuple):
    """What `agreement` found: the adjusted Rand index, the normalised mutual information, and how many rows were clustered."""

    ari: float
    nmi: float
    n: int


def agreement(codes: ArrayLike, labels: ArrayLike, seed: int = 0) -> Agreement:
    """Return how well the clusters of k-means on codes (n, d) agree with labels (n,).

    As many clusters as classes, 10 starts, on the codes themselves (no plane, no scaling: the spread of a column counts).
    ARI = (R - E) / (M - E), R being the pairs of rows that are together in both, E what chance gives and M the most there could
    be: in [-0.5, 1], 1 for the same partition whatever the names, 0 on average for random ones. NMI = 2 I(c; y) / (H(c) +
    H(y)): in [0, 1], 1 for the same partition, 0 for independent ones; of unrelated partitions of n rows it stays a little
    above 0, the more the fewer the rows. Higher is better where the class should be, lower where it should not. Constant codes
    make one cluster: 0 and 0.
    """
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    codes = code_rows(codes)
    labels = class_column(labels, len(codes))
    classes = int(labels.max()) + 1
    if not 2 <= classes < len(labels):
        raise ValueError(
            f"agreement expected at least 2 classes and more rows than classes; got {classes} classes in "
            f"{len(labels)} rows; pass more rows."
        )
    # k-means cannot make more clusters than there are different points, and would warn.
    k = min(classes, len(np.unique(codes, axis=0)))
    with one_thread():
        clusters = KMeans(k, n_init=10, random_state=seed).fit_predict(codes)
    return Agreement(
        ari=float(adjusted_rand_score(labels, clusters)),
        nmi=float(np.clip(normalized_mutual_info_score(labels, clusters), 0.0, 1.0)),
        n=len(labels),
    )
