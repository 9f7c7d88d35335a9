r"""The leading eigenvectors of $S = \sum_i U_i^T U_i$ by a randomised block Krylov method, from the blocks U_i (c, s) alone.

Musco and Musco, *Randomized Block Krylov Methods for Stronger and Faster Approximate Singular Value Decomposition*, 2015: the
eigenvectors are sought in the span of $Z, S Z, S^2 Z, \dots$ for a random Z, sooner than in $S^i Z$ alone.
Everything is in single precision; the eigenvectors are the same for the same seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from untwine._typing import Array

Blocks = Callable[[], Iterator[Array]]
POWERS = 8  # blocks of the Krylov space; with each of 0.4 k columns it has 3.2 times as many directions as are wanted
SHARE = 0.4
EXPLICIT = 6_000  # up to this size S itself is computed, which then costs less than to read the blocks for each power
ROUNDING = 1e-6  # eigenvalues below this fraction of the largest are rounding errors of single precision


def leading_eigenvectors(blocks: Blocks, size: int, k: int, seed: int) -> Array:
    """Return the k leading eigenvectors (size, r) of S, or as many as have an eigenvalue that is not 0."""
    from scipy import linalg

    multiply, width = _multiplication(blocks, size), int(np.ceil(SHARE * k))
    basis, products = (np.empty((size, POWERS * width), dtype=np.float32) for _ in range(2))
    Z = np.random.default_rng(seed).standard_normal((size, width), dtype=np.float32)
    for start in range(0, POWERS * width, width):
        one = slice(start, start + width)
        basis[:, one] = _orthonormal(Z, basis[:, :start])
        Z = multiply(basis[:, one])
        products[:, one] = Z
    inside = (basis.T @ products).astype(np.float64)
    values, vectors = linalg.eigh((inside + inside.T) / 2, subset_by_index=(len(inside) - k, len(inside) - 1))
    positive = values > ROUNDING * max(values[-1], 0.0)
    return np.asarray(basis @ vectors[:, positive][:, ::-1].astype(np.float32))


def orthonormalise(columns: Array) -> Array:
    """Return an orthonormal basis (d, r), in double precision, of columns that are linearly independent."""
    from scipy import linalg

    Q = columns.astype(np.float64)
    Q /= np.linalg.norm(Q, axis=0)
    for _ in range(2):  # the second time for the rounding errors of the first
        Q = linalg.solve_triangular(np.linalg.cholesky(Q.T @ Q), Q.T, lower=True, overwrite_b=True).T
    return Q


def _multiplication(blocks: Blocks, size: int) -> Callable[[Array], Array]:
    if size > EXPLICIT:
        return lambda Z: sum((U.T @ (U @ Z) for U in blocks()), np.zeros(Z.shape, dtype=np.float32))
    S = np.zeros((size, size), dtype=np.float32)
    for U in blocks():
        S += U.T @ U
    return lambda Z: S @ Z


def _orthonormal(Z: Array, basis: Array) -> Array:
    """Return an orthonormal basis of Z that is orthogonal to one that is: of random directions where Z lies in its span."""
    for _ in range(2):
        Z = np.linalg.qr(Z - basis @ (basis.T @ Z))[0]
    return Z
