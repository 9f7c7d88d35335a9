"""Batches of codes that share the value of one factor: from given samples, or from a function that draws codes for factors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import check_codes
from untwine.metrics.ground_truth import Continuous, discretise_factors, varying_mask

Draw = Callable[[Array], ArrayLike]
# Codes (m, size, d) of m batches: the samples of a batch share the value of its factor, all of them or pair by pair.
Batches = Callable[[Array, int, np.random.Generator], Iterator[Array]]

# Samples drawn at once: enough to be quick, few enough to stay in the cache.
CHUNK = 16_384


def batches_from_samples(
    codes: ArrayLike, factors: ArrayLike, continuous: Continuous, metric: str, paired: bool
) -> tuple[Array, Batches]:
    """Return which factors vary (k,), and a function that draws batches among the given samples.

    The value that a batch shares is that of a random sample, so frequent values are drawn more often. Samples whose value no
    other sample has cannot be compared, and are not drawn.
    """
    table = check_codes(codes)
    classes = discretise_factors(factors, len(table), continuous)
    usable = np.array([np.bincount(y)[y] > 1 for y in classes.T])
    varies = varying_mask(classes, metric, least=2) & usable.any(axis=1)
    if varies.sum() < 2:
        raise ValueError(
            f"{metric} needs at least 2 factors that vary and have a value that two samples share; got {varies.sum()} among "
            f"{len(varies)}; pass more samples, or factors of fewer values."
        )
    lists = [_same_value(y, mask) for y, mask in zip(classes.T, usable, strict=True)]

    def batches(shared: Array, size: int, rng: np.random.Generator) -> Iterator[Array]:
        values = size // 2 if paired else 1
        for chunk in _chunks(shared, size):
            chosen = np.empty((len(chunk), size), dtype=np.int64)
            for j in np.unique(chunk):
                own = np.flatnonzero(chunk == j)
                order, starts, counts = lists[j]
                # The start and the length of the run of equal values around a random place of the sorted samples.
                place = (rng.random((len(own), values)) * len(order)).astype(np.int64)
                first, count = (np.repeat(a[place], size // values, axis=1) for a in (starts, counts))
                chosen[own] = order[first + (rng.random((len(own), size)) * count).astype(np.int64)]
            yield table[chosen]

    return varies, batches


def batches_from_draws(draw: Draw, sizes: Sequence[int], metric: str, paired: bool) -> tuple[Array, Batches]:
    """Return which factors vary (k,), and a function that draws batches through `draw`, all factors uniform."""
    widths = np.asarray(sizes)
    if widths.ndim != 1 or widths.dtype.kind not in "ui" or not len(widths) or widths.min() < 1 or (widths > 1).sum() < 2:
        raise ValueError(f"sizes must have at least 2 factors of 2 values or more; got {list(sizes)} for {metric}.")

    def batches(shared: Array, size: int, rng: np.random.Generator) -> Iterator[Array]:
        for chunk in _chunks(shared, size):
            factors = np.stack([rng.integers(0, width, (len(chunk), size)) for width in widths], axis=2)
            own = np.arange(len(chunk))
            values = factors[own, :, chunk]
            # Samples 2 i and 2 i + 1 are a pair, and share their own value; otherwise all share that of the first.
            values = np.repeat(values[:, ::2], 2, axis=1) if paired else np.repeat(values[:, :1], size, axis=1)
            factors[own, :, chunk] = values
            codes = check_codes(draw(factors.reshape(-1, len(widths))))
            if len(codes) != factors.shape[0] * size:
                raise ValueError(f"draw must return codes of {factors.shape[0] * size} samples; got {len(codes)}.")
            yield codes.reshape(len(chunk), size, -1)

    return widths > 1, batches


def _same_value(y: Array, usable: Array) -> tuple[Array, Array, Array]:
    """Return the usable samples sorted by value, and for each place the start and the length of its run of equal values."""
    indices = np.flatnonzero(usable)
    order = indices[np.argsort(y[indices], kind="stable")]
    sizes = np.bincount(y[order], minlength=int(y.max()) + 1)
    starts = np.cumsum(sizes) - sizes
    return order, starts[y[order]], sizes[y[order]]


def _chunks(shared: Array, size: int) -> list[Array]:
    return np.array_split(shared, max(1, -(-len(shared) * size // CHUNK)))
