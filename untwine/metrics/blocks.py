"""Every block scored by one metric: value, 95 % interval, and whether high or low is good in that block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from untwine._typing import Array
from untwine.metrics.clustering import plane_clustering, tsne
from untwine.metrics.factors import factors
from untwine.metrics.held_out import Split
from untwine.metrics.intervals import halves, over_folds, over_halves
from untwine.metrics.per_class import per_class
from untwine.metrics.probe import probe
from untwine.metrics.reconstruction import squared_errors
from untwine.metrics.regression import regression
from untwine.metrics.transport import MOST_ROWS, w2

Blocks = Mapping[str, Array]

FOLDS = 5
WITHOUT_CLASS = ("common", "content")  # the blocks that should know nothing of the label, nor of salient factors
WITHOUT_FACTORS = ("salient", "class")  # the blocks that should know nothing of all other factors


class Measurement(NamedTuple):
    """A score as it was measured: "<metric>.<block>", value, 95 % interval, rows, and "higher", "lower" or "info"."""

    name: str
    value: float
    interval: tuple[float, float]
    n: int
    direction: str


def probed(
    blocks: Blocks,
    labels: Array,
    split: Split | None = None,
    name: str = "probe",
    without: tuple[str, ...] = WITHOUT_CLASS,
) -> Iterator[Measurement]:
    """Yield the accuracy of a linear classifier for each block, low in those without it, with its interval over folds."""
    for block, codes in blocks.items():
        found = probe(codes, labels, FOLDS, split=split)
        interval = over_folds(found.accuracy, found.folds, (0, 1))
        yield Measurement(f"{name}.{block}", found.accuracy, interval, found.n, _unless(block, without))


def classified(blocks: Blocks, labels: Array, names: Sequence[str], split: Split | None = None) -> Iterator[Measurement]:
    """Yield the mean over classes and the accuracy of each class for each block, with intervals over folds."""
    words = score_names(names)
    for block, codes in blocks.items():
        found, direction = per_class(codes, labels, FOLDS, split=split), _unless(block, WITHOUT_CLASS)
        means = np.mean([np.resize(folds, FOLDS) for folds in found.folds.values()], axis=0)
        interval = over_folds(found.mean, means.tolist(), (0, 1))
        yield Measurement(f"per_class.{block}", found.mean, interval, sum(found.n.values()), direction)
        for label, accuracy in found.accuracy.items():
            interval = over_folds(accuracy, np.resize(found.folds[label], FOLDS).tolist(), (0, 1))
            yield Measurement(f"per_class_{words[int(label)]}.{block}", accuracy, interval, found.n[label], direction)


def clustered(blocks: Blocks, labels: Array, seeds: int) -> Iterator[Measurement]:
    """Yield clustering, that of shuffled labels and the silhouette for each block: one plane, intervals over its halves."""
    for block, codes in blocks.items():
        plane, direction = tsne(codes), _unless(block, WITHOUT_CLASS)
        found = plane_clustering(plane, labels)
        parts = [plane_clustering(plane[half], labels[half], seed) for seed, half in enumerate(halves(labels, seeds))]
        interval = over_halves(found.accuracy, [part.accuracy for part in parts], (0, 1))
        yield Measurement(f"clustering.{block}", found.accuracy, interval, found.n, direction)
        interval = over_folds(found.random, found.shuffles, (0, 1))
        yield Measurement(f"clustering_random.{block}", found.random, interval, found.n, "info")
        interval = over_halves(found.silhouette, [part.silhouette for part in parts], (-1, 1))
        yield Measurement(f"silhouette.{block}", found.silhouette, interval, found.n, direction)


def explained(blocks: Blocks, truth: Array, salient: bool) -> Iterator[Measurement]:
    """Yield the R2 of the factors for each block, with its interval over folds; salient factors have a name of their own."""
    name, without = ("factors_salient", WITHOUT_CLASS) if salient else ("factors", WITHOUT_FACTORS)
    for block, codes in blocks.items():
        found = factors(codes, truth, FOLDS)
        yield Measurement(
            f"{name}.{block}", found.r2, over_folds(found.r2, found.folds, (0, 1)), found.n, _unless(block, without)
        )


def regressed(
    blocks: Blocks, truth: Array, salient: bool, names: Sequence[str], split: Split | None = None
) -> Iterator[Measurement]:
    """Yield the mean absolute error of a linear regression for each block, and that of the constant predictor.

    Without names the mean over the factors, with names each factor; intervals over folds. Where factors should not be, a high
    error is good.
    """
    kind, without = ("regression_salient", WITHOUT_CLASS) if salient else ("regression", WITHOUT_FACTORS)
    words = [f"regression_{word}" for word in score_names(names)]
    for i, (block, codes) in enumerate(blocks.items()):
        found, direction = regression(codes, truth, FOLDS, split=split), "higher" if block in without else "lower"
        columns = [(kind, found.error, found.folds, found.constant, found.constant_folds)]
        if words:
            each = (found.per_factor, found.per_factor_folds, found.constant_per_factor, found.constant_per_factor_folds)
            columns = list(zip(words, *each, strict=True))
        for name, error, folds, constant, constants in columns:
            if i == 0:  # it knows no codes, so it is the same for every block
                interval = over_folds(constant, constants, (0, np.inf))
                yield Measurement(f"{name}_constant.x", constant, interval, found.n, "info")
            yield Measurement(f"{name}.{block}", error, over_folds(error, folds, (0, np.inf)), found.n, direction)


def transported(target: Array, background: Array, seeds: int) -> Iterator[Measurement]:
    """Yield the squared distance of common codes, plain and over their mean squared norm, with intervals over halves."""
    n = min(len(target), len(background), MOST_ROWS)
    rng = np.random.default_rng(0)
    target, background = (codes[rng.permutation(len(codes))[:n]] for codes in (target, background))
    found, one = w2(target, background), np.zeros(n, dtype=int)
    pairs = zip(halves(one, seeds, seed=1), halves(one, seeds, seed=2), strict=True)
    parts = [w2(target[a], background[b]) for a, b in pairs]
    interval = over_halves(found.value, [part.value for part in parts], (0, np.inf))
    yield Measurement("w2.common", found.value, interval, n, "lower")
    interval = over_halves(found.relative, [part.relative for part in parts], (0, np.inf))
    yield Measurement("w2_relative.common", found.relative, interval, n, "lower")


def reconstructed(pairs: Iterator[tuple[Array, Array]]) -> Iterator[Measurement]:
    """Yield the mean squared error of batches of rows and their decoded selves, with its interval over rows."""
    errors = np.concatenate([squared_errors(x, decoded) for x, decoded in pairs])
    value = float(errors.mean())
    # A single row has no spread: repeated, it gives the interval of zero width that a known number has.
    interval = over_folds(value, np.resize(errors, max(2, len(errors))).tolist(), (0, np.inf))
    yield Measurement("reconstruction.x", value, interval, len(errors), "lower")


def score_names(names: Sequence[str]) -> list[str]:
    """Return names as they may stand in a score's name: without dots and blanks, and no two alike."""
    words = [re.sub(r"[.\s]+", "_", name) for name in names]
    return [f"{word}_{i}" if words.count(word) > 1 else word for i, word in enumerate(words)]


def _unless(block: str, without: tuple[str, ...]) -> str:
    return "lower" if block in without else "higher"
