"""Which samples and factors are scored, and which samples are shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from untwine._typing import Array
from untwine.registry.sparse_vectors import is_sparse
from untwine.samples import Samples

MAX_DENSE = 50_000_000  # elements of sparse samples that are made dense for a network
BACKGROUND = 0
UNKNOWN = -1


def target_mask(groups: Array | None, n: int) -> Array:
    """Return the mask (n,) of target samples: all samples, where there are no groups."""
    return np.ones(n, dtype=bool) if groups is None else groups != BACKGROUND


def labelled_indices(labels: Array | None, target: Array, least: int) -> Array:
    """Return the indices of target samples whose label is known, in classes that have at least `least` of them."""
    if labels is None:
        return np.empty(0, dtype=int)
    indices = np.flatnonzero(target & (labels != UNKNOWN))
    sizes = np.bincount(labels[indices], minlength=1)
    return indices[sizes[labels[indices]] >= least]


def varying_factors(factors: Array | None, names: Sequence[str], target: Array, least: int, salient: bool) -> Array:
    """Return the indices of the factors that vary over the target samples and are known for at least `least` of them.

    Factors whose name starts with "salient " belong to the salient block; all others belong to the common block.
    """
    if factors is None:
        return np.empty(0, dtype=int)
    values = [y[~np.isnan(y)] for y in factors[target].T]
    varies = [len(known) >= least and bool(np.ptp(known) > 0) for known in values]
    return np.flatnonzero([vary and name.startswith("salient ") == salient for vary, name in zip(varies, names, strict=False)])


def affordable(samples: Samples, indices: Array) -> Array:
    """Return the samples that are made dense, to train a network on: of very many sparse ones a random subset."""
    most = MAX_DENSE // samples.shape[0] if is_sparse(samples.x) else len(indices)
    return indices if len(indices) <= most else np.sort(np.random.default_rng(0).permutation(indices)[:most])


def class_balanced_order(labels: Array | None, indices: Array, rng: np.random.Generator) -> Array:
    """Return the indices in an order that cycles through the classes, at random within each; unknown labels come last."""
    indices = rng.permutation(indices)
    if labels is None or not len(indices):
        return indices
    classes = labels[indices]
    turn = np.empty(len(indices), dtype=int)
    for c in np.unique(classes):
        turn[classes == c] = np.arange((classes == c).sum())
    return indices[np.lexsort((classes, turn, classes == UNKNOWN))]
