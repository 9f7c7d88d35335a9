"""Splits and folds that keep the samples of one source together: one patient, one donor, one original digit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array


def repeated_sources(sources: ArrayLike | None, n: int) -> Array | None:
    """Return the sources of n samples numbered from 0; None where no source has several samples, so that they do not matter."""
    if sources is None:
        return None
    column = np.asarray(sources)
    if column.shape != (n,) or column.dtype.kind not in "uibUS":
        raise ValueError(
            f"sources must be integers or strings of shape ({n},), one for each sample; got {column.dtype} of shape "
            f"{column.shape}."
        )
    unique, numbers = np.unique(column, return_inverse=True)
    return None if len(unique) == n else numbers.reshape(-1)


def assign_sources(
    sources: Array, strata: Array, shares: Sequence[float], rng: np.random.Generator, largest_first: bool = False
) -> Array:
    """Return for each sample the number (n,) of the subset that its whole source goes to, one subset for each of the shares.

    Sources in random order, or the largest first, are each put where sum_ps (c_ps - t_ps)^2 / t_ps grows least, c_ps being the
    number of samples of stratum s in subset p and t_ps its share of that stratum; all samples together are a stratum too, so
    that no subset of equal shares stays empty where there are enough sources.
    """
    _, columns = np.unique(strata, return_inverse=True)
    counts = np.zeros((int(sources.max()) + 1, int(columns.max()) + 2))
    np.add.at(counts, (sources, columns.reshape(-1)), 1)
    counts[:, -1] = counts.sum(axis=1)
    goals = np.outer(shares, counts.sum(axis=0))
    order = rng.permutation(len(counts))
    if largest_first:
        order = order[np.argsort(-counts[order, -1], kind="stable")]
    placed, numbers = np.zeros_like(goals), np.empty(len(counts), dtype=int)
    for source in order:
        own = counts[source]
        growth = ((2 * (placed - goals) + own) * own / goals).sum(axis=1)
        numbers[source] = growth.argmin()
        placed[numbers[source]] += own
    return np.asarray(numbers[sources])


def source_folds(sources: Array, strata: Array, folds: int, seed: int) -> list[Array]:
    """Return the test samples of each fold, whole sources, with as equal counts of each stratum as they allow."""
    if (many := len(np.unique(sources))) < folds:
        raise ValueError(
            f"samples must come from at least {folds} sources, one for every fold; got {many}; lower folds or add sources."
        )
    fold_of = assign_sources(sources, strata, [1 / folds] * folds, np.random.default_rng(seed), largest_first=True)
    return [np.flatnonzero(fold_of == fold) for fold in range(folds)]


def linked_sources(*columns: Array) -> Array:
    """Return one source (n,) for each sample from several things that it was made of: samples that share one share a source.

    Chains count: where a shares its digit with b, and b its photograph with c, all three are one source. Negative numbers mean
    that a sample was made without.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, edges = len(columns[0]), []
    nodes = n
    for column in columns:
        having = np.flatnonzero(column >= 0)
        unique, numbers = np.unique(column[having], return_inverse=True)
        edges.append(np.stack([having, nodes + numbers.reshape(-1)]))
        nodes += len(unique)
    rows, others = np.concatenate(edges, axis=1)
    graph = coo_array((np.ones(len(rows), dtype=bool), (rows, others)), shape=(nodes, nodes))
    return np.asarray(connected_components(graph, directed=False)[1][:n])
