"""What tells the parts of a method apart, scored: value, 95 % interval, and which direction is good."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from untwine._typing import Array
from untwine.metrics.agreement import agreement
from untwine.metrics.blocks import FOLDS, WITHOUT_CLASS, WITHOUT_FACTORS, Blocks, Measurement
from untwine.metrics.class_content import reading
from untwine.metrics.groups import groups
from untwine.metrics.intervals import halves, over_folds, over_halves
from untwine.metrics.landmarks import landmarks
from untwine.metrics.leakage import leakage
from untwine.metrics.swap import Swap


def agreed(blocks: Blocks, labels: Array, seeds: int) -> Iterator[Measurement]:
    """Yield the adjusted Rand index and the normalised mutual information of k-means for each block, intervals over halves."""
    for block, codes in blocks.items():
        found, direction = agreement(codes, labels), "lower" if block in WITHOUT_CLASS else "higher"
        parts = [agreement(codes[half], labels[half], seed) for seed, half in enumerate(halves(labels, seeds))]
        interval = over_halves(found.ari, [part.ari for part in parts], (-0.5, 1))
        yield Measurement(f"ari.{block}", found.ari, interval, found.n, direction)
        interval = over_halves(found.nmi, [part.nmi for part in parts], (0, 1))
        yield Measurement(f"nmi.{block}", found.nmi, interval, found.n, direction)


def grouped(blocks: Blocks, target: Array, seeds: int) -> Iterator[Measurement]:
    """Yield the silhouette of target against background for each block, with its interval over halves."""
    for block, codes in blocks.items():
        found = groups(codes[target], codes[~target], repeats=seeds)
        direction = "lower" if block in WITHOUT_CLASS else "higher" if block in WITHOUT_FACTORS else "info"
        # Two or three rows have no halves: repeated, the value gives the interval of zero width that a known number has.
        interval = over_halves(found.silhouette, found.halves or (found.silhouette,) * 2, (-1, 1))
        yield Measurement(f"group_silhouette.{block}", found.silhouette, interval, 2 * found.n, direction)


def leaked(leaks: Iterator[tuple[str, Array, Array, Array]]) -> Iterator[Measurement]:
    """Yield how much leaks into each part that should not know, with its interval over folds."""
    for name, other, own, truth in leaks:
        found = leakage(other, own, truth, FOLDS)
        yield Measurement(name, found.leakage, over_folds(found.leakage, found.folds, (0, 1)), found.n, "lower")


def swapped(name: str, found: Swap) -> Iterator[Measurement]:
    """Yield the score of swapped rows and that of real ones, with intervals over parts of the rows."""
    yield Measurement(f"{name}.x", found.value, _over(found.value, found.folds), found.n, "higher")
    yield Measurement(f"{name}_ceiling.x", found.ceiling, _over(found.ceiling, found.ceiling_folds), found.n, "info")


def read(what: str, blocks: Blocks, truth: Array, without: tuple[str, ...]) -> Iterator[Measurement]:
    """Yield how well a small network reads a truth from each block, and chance, with intervals over parts of the rows."""
    for i, (block, codes) in enumerate(blocks.items()):
        found = reading(codes, truth)
        if i == 0:  # it knows no codes, so it is the same for every block
            yield Measurement(f"{what}_chance.x", found.chance, (found.chance, found.chance), found.n, "info")
        direction = "lower" if block in without else "higher"
        yield Measurement(f"{what}_read.{block}", found.accuracy, _over(found.accuracy, found.parts), found.n, direction)


def placed(blocks: Blocks, points: Array) -> Iterator[Measurement]:
    """Yield how far predicted landmarks are off for each block, and those of the constant predictor, intervals over folds."""
    for i, (block, codes) in enumerate(blocks.items()):
        found = landmarks(codes, points, FOLDS)
        if i == 0:  # it knows no codes, so it is the same for every block
            interval = over_folds(found.constant, found.constant_folds, (0, np.inf))
            yield Measurement("landmarks_constant.x", found.constant, interval, found.n, "info")
        direction = "higher" if block in WITHOUT_FACTORS else "lower"
        interval = over_folds(found.error, found.folds, (0, np.inf))
        yield Measurement(f"landmarks.{block}", found.error, interval, found.n, direction)


def moved(errors: Array, unmoved: Array, kind: str = "") -> Iterator[Measurement]:
    """Yield the error of moved contents and that of rows left as they are, with intervals over rows."""
    for name, some, direction in ((f"transfer{kind}", errors, "lower"), (f"transfer{kind}_unmoved", unmoved, "info")):
        value = float(some.mean())
        interval = over_folds(value, np.resize(some, max(2, len(some))).tolist(), (0, np.inf))
        yield Measurement(f"{name}.x", value, interval, len(some), direction)


def _over(value: float, folds: tuple[float, ...]) -> tuple[float, float]:
    return over_folds(value, np.resize(folds, max(2, len(folds))).tolist() if folds else [value] * 2, (0, 1))
