"""Gradient boosting of small trees on discretised columns: the trees of all classes grow at once, from sums over bins."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from untwine._typing import Array

TREES, DEPTH, RATE, BINS = 100, 3, 0.1, 128


class Boosted(NamedTuple):
    """Each column's share of the gain (d,), and predictions for the train and the test samples."""

    importances: Array
    train: Array
    test: Array


class _Split(NamedTuple):
    """The split of each node (nodes, K): the column, the last bin that goes left, and what it gains."""

    column: Array
    last: Array
    gain: Array


def boost(train: Array, test: Array, y: Array, classes: int, seed: int = 0) -> Boosted:
    """Boost 100 trees of depth 3 at rate 0.1 for y (n,) on train (n, d), and predict both sets of samples.

    With `classes` above 0 the loss is the multinomial deviance (for two classes the binomial one) and y counts from 0; with 0
    it is the squared error. A tree's split maximises L^2 / n_L + R^2 / n_R - S^2 / n, where L, R and S are sums of the
    residuals on the left, on the right and in total, and the column's importance grows by that gain. Thresholds lie between at
    most 128 bins of equally many samples. Ties between columns are broken at random by `seed`.

    Arrays are (K, n): one row for each of the K trees that are grown together, one for each class.
    """
    rng = np.random.default_rng(seed)
    edges = [_edges(column) for column in train.T]
    bins, others = (
        np.stack([np.searchsorted(e, z) for e, z in zip(edges, codes.T, strict=True)]).astype(np.uint8)
        for codes in (train, test)
    )
    outputs = 1 if classes in (0, 2) else classes
    scores, far = (np.tile(_start(y, classes)[:, None], binned.shape[1]) for binned in (bins, others))
    truth = (np.arange(classes)[:, None] == y).astype(np.float64) if outputs > 1 else y[None].astype(np.float64)
    importances = np.zeros(train.shape[1])
    table = _one_hot(bins)
    for _ in range(TREES):
        residual, curvature = _residual(truth, scores, classes)
        splits, leaves = _grow(table, bins, residual, rng)
        for split in splits:
            importances += np.bincount(split.column.ravel(), split.gain.ravel(), minlength=len(importances))
        values = RATE * _leaf_values(leaves, residual, curvature)
        scores += np.take_along_axis(values, leaves, axis=1)
        node = np.zeros((outputs, others.shape[1]), dtype=np.uint8)
        for split in splits:
            node = _descend(others, node, split)
        far += np.take_along_axis(values, node, axis=1)
    total = importances.sum()
    return Boosted(importances / total if total > 0 else importances, _predicted(scores, classes), _predicted(far, classes))


def _edges(column: Array) -> Array:
    """Return the values up to which each bin but the last one goes."""
    values = np.unique(column)
    if len(values) > BINS:
        values = np.unique(np.quantile(column, np.linspace(0, 1, BINS + 1)[1:-1], method="inverted_cdf"))
        return values[:-1] if values[-1] == column.max() else values
    return values[:-1]


def _one_hot(bins: Array) -> Any:
    """Return the sparse table (d BINS, n) whose product with columns (n, m) sums them over every bin of every column."""
    from scipy.sparse import csr_array

    d, n = bins.shape
    places = (bins.T + np.arange(d) * BINS).ravel()
    return csr_array((np.ones(n * d), places, np.arange(n + 1) * d), shape=(n, d * BINS)).T


def _start(y: Array, classes: int) -> Array:
    if not classes:
        return np.array([y.mean()])
    shares = np.clip(np.bincount(y, minlength=classes) / len(y), 1e-7, 1 - 1e-7)
    return np.array([np.log(shares[1] / shares[0])]) if classes == 2 else np.log(shares)


def _residual(truth: Array, scores: Array, classes: int) -> tuple[Array, Array]:
    """Return what the next trees are fitted to, and the weights in the denominators of their leaves."""
    if not classes:
        return truth - scores, np.ones(scores.shape)
    if classes == 2:
        p = 1.0 / (1.0 + np.exp(-scores))
        return truth - p, p * (1.0 - p)
    p = np.exp(scores - scores.max(axis=0))
    p /= p.sum(axis=0)
    return truth - p, p * (1.0 - p) * (classes / (classes - 1.0))


def _grow(table: Any, bins: Array, residual: Array, rng: np.random.Generator) -> tuple[list[_Split], Array]:
    """Return the splits of each level of the trees of all outputs, and the leaf of each sample."""
    outputs, n = residual.shape
    node, across = np.zeros(residual.shape, dtype=np.uint8), np.ascontiguousarray(residual.T)
    sums, counts = _sums(table, across, np.zeros((n, outputs), dtype=np.uint8), 1)
    splits = [_best_split(sums, counts, rng)]
    for level in range(1, DEPTH):
        node = _descend(bins, node, splits[-1])
        # Only left children are summed: node 2 i + 1 has what node i has and 2 i has not.
        left = _sums(table, across, np.ascontiguousarray(node.T), 1 << (level - 1))
        sums, counts = (
            np.stack([small, whole - small], axis=3).reshape(*whole.shape[:2], -1, outputs)
            for small, whole in zip(left, (sums, counts), strict=True)
        )
        splits.append(_best_split(sums, counts, rng))
    return splits, _descend(bins, node, splits[-1])


def _sums(table: Any, residual: Array, node: Array, nodes: int) -> tuple[Array, Array]:
    """Return the sums of residuals and of samples (d, BINS, nodes, K) over the bins of nodes 0, 2, 4, ...."""
    columns = np.empty((len(residual), 2, nodes, residual.shape[1]))
    for i in range(nodes):
        columns[:, 1, i] = node == 2 * i
        np.multiply(columns[:, 1, i], residual, out=columns[:, 0, i])
    sums = (table @ columns.reshape(len(residual), -1)).reshape(-1, BINS, *columns.shape[1:])
    return sums[:, :, 0], sums[:, :, 1]


def _best_split(sums: Array, counts: Array, rng: np.random.Generator) -> _Split:
    left, n_left = sums.cumsum(axis=1), counts.cumsum(axis=1)
    whole, n = left[:, -1:], n_left[:, -1:]
    right, n_right = whole - left, n - n_left
    impossible = (n_left < 0.5) | (n_right < 0.5)
    gain = left * left / np.maximum(n_left, 1) + right * right / np.maximum(n_right, 1) - whole**2 / np.maximum(n, 1)
    gain[impossible] = 0.0
    # Small nodes are often split equally well by several columns; always taking the first would credit it with all of them.
    gain *= 1.0 + 1e-9 * rng.random((len(gain), 1, *gain.shape[2:]))
    flat = gain.reshape(-1, *gain.shape[2:])
    best = flat.argmax(axis=0)
    most = np.take_along_axis(flat, best[None], axis=0)[0]
    column, last = np.divmod(best, BINS)
    # Where nothing is gained all samples go left, and the right child stays empty.
    useful = most > 1e-12
    return _Split(column, np.where(useful, last, BINS).astype(np.uint8), np.where(useful, most, 0.0))


def _descend(bins: Array, node: Array, split: _Split) -> Array:
    """Return for each sample the child (K, n) of its node."""
    right = np.zeros(node.shape, dtype=bool)
    for i, (column, last) in enumerate(zip(split.column, split.last, strict=True)):
        right |= (bins[column] > last[:, None]) & (node == i)
    return np.asarray(2 * node + right)


def _leaf_values(leaves: Array, residual: Array, curvature: Array) -> Array:
    """Return sum(residual) / sum(curvature) of each leaf (K, leaves)."""
    shape = (len(residual), 1 << DEPTH)
    places = (leaves + np.arange(shape[0])[:, None] * shape[1]).ravel()
    top, bottom = (np.bincount(places, each.ravel(), minlength=shape[0] * shape[1]) for each in (residual, curvature))
    return np.divide(top, bottom, out=np.zeros(len(top)), where=bottom > 1e-150).reshape(shape)


def _predicted(scores: Array, classes: int) -> Array:
    if not classes:
        return np.asarray(scores[0])
    return np.asarray(scores[0] > 0, dtype=np.int64) if classes == 2 else np.asarray(scores.argmax(axis=0))
