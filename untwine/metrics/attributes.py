"""Accuracy of binary attributes along one direction each: the difference of the class means, and a threshold."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import check_codes, check_folds
from untwine.metrics.directions import HIGHER, INFO, encodes_factors
from untwine.metrics.encoded import Encoded, Selected
from untwine.metrics.held_out import FOLDS, Split, check_split, random_folds, random_subsets, select_sources
from untwine.metrics.intervals import fold_interval
from untwine.metrics.metric import Measurement, Metric, Requirement, ScoreInfo, score_names
from untwine.metrics.requirements import SOURCES


class Attributes(NamedTuple):
    """Accuracies of binary attributes.

    Attributes
    ----------
    accuracy
        The mean over the attributes, in [0, 1].
    per_attribute
        The accuracy of each attribute.
    majority
        For each attribute the accuracy of predicting the majority class of the train samples.
    folds
        The mean accuracy in each fold (or subset of the test samples).
    n
        The number of test samples.
    """

    accuracy: float
    per_attribute: tuple[float, ...]
    majority: tuple[float, ...]
    folds: tuple[float, ...]
    n: int


def attribute_accuracy(
    codes: ArrayLike,
    attributes: ArrayLike,
    folds: int = 5,
    seed: int = 0,
    split: Split | None = None,
    standardise: bool = True,
    sources: ArrayLike | None = None,
) -> Attributes:
    """Return the accuracy of binary attributes (n, k) predicted along mean-difference vectors of codes (n, d).

    w_k = mean of the codes with attribute k - mean of those without; s_i = w_k . z_i; b minimises the hinge loss
    sum_i max(0, 1 - y_i (s_i + b)), y being 1 or -1; the attribute is predicted where s_i + b > 0 (Kumar et al. 2018,
    table 2). In [0, 1], higher is better: 1 means that one direction separates the attribute, `majority` that the codes do not
    encode it (constant codes get it). Order and rotation of latents do not matter, nor does duplicating all of them; their
    scales do, because w is not whitened. It does not measure disentanglement.

    Fitted on the other folds and tested on each, or fitted and tested on the two sets of samples of `split` (train, test).

    Parameters
    ----------
    attributes
        0 and 1, or booleans; an attribute that never varies is refused.
    standardise
        Divide s by its standard deviation, so that the units of the codes do not matter to the margin of 1; the paper does not.
    sources
        What each sample was made from or belongs to: no source is in two folds.

    Notes
    -----
    Version 1: exact minimum of the loss, the middle where it is flat.
    """
    codes = check_codes(codes)
    truth = _check_attributes(attributes, len(codes))
    if split is None:
        pairs = random_folds(len(codes), check_folds(folds, len(codes)), seed, sources)
        subsets = [test for _, test in pairs]
    else:
        pairs = [check_split(split, len(codes))]
        test = pairs[0][1]
        subsets = random_subsets(test, check_folds(folds, len(test)), seed, select_sources(sources, test))
    correct, majority = np.zeros((2, *truth.shape), dtype=bool)
    for train, test in pairs:
        for k, y in enumerate(truth.T):
            correct[test, k] = _predict(codes, y, train, test, standardise) == y[test]
            majority[test, k] = y[test] == (y[train].mean() > 0.5)
    indices = np.concatenate([test for _, test in pairs])
    per_attribute = correct[indices].mean(axis=0)
    return Attributes(
        accuracy=float(per_attribute.mean()),
        per_attribute=tuple(per_attribute.tolist()),
        majority=tuple(majority[indices].mean(axis=0).tolist()),
        folds=tuple(float(correct[subset].mean()) for subset in subsets),
        n=len(indices),
    )


def hinge_bias(scores: Array, truth: Array) -> float:
    """Return the b that minimises sum_i max(0, 1 - y_i (s_i + b)), y being 1 where truth and -1 elsewhere.

    The loss is convex and piecewise linear with kinks at y_i - s_i: its slope rises from minus the number of positives by one
    at each.
    """
    kinks = np.sort(np.where(truth, 1.0, -1.0) - scores)
    positives = int(truth.sum())
    return float((kinks[max(positives - 1, 0)] + kinks[min(positives, len(kinks) - 1)]) / 2)


def _predict(codes: Array, y: Array, train: Array, test: Array, standardise: bool) -> Array:
    if y[train].all() or not y[train].any():
        return np.full(len(test), bool(y[train][0]))
    fit = codes[train]
    w = fit[y[train]].mean(axis=0) - fit[~y[train]].mean(axis=0)
    w = np.where(np.ptp(fit, axis=0) > 0, w, 0.0)
    mean = fit.mean(axis=0) if standardise else np.zeros(len(w))  # without it, large numbers lose digits
    s = (fit - mean) @ w
    scale = float(s.std()) if standardise and np.ptp(s) > 0 else 1.0
    bias = hinge_bias(s / scale, y[train])
    return np.asarray((codes[test] - mean) @ w / scale + bias > 0)


def _check_attributes(attributes: ArrayLike, n: int) -> Array:
    truth = np.asarray(attributes)
    truth = truth[:, None] if truth.ndim == 1 else truth
    if truth.shape[:1] != (n,) or truth.ndim != 2 or not truth.shape[1] or truth.dtype.kind not in "uifb":
        raise ValueError(f"attributes must be 0 and 1 of shape ({n}, k); got {truth.dtype} of shape {truth.shape}.")
    if not np.isin(truth, (0, 1)).all() or (np.ptp(truth.astype(float), axis=0) == 0).any():
        raise ValueError(
            "every column of attributes must contain both 0 and 1 and no other value; got columns that do not; leave them out."
        )
    return truth.astype(bool)


def binary_factor_columns(data: Encoded) -> Array:
    """Return the indices of the factors that are 0 or 1 in every target sample, each value in at least two samples a fold."""
    columns = np.concatenate([data.factor_columns(salient) for salient in (False, True)])
    table = data.factors_of(np.flatnonzero(data.is_target), columns)
    if not table.size:
        return columns[:0]
    binary = np.isin(table, (0, 1)).all(axis=0) & (np.ptp(table, axis=0) > 0)
    frequent = np.minimum((table == 0).sum(axis=0), (table == 1).sum(axis=0)) >= 2 * FOLDS
    return np.asarray(columns[binary & frequent])


def binary_factors(data: Encoded) -> tuple[Selected, list[str]]:
    """Return the codes of each block with the binary factors, and their names in scores."""
    columns = binary_factor_columns(data)
    selected = data.with_train(partial(Encoded.with_factors, salient=False, columns=columns))
    return selected, score_names([data.samples.factor_names[j] for j in columns])


def _measure(data: Encoded) -> Iterator[Measurement]:
    (blocks, truth, split, sources), names = binary_factors(data)
    salient = [name.startswith("salient") for name in names]
    for block, codes in blocks.items():
        own = np.array([encodes_factors(block, one) for one in salient], dtype=bool)
        if own.any():
            result = attribute_accuracy(codes, truth[:, own], FOLDS, split=split, sources=sources)
            interval = fold_interval(result.accuracy, result.folds, (0, 1))
            yield Measurement(f"attributes.{block}", result.accuracy, interval, result.n)
            guess = float(np.mean(result.majority))
            yield Measurement(f"attributes_guess.{block}", guess, (guess, guess), result.n)


BINARY_FACTORS = Requirement(
    "binary factors",
    lambda data: len(binary_factor_columns(data)) > 0,
    "a binary factor (0 and 1) that is known for all target samples",
    "none",
    "pass samples with such factors",
)

METRIC = Metric(
    name="attributes",
    function=_measure,
    description="Accuracy of binary factors along the difference of their class means, and of the majority class.",
    scores={
        "attributes": ScoreInfo(
            "Can binary attributes be predicted along the difference of their two class means? Mean accuracy, held out.", HIGHER
        ),
        "attributes_guess": ScoreInfo(
            "Chance level of the attributes score: mean accuracy of predicting each majority class.", INFO
        ),
    },
    requires=(BINARY_FACTORS, SOURCES),
)
