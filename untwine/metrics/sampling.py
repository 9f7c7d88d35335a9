"""Batches of codes that share the value of one factor: from rows in hand, or from a function that draws codes for factors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import code_rows
from untwine.metrics.truths import Continuous, class_columns, varying

Draw = Callable[[Array], ArrayLike]
# Codes (m, rows, d) for the factor that each of m batches shares, all rows of a batch with one value of it, or pair by pair.
Batches = Callable[[Array, int, np.random.Generator], Iterator[Array]]

# Rows drawn at once: enough to be quick, few enough to stay in the cache.
AT_ONCE = 16_384


def from_rows(codes: ArrayLike, factors: ArrayLike, continuous: Continuous, metric: str, paired: bool) -> tuple[Array, Batches]:
    """Return which factors vary (k,), and a function that draws batches among rows in hand.

    The value that a batch shares is that of a random row, so common values come more often. Rows whose value no other row
    has cannot be compared, and are not drawn.
    """
    table = code_rows(codes)
    classes = class_columns(factors, len(table), continuous)
    usable = np.array([np.bincount(y)[y] > 1 for y in classes.T])
    varies = varying(classes, metric, least=2) & usable.any(axis=1)
    if varies.sum() < 2:
        raise ValueError(
            f"{metric} expected at least 2 factors that vary and of which two rows share a value; got {varies.sum()} among "
            f"{len(varies)}; pass more rows, or factors of fewer values."
        )
    lists = [_same_value(y, rows) for y, rows in zip(classes.T, usable, strict=True)]

    def batches(shared: Array, rows: int, rng: np.random.Generator) -> Iterator[Array]:
        values = rows // 2 if paired else 1
        for part in _parts(shared, rows):
            chosen = np.empty((len(part), rows), dtype=np.int64)
            for j in np.unique(part):
                own = np.flatnonzero(part == j)
                order, starts, counts = lists[j]
                # The start and the size of the run of equal values around a random place of the sorted rows.
                place = (rng.random((len(own), values)) * len(order)).astype(np.int64)
                first, count = (np.repeat(a[place], rows // values, axis=1) for a in (starts, counts))
                chosen[own] = order[first + (rng.random((len(own), rows)) * count).astype(np.int64)]
            yield table[chosen]

    return varies, batches


def from_draws(draw: Draw, sizes: Sequence[int], metric: str, paired: bool) -> tuple[Array, Batches]:
    """Return which factors vary (k,), and a function that draws batches through `draw`, all factors uniform."""
    widths = np.asarray(sizes)
    if widths.ndim != 1 or widths.dtype.kind not in "ui" or not len(widths) or widths.min() < 1 or (widths > 1).sum() < 2:
        raise ValueError(f"{metric} expected sizes with at least 2 factors of 2 values or more; got {list(sizes)}.")

    def batches(shared: Array, rows: int, rng: np.random.Generator) -> Iterator[Array]:
        for part in _parts(shared, rows):
            factors = np.stack([rng.integers(0, width, (len(part), rows)) for width in widths], axis=2)
            own = np.arange(len(part))
            values = factors[own, :, part]
            # Rows 2 i and 2 i + 1 are a pair, and share their own value; otherwise all rows share that of the first.
            values = np.repeat(values[:, ::2], 2, axis=1) if paired else np.repeat(values[:, :1], rows, axis=1)
            factors[own, :, part] = values
            codes = code_rows(draw(factors.reshape(-1, len(widths))))
            if len(codes) != factors.shape[0] * rows:
                raise ValueError(f"draw expected to return {factors.shape[0] * rows} rows of codes; got {len(codes)}.")
            yield codes.reshape(len(part), rows, -1)

    return widths > 1, batches


def _same_value(y: Array, usable: Array) -> tuple[Array, Array, Array]:
    """Return the usable rows sorted by value, and for each place there the start and the size of its run of equal values."""
    rows = np.flatnonzero(usable)
    order = rows[np.argsort(y[rows], kind="stable")]
    sizes = np.bincount(y[order], minlength=int(y.max()) + 1)
    starts = np.cumsum(sizes) - sizes
    return order, starts[y[order]], sizes[y[order]]


def _parts(shared: Array, rows: int) -> list[Array]:
    return np.array_split(shared, max(1, -(-len(shared) * rows // AT_ONCE)))
