"""Whether target and background stand apart in the codes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import code_rows
from untwine.metrics.intervals import halves

MOST_ROWS = 2_000


class Groups(NamedTuple):
    """What `groups` found: the silhouette, that of random halves of the rows, and how many rows of each group were drawn."""

    silhouette: float
    halves: tuple[float, ...]
    n: int


def groups(target: ArrayLike, background: ArrayLike, n: int | None = None, seed: int = 0, repeats: int = 5) -> Groups:
    """Return the silhouette of target against background, for n codes (n, d) of each.

    mean_i (b_i - a_i) / max(a_i, b_i), a_i being the mean distance of row i to the others of its group and b_i that to the
    other group. In [-1, 1]: 1 means two far points, 0 two clouds in one place (constant codes get 0), below 0 that rows lie
    closer to the other group than to their own. Lower is better for a part that both groups share, higher for the salient
    part. A background that is one point in the middle of a wide target does not reach 1: its own rows get 1, but those of
    the target lie closer to that point than to each other and get about -0.3, so a good salient part of many dimensions,
    centred on the background, scores 0.35.

    As many rows of each group are drawn without replacement: the smaller group's size, at most 2,000, unless `n` is given.
    """
    from scipy.spatial.distance import cdist

    target, background = code_rows(target), code_rows(background)
    if target.shape[1] != background.shape[1]:
        raise ValueError(
            f"groups expected codes of one width; got {target.shape[1]} for the target and {background.shape[1]} for the "
            "background; pass the same block of both."
        )
    most = min(len(target), len(background))
    n = min(most, MOST_ROWS) if n is None else n
    if not 2 <= n <= most:
        raise ValueError(f"groups expected n from 2 to {most}, the size of the smaller group; got {n}.")
    rng = np.random.default_rng(seed)
    codes = np.concatenate([rows[rng.permutation(len(rows))[:n]] for rows in (target, background)])
    distances = cdist(codes, codes)
    parts = halves(np.repeat([0, 1], n), repeats, seed) if n >= 4 else ()
    return Groups(
        silhouette=_silhouette(distances, n),
        halves=tuple(_silhouette(distances[np.ix_(half, half)], len(half) // 2) for half in parts),
        n=n,
    )


def _silhouette(distances: Array, n: int) -> float:
    """Return the silhouette of the first n rows against the last n, from all distances."""
    to_first, to_last = (distances[:, part].sum(1) for part in (slice(None, n), slice(n, None)))
    first = np.arange(2 * n) < n
    own, other = np.where(first, to_first, to_last) / (n - 1), np.where(first, to_last, to_first) / n
    larger = np.maximum(own, other)
    return float(np.divide(other - own, larger, out=np.zeros(2 * n), where=larger > 0).mean())
