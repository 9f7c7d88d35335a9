"""How far two clouds of codes are apart: the exact squared Wasserstein distance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine.metrics.checks import code_rows

MOST_ROWS = 2_000


class Transport(NamedTuple):
    """What `w2` found: the squared distance, that over the codes' mean squared norm, and how many rows were drawn of each."""

    value: float
    relative: float
    n: int


def w2(target: ArrayLike, background: ArrayLike, n: int | None = None, seed: int = 0) -> Transport:
    """Return the exact squared 2-Wasserstein distance between n codes of the target and n of the background.

    W2^2 = min over permutations p of (1/n) sum_i |t_i - b_p(i)|^2, for n rows drawn from each set without replacement (the
    smaller set's size, at most 2,000, unless given), by an optimal assignment: no entropy, no slices. From 0, lower is better
    for a part that both groups should share: 0 means the same points. Two samples of one distribution do not reach 0: their
    distance falls slowly with n (about n^(-2/d) for d codes), so only values of equal n and width compare. `relative` is W2^2
    over the mean of all |t_i|^2 and |b_i|^2, which no rescaling of the codes changes: in [0, 4], 0 for the same points, 2 for
    clouds at right angles around 0, 4 for two opposite points. Codes that are all 0 get 0.
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    target, background = code_rows(target), code_rows(background)
    if target.shape[1] != background.shape[1]:
        raise ValueError(
            f"w2 expected codes of one width; got {target.shape[1]} for the target and {background.shape[1]} for the "
            "background; pass the same block of both."
        )
    most = min(len(target), len(background))
    n = min(most, MOST_ROWS) if n is None else n
    if not 1 <= n <= most:
        raise ValueError(f"w2 expected n from 1 to {most}, the size of the smaller set; got {n}.")
    rng = np.random.default_rng(seed)
    t = target[rng.permutation(len(target))[:n]]
    b = background[rng.permutation(len(background))[:n]]
    rows, columns = linear_sum_assignment(cdist(t, b, "sqeuclidean"))
    value = float(((t[rows] - b[columns]) ** 2).sum() / n)
    norm = float(((t**2).sum() + (b**2).sum()) / (2 * n))
    return Transport(value, value / norm if norm > 0 else 0.0, n)
