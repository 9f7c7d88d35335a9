"""The images that show class and content apart, as arrays: every class with every content, and what is near in each space."""

from __future__ import annotations

import numpy as np

from untwine._typing import Array
from untwine.latents import Latents
from untwine.metrics.encoded import Fitted

SWITCHED = 8  # images along each edge of the grid
SOUGHT, NEAREST = 6, 5  # images whose neighbours are sought, and how many of each


def switched(method: Fitted, x: Array, order: Array) -> dict[str, Array]:
    """Return the first images of an order, and the grid of each one's class with each one's content.

    `switch_grid` (k, k, ...) has in row i and column j the class of `switch_sources[i]` and the content of
    `switch_sources[j]`, so its diagonal holds reconstructions.
    """
    sources = x[order[:SWITCHED]]
    k, z = len(sources), method.encode(sources)
    i, j = np.divmod(np.arange(k * k), k)
    cells = method.decode(z.take(i).swap(z.take(j), "content"))
    return {"switch_sources": sources, "switch_grid": cells.reshape(k, k, *x.shape[1:])}


def nearest_images(latents: Latents, x: Array, rows: Array, order: Array) -> dict[str, Array]:
    """Return some images and, of all whose codes are given, those nearest to them in each block, themselves left out.

    Parameters
    ----------
    latents
        The codes of `x[rows]`.
    x, rows
        Images, and the indices (ascending) of those whose codes are given.
    order
        Indices, the first of which are those sought for.
    """
    sought = order[:SOUGHT]
    own = np.searchsorted(rows, sought)
    found = {f"near_{block}": x[rows[nearest(codes, own, NEAREST)]] for block, codes in latents.items()}
    return {"near_sources": x[sought], **found}


def nearest(codes: Array, rows: Array, many: int) -> Array:
    """Return for each of some rows (k,) of codes (n, d) the indices (k, many) of those nearest to it, the nearest first."""
    many = min(many, len(codes) - 1)
    apart = np.stack([np.square(codes - codes[row]).sum(axis=1, dtype=np.float64) for row in rows])
    apart[np.arange(len(rows)), rows] = np.inf
    return np.argsort(apart, axis=1, kind="stable")[:, :many]
