"""Whether a swapped block shows in the decoded samples and the rest is preserved, by networks trained on real samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.data.sources import repeated_sources
from untwine.latents import Latents
from untwine.metrics.checks import check_factors, check_labels
from untwine.metrics.directions import HIGHER, INFO
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import random_folds, random_subsets, select_sources
from untwine.metrics.intervals import random_halves, subset_interval
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.metrics.requirements import FOLDED_LABELS, TWO_BLOCKS
from untwine.metrics.scored_samples import affordable

SUBSETS = 5
MAX_SAMPLES = 2_000


class Swap(NamedTuple):
    """The score of swapped samples.

    Attributes
    ----------
    value
        The score of the swapped samples, in [0, 1].
    ceiling
        The same network's score on real samples that it was not trained on.
    folds, ceiling_folds
        Both scores on five random subsets of the samples.
    n
        The number of swapped samples.
    """

    value: float
    ceiling: float
    folds: tuple[float, ...]
    ceiling_folds: tuple[float, ...]
    n: int


class SwapSources(NamedTuple):
    """What the real, swapped and test samples were made from or belong to: no source is in two of the subsets of each."""

    real: ArrayLike | None = None
    swapped: ArrayLike | None = None
    test: ArrayLike | None = None


def swap_accuracy(
    real_x: ArrayLike,
    real_labels: ArrayLike,
    swapped_x: ArrayLike,
    donor_labels: ArrayLike,
    test_x: ArrayLike | None = None,
    test_labels: ArrayLike | None = None,
    seed: int = 0,
    sources: SwapSources = SwapSources(),  # noqa: B008 (it is immutable)
) -> Swap:
    """Return the share of swapped samples that show the class of the donor of their salient block.

    A small network (three convolutions, behind others of stride 2 for images larger than 32 x 32; an MLP on vectors; fixed
    seed) is trained on real samples and their labels, and then predicts the class of each swapped sample. Training stops when
    the accuracy on a fifth of these samples, held out, no longer rises, after at most 1,000 steps of 64 samples, or 8 a class
    (since version 3; before, a fixed number of steps on images of at most 32 x 32). In [0, 1], higher is better: 1 means that
    every swapped sample shows the donor's class; where donors are always of another class, 0 means that none does. Hardly any
    method exceeds `ceiling`, the network's accuracy on the real samples `test_x`; without these another random fifth of the
    real samples is held out for it.

    Parameters
    ----------
    real_x, real_labels
        Real samples, vectors (n, d) or images (n, C, H, W), and their classes.
    swapped_x, donor_labels
        Decoded samples of the same shape, and the class of the donor of each one's salient block.
    test_x, test_labels
        Real samples that the network must not be trained on, and their classes.
    sources
        Sources of the samples, if any; whole sources are held out.
    """
    from untwine.metrics.classifier import train_classifier

    train_x, held_out, swapped = _network_inputs(real_x, test_x, swapped_x)
    given = [np.asarray(labels).ravel() for labels in (real_labels, test_labels, donor_labels) if labels is not None]
    sizes = [np.size(labels) for labels in given]
    classes = np.split(check_labels(np.concatenate(given), sum(sizes)), np.cumsum(sizes)[:-1])
    if sizes[0] != len(train_x) or sizes[-1] != len(swapped) or len(sizes) != (2 if held_out is None else 3):
        raise ValueError(
            f"swap_accuracy needs one label for each sample; got {sizes} labels for {len(train_x)} real, "
            f"{0 if held_out is None else len(held_out)} test and {len(swapped)} swapped samples."
        )
    if len(np.unique(classes[0])) < 2:
        raise ValueError(f"swap_accuracy needs at least 2 classes of real samples; got 1 in {len(train_x)} samples; pass more.")
    if held_out is None:
        train, test = _hold_out_fifth(len(train_x), seed, sources.real)
        sources = sources._replace(test=select_sources(sources.real, test))
        train_x, held_out, classes = train_x[train], train_x[test], [classes[0][train], classes[0][test], classes[1]]
    predict = train_classifier(train_x, classes[0], int(max(c.max() for c in classes)) + 1, seed)
    correct, real_correct = predict(swapped) == classes[-1], predict(held_out) == classes[1]
    subsets = random_subsets(np.arange(len(correct)), SUBSETS, seed, sources.swapped)
    folds = tuple(float(correct[subset].mean()) for subset in subsets)
    subsets = random_subsets(np.arange(len(real_correct)), SUBSETS, seed, sources.test)
    ceiling_folds = tuple(float(real_correct[subset].mean()) for subset in subsets)
    return Swap(float(correct.mean()), float(real_correct.mean()), folds, ceiling_folds, len(correct))


def swap_preservation(
    real_x: ArrayLike,
    real_factors: ArrayLike,
    swapped_x: ArrayLike,
    common_factors: ArrayLike,
    test_x: ArrayLike | None = None,
    test_factors: ArrayLike | None = None,
    seed: int = 0,
    sources: SwapSources = SwapSources(),  # noqa: B008 (it is immutable)
) -> Swap:
    """Return how much of the common factors swapped samples preserve: those of the sample that gave the common block.

    A network as in `swap_accuracy` is trained to predict the factors (n, k) of real samples (squared error, by which it also
    stops), and predicts those of swapped ones. Per factor R2 = 1 - sum_i (y_i - yhat_i)^2 / sum_i (y_i - mean y)^2, y being the
    factors of the sample that gave the common block, **clipped at 0**; then the mean over the factors that vary. In [0, 1],
    higher is better: 1 means that a swap leaves the common factors unchanged, 0 that the decoded sample shows nothing of them.
    `ceiling` is the same on real samples `test_x`, or on a random fifth of the real samples, held out. Unknown factors (NaN)
    are left out. `sources` are as in `swap_accuracy`.
    """
    from untwine.metrics.classifier import train_regressor

    train_x, held_out, swapped = _network_inputs(real_x, test_x, swapped_x)
    truth, common = check_factors(real_factors, len(train_x)), check_factors(common_factors, len(swapped))
    if held_out is None:
        train, test = _hold_out_fifth(len(train_x), seed, sources.real)
        sources = sources._replace(test=select_sources(sources.real, test))
        train_x, held_out, truth, test_truth = train_x[train], train_x[test], truth[train], truth[test]
    elif test_factors is None:
        raise ValueError("swap_preservation needs test_factors with test_x; got None; pass both or neither.")
    else:
        test_truth = check_factors(test_factors, len(held_out))
    if len({truth.shape[1], common.shape[1], test_truth.shape[1]}) > 1:
        raise ValueError(
            f"swap_preservation needs the same factors of all samples; got {truth.shape[1]} of real, {test_truth.shape[1]} of "
            f"test and {common.shape[1]} of swapped samples."
        )
    scored = [all(_varies(column) for column in columns) for columns in zip(truth.T, common.T, test_truth.T, strict=True)]
    if not any(scored):
        raise ValueError(f"swap_preservation needs a factor that varies; got none among {truth.shape[1]}; pass others.")
    predict = train_regressor(train_x, truth[:, scored], seed)
    common, test_truth = common[:, scored], test_truth[:, scored]
    value, folds = _explained(common, predict(swapped), seed, sources.swapped)
    ceiling, ceiling_folds = _explained(test_truth, predict(held_out), seed, sources.test)
    return Swap(value, ceiling, folds, ceiling_folds, len(swapped))


def other_class(labels: ArrayLike, seed: int = 0) -> Array:
    """Return for each sample the index of a random sample of another class: the donor of its new salient block."""
    labels = check_labels(labels, np.size(labels))
    sizes = np.bincount(labels)
    if len(sizes) < 2:
        raise ValueError(f"other_class needs at least 2 classes; got 1 in {len(labels)} samples; pass more samples.")
    order, starts = np.argsort(labels, kind="stable"), np.cumsum(sizes) - sizes
    # A random position among all samples sorted by class, skipping those of the own class, which are contiguous.
    place = (np.random.default_rng(seed).random(len(labels)) * (len(labels) - sizes[labels])).astype(int)
    return np.asarray(order[place + np.where(place >= starts[labels], sizes[labels], 0)])


def _network_inputs(real: ArrayLike, test: ArrayLike | None, swapped: ArrayLike) -> tuple[Any, Any, Any]:
    from untwine.metrics.classifier import network_input

    train_x, swapped_x = network_input(real, "real_x"), network_input(swapped, "swapped_x")
    test_x = None if test is None else network_input(test, "test_x")
    if any(x.shape[1:] != train_x.shape[1:] for x in (swapped_x, *(() if test_x is None else (test_x,)))):
        raise ValueError(
            f"swapped_x and test_x must have the shape of real_x, {tuple(train_x.shape[1:])}; got {tuple(swapped_x.shape[1:])}."
        )
    if len(train_x) < 2 * SUBSETS:
        raise ValueError(f"real_x must be at least {2 * SUBSETS} samples to train on; got {len(train_x)}; pass more.")
    return train_x, test_x, swapped_x


def _hold_out_fifth(n: int, seed: int, sources: ArrayLike | None) -> tuple[Array, Array]:
    if repeated_sources(sources, n) is not None:
        return random_folds(n, 5, seed, sources)[0]
    order = np.random.default_rng(seed).permutation(n)
    return order[n // 5 :], order[: n // 5]


def _varies(column: Array) -> bool:
    known = column[~np.isnan(column)]
    return bool(len(known) and np.ptp(known) > 0)


def _explained(truth: Array, predicted: Array, seed: int, sources: ArrayLike | None) -> tuple[float, tuple[float, ...]]:
    """Return the mean R2, and that of random subsets of the samples, over the variance of all of them."""
    ratios = (truth - predicted) ** 2 / np.nanvar(truth, axis=0)
    subsets = random_subsets(np.arange(len(truth)), SUBSETS, seed, sources)
    return _r2(ratios), tuple(_r2(ratios[subset]) for subset in subsets if not np.isnan(ratios[subset]).all(0).any())


def _r2(ratios: Array) -> float:
    return float(np.maximum(0.0, 1.0 - np.nanmean(ratios, axis=0)).mean())


def measure_changed(data: Encoded, name: str, change: Callable[[Latents, Array, Array], Latents]) -> Iterator[Measurement]:
    """Yield accuracy and preservation of samples decoded from changed latents.

    `change` is given the latents of the scored samples, for each the index of a donor of another class among them, and the
    donor's class.
    """
    indices, labels = data.folded_labels()
    if data.train is not None:
        train, real = data.train, data.train.labelled_indices()
    else:  # the networks are trained on one half of the scored samples, and predict the other half
        half = next(random_halves(labels, 1, sources=data.sources_of(indices)))
        train, real = data, indices[half]
        indices, labels = np.delete(indices, half), np.delete(labels, half)
    chosen = np.random.default_rng(0).permutation(len(indices))[:MAX_SAMPLES]
    indices, labels = indices[chosen], labels[chosen]
    donors = other_class(labels)
    decoded = data.decode(change(data.latents.take(indices), donors, labels[donors]))
    real = affordable(train.samples, real)
    train_x, test_x = train.samples.dense(real), data.samples.dense(indices)
    own = SwapSources(train.sources_of(real), data.sources_of(indices), data.sources_of(indices))
    accuracy = swap_accuracy(train_x, train.labels_of(real), decoded, labels[donors], test_x, labels, sources=own)
    yield from _measure_swap(f"{name}_accuracy", accuracy)
    columns = data.factor_columns(salient=False)
    if len(columns):
        truth, common = train.factors_of(real, columns), data.factors_of(indices, columns)
        preservation = swap_preservation(train_x, truth, decoded, common, test_x, common, sources=own)
        yield from _measure_swap(f"{name}_preservation", preservation)


def _measure_swap(name: str, result: Swap) -> Iterator[Measurement]:
    yield Measurement(f"{name}.x", result.value, subset_interval(result.value, result.folds), result.n)
    interval = subset_interval(result.ceiling, result.ceiling_folds)
    yield Measurement(f"{name}_ceiling.x", result.ceiling, interval, result.n)


def _measure(data: Encoded) -> Iterator[Measurement]:
    block = data.swapped_block() or ""
    yield from measure_changed(data, "swap", lambda own, donors, _: own.swap(own.take(donors), block))


METRIC = Metric(
    name="swap",
    function=_measure,
    description="Whether a swapped block shows in decoded samples and the rest is preserved, by networks trained on real "
    "samples.",
    scores={
        "swap_accuracy": ScoreInfo(
            "Does a swapped block show in the decoded sample? How often a classifier trained on real samples predicts the "
            "donor's class.",
            HIGHER,
        ),
        "swap_accuracy_ceiling": ScoreInfo(
            "Accuracy of that classifier on real samples: no swap can be expected to score more.", INFO
        ),
        "swap_preservation": ScoreInfo(
            "Is the rest preserved when a block is swapped? R² of its ground-truth factors, by a network trained on real "
            "samples.",
            HIGHER,
        ),
        "swap_preservation_ceiling": ScoreInfo(
            "R² of that network on real samples: no swap can be expected to score more.", INFO
        ),
    },
    requires=(TWO_BLOCKS, FOLDED_LABELS),
    version=3,
)
