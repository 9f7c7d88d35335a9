"""Whether fits of different seeds find the same codes, up to rotation and scale: agreement of subspaces and of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import centred, check_codes

MAX_SAMPLES = 2_000


class Stability(NamedTuple):
    """How well the codes of several fits agree.

    Attributes
    ----------
    value
        The mean of `subspace` and `neighbours`.
    subspace
        The mean centred kernel alignment of all pairs of fits.
    neighbours
        The mean share of nearest neighbours that two fits have in common, beyond chance.
    pairs
        The `value` of each pair of fits.
    """

    value: float
    subspace: float
    neighbours: float
    pairs: tuple[float, ...]


def stability_score(codes: Sequence[ArrayLike], neighbours: int = 10, seed: int = 0) -> Stability:
    r"""Return how well the codes (n, d_m) of the same samples by several fits, such as of several seeds, agree.

    For each pair of fits two numbers in [0, 1], of which the value is the mean:

    - *subspace*: linear centred kernel alignment, $HSIC(K, L) / \sqrt{HSIC(K, K) HSIC(L, L)}$ with $K = X X^T$, $L = Y Y^T$
      and the unbiased HSIC of Song et al. (2012), so that independent codes score 0 however wide they are; negative ones too.
    - *neighbours*: the share of a sample's `neighbours` nearest ones in X that are among those in Y, o, as (o - c) / (1 - c)
      with c = neighbours / (n - 1), the share of unrelated codes.

    Higher is better: 1 means the same codes up to rotation, reflection, one scale and a shift; 0 that nothing is in common.
    Codes that are constant, as of a collapsed block, agree with nothing: 0. A dimension that is stretched counts more in
    both. Blind to what all fits share, be it wrong. At most 2,000 samples are used, drawn by `seed`. Version 1.
    """
    tables = [check_codes(one) for one in codes]
    if len(tables) < 2 or len({len(table) for table in tables}) > 1:
        raise ValueError(
            f"codes must be of the same samples, from at least 2 fits; got shapes {[t.shape for t in tables]}; fit other seeds."
        )
    chosen = np.sort(np.random.default_rng(seed).permutation(len(tables[0]))[:MAX_SAMPLES])
    tables = [centred(table[chosen]) for table in tables]
    n = len(chosen)
    if isinstance(neighbours, bool) or not isinstance(neighbours, int) or not 1 <= neighbours <= n - 2 or n < 4:
        raise ValueError(
            f"neighbours must be an integer of at least 1 and smaller than the number of samples less 1; got {neighbours!r} of "
            f"{n} samples; pass more samples."
        )
    kernels = [_kernel(table) for table in tables]
    nearest = [None if kernel is None else _nearest(table, neighbours) for table, kernel in zip(tables, kernels, strict=True)]
    aligned, shared = [], []
    for i, j in combinations(range(len(tables)), 2):
        (a, b), (p, q) = (kernels[i], kernels[j]), (nearest[i], nearest[j])
        if a is None or b is None or p is None or q is None:
            aligned.append(0.0)
            shared.append(0.0)
            continue
        scale = np.sqrt(max(_hsic(a, a), 0.0) * max(_hsic(b, b), 0.0))
        aligned.append(float(np.clip(_hsic(a, b) / scale, 0, 1)) if scale > 0 else 0.0)
        overlap = float((p[:, :, None] == q[:, None, :]).any(axis=2).mean())
        chance = neighbours / (n - 1)
        shared.append(float(np.clip((overlap - chance) / (1 - chance), 0, 1)))
    pairs = tuple((a + b) / 2 for a, b in zip(aligned, shared, strict=True))
    return Stability(float(np.mean(pairs)), float(np.mean(aligned)), float(np.mean(shared)), pairs)


def _kernel(table: Array) -> Array | None:
    """Return X X^T with a diagonal of 0, scaled to be finite; None where codes are constant but for rounding."""
    largest = np.abs(table).max()
    if not largest > 0:
        return None
    kernel: Array = (table / largest) @ (table / largest).T
    np.fill_diagonal(kernel, 0.0)
    return kernel


def _hsic(a: Array, b: Array) -> float:
    """Return n (n - 3) times the unbiased HSIC of two kernels with a diagonal of 0."""
    n = len(a)
    whole = float(a.sum() * b.sum()) / ((n - 1) * (n - 2))
    return float((a * b).sum()) + whole - 2 * float(a.sum(axis=0) @ b.sum(axis=0)) / (n - 2)


def _nearest(table: Array, neighbours: int) -> Array:
    """Return the indices (n, neighbours) of the nearest other samples."""
    scaled = table / np.abs(table).max()
    squares = np.square(scaled).sum(axis=1)
    distances = squares[:, None] + squares - 2 * scaled @ scaled.T
    np.fill_diagonal(distances, np.inf)
    return np.argpartition(distances, neighbours, axis=1)[:, :neighbours]
