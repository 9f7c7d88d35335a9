"""The images of class-supervised methods: every class with every content, and the nearest neighbours by each."""

from __future__ import annotations

import numpy as np

from untwine._typing import Array
from untwine.latents import Latents
from untwine.metrics.encoded import Fitted, encode
from untwine.runs.gallery import ClassSwaps, Neighbours
from untwine.samples import Samples

SWAPPED = 8  # images along each edge of the grid
SOURCES, NEAREST = 6, 5  # images whose neighbours are shown, and how many of each


def class_swaps(method: Fitted, samples: Samples, order: Array) -> ClassSwaps:
    """Return the first images of an order, and the grid of each one's class with each one's content.

    The diagonal of the grid holds reconstructions.
    """
    sources = samples[order[:SWAPPED]]
    k, z = len(sources), encode(method, sources)
    cells = method.decode(z.cross(z, "content"))
    return ClassSwaps(sources.x, cells.reshape(k, k, *samples.shape))


def nearest_images(latents: Latents, x: Array, samples: Array, order: Array) -> Neighbours:
    """Return some images and, of all whose codes are given, those nearest to them in each block, themselves left out.

    Parameters
    ----------
    latents
        The codes of `x[samples]`.
    x, samples
        Images, and the indices (ascending) of those whose codes are given.
    order
        Indices, the first of which are those whose neighbours are returned.
    """
    sources = order[:SOURCES]
    own = np.searchsorted(samples, sources)
    near = {block: x[samples[nearest(codes, own, NEAREST)]] for block, codes in latents.items()}
    return Neighbours(x[sources], near)


def nearest(codes: Array, queries: Array, k: int) -> Array:
    """Return for each of some samples (q,) of codes (n, d) the indices (q, k) of those nearest to it, the nearest first."""
    k = min(k, len(codes) - 1)
    distances = np.stack([np.square(codes - codes[query]).sum(axis=1, dtype=np.float64) for query in queries])
    distances[np.arange(len(queries)), queries] = np.inf
    return np.argsort(distances, axis=1, kind="stable")[:, :k]
