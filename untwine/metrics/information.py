"""Entropies and mutual information of columns of classes, in nats."""

from __future__ import annotations

import numpy as np

from untwine._typing import Array


def mutual_information(a: Array, b: Array) -> Array:
    """Return I(a_i; b_j) (d, k) of columns of integers from 0, a (n, d) and b (n, k).

    sum p(u, v) log(p(u, v) / (p(u) p(v))), from the counts of the samples. From 0 to the smaller of the two entropies.
    """
    widths, height = b.max(axis=0) + 1, int(a.max()) + 1
    starts = np.cumsum(widths) - widths
    total = int(widths.sum())
    values = np.empty((a.shape[1], b.shape[1]))
    places = b + starts  # every value of every factor has a column of its own in one table of counts
    for i, column in enumerate(a.T):
        counts = np.bincount((column[:, None] * total + places).ravel(), minlength=height * total)
        tables = np.split(counts.reshape(height, total), starts[1:], axis=1)
        values[i] = [_information(table / len(a)) for table in tables]
    return np.maximum(values, 0.0)


def entropy(b: Array) -> Array:
    """Return the entropy (k,) of each column of integers from 0."""
    shares = [np.bincount(column) / len(b) for column in b.T]
    return np.array([max(0.0, -float((p[p > 0] * np.log(p[p > 0])).sum())) for p in shares])


def _information(p: Array) -> float:
    independent = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    positive = p > 0
    return float((p[positive] * np.log(p[positive] / independent[positive])).sum())
