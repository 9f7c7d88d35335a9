"""How much of what one block should encode can be predicted from another block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import check_codes, check_labels
from untwine.metrics.directions import LOWER, WITHOUT_LABELS
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import FOLDS
from untwine.metrics.intervals import fold_interval
from untwine.metrics.metric import MLP, Measurement, Metric, Requirement, ScoreInfo
from untwine.metrics.probe_strong import strong_factor_r2, strong_probe_accuracy
from untwine.metrics.requirements import SOURCES, TWO_BLOCKS


class Leakage(NamedTuple):
    """How much leaks.

    Attributes
    ----------
    leakage
        The ratio of `other` to `own`, in [0, 1].
    other, own
        How well each block predicts the ground truth: 0 is the chance level, 1 is perfectly.
    folds
        The ratio in each fold.
    n
        The number of samples.
    """

    leakage: float
    other: float
    own: float
    folds: tuple[float, ...]
    n: int


def leakage_score(
    other: ArrayLike,
    own: ArrayLike,
    truth: ArrayLike,
    folds: int = 5,
    seed: int = 0,
    sources: ArrayLike | None = None,
) -> Leakage:
    """Return how much of a ground truth leaks into codes `other` (n, d), relative to its `own` block (n, e).

    r(other) / r(own), clipped to [0, 1], where r is how well a small network on standardised columns predicts the ground truth,
    held out: for classes (n,), integers or strings, (accuracy - g) / (1 - g) of `strong_probe_accuracy`, g being the share of
    the largest class; for factors (n, k), floats, the R2 of `strong_factor_r2`. With `sources` (n,), what each sample was made
    from or belongs to, no source is in two folds.
    Lower is better: 0 means that nothing leaks, 1 that the other block predicts it as well as its own block does, or better.
    Where the own block does not predict it (r is not above 0 by more than its folds vary), there is nothing to compare with:
    then 1 if the other block predicts it, and 0 if neither does. A leak that is not linear, or in
    columns of tiny variance, counts in full; version 1 had linear models, with one scale for all columns of a class probe.
    """
    other, own = check_codes(other), check_codes(own)
    if len(other) != len(own):
        raise ValueError(f"leakage_score needs both blocks of the same samples; got {len(other)} and {len(own)} samples.")
    (a, folds_a, n), (b, folds_b, _) = (
        _predictability(codes, np.asarray(truth), folds, seed, sources) for codes in (other, own)
    )
    encoded = _above_chance(b, folds_b)
    otherwise = float(_above_chance(a, folds_a))
    ratios = tuple(_ratio(x, y) if encoded else otherwise for x, y in zip(folds_a, folds_b, strict=True))
    return Leakage(_ratio(a, b) if encoded else otherwise, a, b, ratios, n)


def _predictability(
    codes: Array, truth: Array, folds: int, seed: int, sources: ArrayLike | None
) -> tuple[float, tuple[float, ...], int]:
    """Return how well a network predicts the ground truth: overall, in each fold, and of how many samples."""
    if truth.dtype.kind == "f":
        result = strong_factor_r2(codes, truth, folds, seed, sources)
        return result.r2, result.folds, result.n
    sizes = np.bincount(check_labels(truth, len(codes)))
    chance = float(sizes.max() / sizes.sum())
    probe = strong_probe_accuracy(codes, truth, folds, seed, sources=sources)
    # The probe refuses a single class, so the chance level is below 1.
    accuracies = (probe.accuracy, *probe.folds)
    value, *each = (max(0.0, (accuracy - chance) / (1.0 - chance)) for accuracy in accuracies)
    return value, tuple(each), probe.n


def _above_chance(value: float, folds: tuple[float, ...]) -> bool:
    return fold_interval(value, folds)[0] > 0


def _ratio(a: float, b: float) -> float:
    return float(np.clip(a / b, 0.0, 1.0)) if b > 0 else float(a > 0)


class _Leak(NamedTuple):
    """What may leak: the score's name, the block that should not encode it, its own block, samples and their ground truth."""

    name: str
    other: str
    own: str
    indices: Array
    truth: Array


def _leaks(data: Encoded) -> Iterator[_Leak]:
    own, other = data.swapped_block(), next((block for block in WITHOUT_LABELS if block in data.latents), None)
    if own is None or other is None:
        return
    indices, labels = data.folded_labels()
    if len(np.unique(labels)) > 1:
        yield _Leak(f"leakage.{other}", other, own, indices, labels)
    elif len(data.factor_columns(salient=True)):
        yield _Leak(f"leakage.{other}", other, own, *data.with_factors(salient=True))
    if len(data.factor_columns(salient=False)):
        for block in dict.fromkeys((own, *data.latents.members(own))):  # of several salient blocks together, and of each
            yield _Leak(f"leakage.{block}", block, other, *data.with_factors(salient=False))
    sides = [np.flatnonzero(data.is_target == side) for side in (False, True)]
    if (fewest := min(map(len, sides))) >= 2 * FOLDS:
        # As many samples of each group, so that the chance level is one half.
        rng = np.random.default_rng(0)
        indices = np.sort(np.concatenate([rng.permutation(side)[:fewest] for side in sides]))
        if data.fills_folds(indices, data.is_target[indices]).all():
            yield _Leak(f"leakage_group.{other}", other, own, indices, data.is_target[indices].astype(int))


def _measure(data: Encoded) -> Iterator[Measurement]:
    for name, other, own, indices, truth in _leaks(data):
        codes, sources = data.latents.take(indices), data.sources_of(indices)
        result = leakage_score(codes[other], codes[own], truth, FOLDS, sources=sources)
        yield Measurement(name, result.leakage, fold_interval(result.leakage, result.folds, (0, 1)), result.n)


METRIC = Metric(
    name="leakage",
    function=_measure,
    description="How well a small MLP predicts from one block what the other should encode, from 0 to 1, in both directions.",
    scores={
        "leakage": ScoreInfo(
            "How well does this block predict what the other block should encode, by a small MLP on standardised columns? 0 is "
            "not at all, 1 is as well as the other.",
            LOWER,
            MLP,
        ),
        "leakage_group": ScoreInfo(
            "The same for predicting, by a small MLP, whether a sample is target or background.",
            LOWER,
            MLP,
        ),
    },
    requires=(
        TWO_BLOCKS,
        SOURCES,
        Requirement(
            "a ground truth that could leak",
            lambda data: any(True for _ in _leaks(data)),
            "labels, factors or groups",
            "none",
            "pass samples with some",
        ),
    ),
    version=2,
    default=True,
)
