"""Every block scored by one metric: value, 95 % interval, and whether high or low is good in that block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from untwine.metrics.clustering import plane_clustering, tsne
from untwine.metrics.factors import factors
from untwine.metrics.intervals import halves, over_folds, over_halves
from untwine.metrics.probe import probe
from untwine.metrics.reconstruction import squared_errors
from untwine.metrics.transport import MOST_ROWS, w2

Array = NDArray[Any]
Blocks = Mapping[str, Array]

FOLDS = 5
WITHOUT_CLASS = ("common", "content")  # the blocks that should know nothing of the label, nor of salient factors
WITHOUT_FACTORS = ("salient", "class")  # the blocks that should know nothing of all other factors


class Measured(NamedTuple):
    """A score as it was measured: "<metric>.<block>", value, 95 % interval, rows, and "higher", "lower" or "info"."""

    name: str
    value: float
    interval: tuple[float, float]
    n: int
    direction: str


def probed(blocks: Blocks, labels: Array) -> Iterator[Measured]:
    """Yield the accuracy of a linear classifier for each block, with its interval over folds."""
    for block, codes in blocks.items():
        found = probe(codes, labels, FOLDS)
        interval = over_folds(found.accuracy, found.folds, (0, 1))
        yield Measured(f"probe.{block}", found.accuracy, interval, found.n, _unless(block, WITHOUT_CLASS))


def clustered(blocks: Blocks, labels: Array, seeds: int) -> Iterator[Measured]:
    """Yield clustering, that of shuffled labels and the silhouette for each block: one plane, intervals over its halves."""
    for block, codes in blocks.items():
        plane, direction = tsne(codes), _unless(block, WITHOUT_CLASS)
        found = plane_clustering(plane, labels)
        parts = [plane_clustering(plane[half], labels[half], seed) for seed, half in enumerate(halves(labels, seeds))]
        interval = over_halves(found.accuracy, [part.accuracy for part in parts], (0, 1))
        yield Measured(f"clustering.{block}", found.accuracy, interval, found.n, direction)
        interval = over_folds(found.random, found.shuffles, (0, 1))
        yield Measured(f"clustering_random.{block}", found.random, interval, found.n, "info")
        interval = over_halves(found.silhouette, [part.silhouette for part in parts], (-1, 1))
        yield Measured(f"silhouette.{block}", found.silhouette, interval, found.n, direction)


def explained(blocks: Blocks, truth: Array, salient: bool) -> Iterator[Measured]:
    """Yield the R2 of the factors for each block, with its interval over folds; salient factors have a name of their own."""
    name, without = ("factors_salient", WITHOUT_CLASS) if salient else ("factors", WITHOUT_FACTORS)
    for block, codes in blocks.items():
        found = factors(codes, truth, FOLDS)
        yield Measured(f"{name}.{block}", found.r2, over_folds(found.r2, found.folds, (0, 1)), found.n, _unless(block, without))


def transported(target: Array, background: Array, seeds: int) -> Iterator[Measured]:
    """Yield the squared distance of common codes, plain and over their mean squared norm, with intervals over halves."""
    n = min(len(target), len(background), MOST_ROWS)
    rng = np.random.default_rng(0)
    target, background = (codes[rng.permutation(len(codes))[:n]] for codes in (target, background))
    found, one = w2(target, background), np.zeros(n, dtype=int)
    pairs = zip(halves(one, seeds, seed=1), halves(one, seeds, seed=2), strict=True)
    parts = [w2(target[a], background[b]) for a, b in pairs]
    interval = over_halves(found.value, [part.value for part in parts], (0, np.inf))
    yield Measured("w2.common", found.value, interval, n, "lower")
    interval = over_halves(found.relative, [part.relative for part in parts], (0, np.inf))
    yield Measured("w2_relative.common", found.relative, interval, n, "lower")


def reconstructed(pairs: Iterator[tuple[Array, Array]]) -> Iterator[Measured]:
    """Yield the mean squared error of batches of rows and their decoded selves, with its interval over rows."""
    errors = np.concatenate([squared_errors(x, decoded) for x, decoded in pairs])
    value = float(errors.mean())
    # A single row has no spread: repeated, it gives the interval of zero width that a known number has.
    interval = over_folds(value, np.resize(errors, max(2, len(errors))).tolist(), (0, np.inf))
    yield Measured("reconstruction.x", value, interval, len(errors), "lower")


def _unless(block: str, without: tuple[str, ...]) -> str:
    return "lower" if block in without else "higher"
