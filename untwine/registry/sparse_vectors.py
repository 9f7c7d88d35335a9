"""Vectors that are kept sparse: a CSR array in one form, of which a few samples at a time are made dense."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from untwine._typing import Array

ELEMENTS = 1_000_000  # that are made dense at a time: 8 MB as float64


def is_sparse(x: object) -> bool:
    """Whether x is a sparse matrix or array of scipy, which is not imported for this."""
    return hasattr(x, "tocsr") and hasattr(x, "nnz")


def to_csr(x: Any) -> Any:
    """Return a sparse matrix (n, d) as a CSR array of float32 in its canonical form; x itself is never changed.

    Canonical: the features of a sample are sorted, none comes twice, and no zero is stored. Equal matrices have equal arrays.
    """
    from scipy import sparse

    csr: Any = sparse.csr_array(x)
    csr.check_format(full_check=True)  # an index that is out of bounds would read other memory
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    with np.errstate(over="ignore"):  # what is too large becomes infinite, which is refused
        csr = csr.astype(np.float32, copy=False)
    if np.count_nonzero(csr.data) < csr.nnz:
        csr = csr.copy()
        csr.eliminate_zeros()
    return csr


def to_dense(x: Array) -> Array:
    """Return x as an array: a sparse one is made dense, all others are returned as they are."""
    return x.toarray() if is_sparse(x) else x  # type: ignore[attr-defined]


def stack(sets: Sequence[Array]) -> Array:
    """Return the samples of several sets in one array; sparse where one of them is."""
    if not any(map(is_sparse, sets)):
        return np.concatenate(sets)
    from scipy import sparse

    return to_csr(sparse.vstack([sparse.csr_array(x) for x in sets], format="csr"))  # type: ignore[no-any-return]


def samples_at_once(features: int) -> int:
    """Return how many samples of so many features are made dense at a time."""
    return max(1, ELEMENTS // max(1, features))


def dense_chunks(x: Array) -> Iterator[tuple[slice, Array]]:
    """Yield the samples of sparse x (n, d) in their order, a few at a time and dense, with their positions."""
    n, size = x.shape[0], samples_at_once(x.shape[1])
    for start in range(0, n, size):
        chosen = slice(start, min(n, start + size))
        yield chosen, to_dense(x[chosen])


def mean_and_std(x: Array) -> tuple[Array, Array]:
    """Return mean (d,) and standard deviation (d,) of each feature of x (n, d), as float64.

    Of a sparse x they are summed in the order in which numpy sums an array of several features: both are bit-exact.
    """
    if not is_sparse(x):
        return x.mean(0, dtype=np.float64), x.std(0, dtype=np.float64)
    n, d = x.shape
    mean = np.bincount(x.indices, weights=x.data, minlength=d) / n  # type: ignore[attr-defined]
    squares = np.zeros((1, d))
    for _, chunk in dense_chunks(x):
        squares = np.concatenate([squares, np.square(chunk - mean)]).sum(0, keepdims=True)
    return mean, np.sqrt(squares[0] / n)
