"""Matrices in files, such as X of a backed AnnData: read a few samples at a time, so that memory holds only what is kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.registry.sparse_vectors import is_sparse, samples_at_once, to_csr

NONZEROS = 4_000_000  # of a sparse matrix that are read at a time, about


def read_matrix(matrix: Any, columns: Array | None = None, at_once: bool = False) -> Any:
    """Return a matrix (n, d) in memory as float32: sparse as CSR, dense as an array.

    Parameters
    ----------
    matrix
        An array, a sparse matrix of scipy, or one in a file: a data set of h5py or zarr, or the sparse one of anndata.
    columns
        Positions of the features to keep, in increasing order; all where not given.
    at_once
        Read a matrix in a file at once, and not a few samples at a time.
    """
    stored_sparse = not is_sparse(matrix) and getattr(matrix, "format", None) in ("csr", "csc")
    if stored_sparse:
        return _read_sparse(matrix, columns, at_once)
    if is_sparse(matrix):
        return to_csr(matrix if columns is None else matrix.tocsr()[:, columns])
    if isinstance(matrix, np.ndarray):
        return matrix if columns is None else matrix[:, columns]
    return _read_dense(matrix, columns, at_once)


def _read_sparse(matrix: Any, columns: Array | None, at_once: bool) -> Any:
    from scipy import sparse

    n, d = matrix.shape
    if at_once:
        return read_matrix(matrix.to_memory(), columns)
    by_sample = matrix.format == "csr"
    major, size = (n, _lines_at_once(matrix, n)) if by_sample else (d, _lines_at_once(matrix, d))
    keep = np.arange(d) if columns is None else np.asarray(columns)
    kept = []
    for start in range(0, major, size):
        end = min(major, start + size)
        if by_sample:
            some = to_csr(matrix[start:end])
            kept.append(some if columns is None else some[:, keep])
        elif len(inside := keep[(keep >= start) & (keep < end)]):
            some = sparse.csc_array(matrix[:, start:end])
            some.check_format(full_check=True)
            kept.append(some[:, inside - start].astype(np.float32))
    if by_sample:
        return to_csr(sparse.vstack(kept, format="csr"))
    return to_csr(sparse.hstack(kept, format="csc"))


def _lines_at_once(matrix: Any, lines: int) -> int:
    """Return how many lines (samples of CSR, features of CSC) have about `NONZEROS` values."""
    stored = getattr(matrix, "group", None)
    many = int(stored["data"].shape[0]) if stored is not None else lines
    return max(1, min(lines, int(NONZEROS * lines / max(1, many))))


def _read_dense(matrix: Any, columns: Array | None, at_once: bool) -> Array:
    n, d = matrix.shape
    keep = slice(None) if columns is None else columns
    whole = np.empty((n, d if columns is None else len(columns)), dtype=np.float32)
    size = n if at_once else samples_at_once(d)
    for start in range(0, n, size):
        with np.errstate(over="ignore"):
            whole[start : start + size] = np.asarray(matrix[start : start + size])[:, keep]
    return whole
