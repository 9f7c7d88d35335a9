"""Samples to fit on and samples to test on: folds, or a given split."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.data.sources import repeated_sources, source_folds
from untwine.metrics.checks import check_folds
from untwine.training.threads import one_thread

Split = tuple[ArrayLike, ArrayLike]

FOLDS = 5  # of `evaluate`


class HeldOutPredictions(NamedTuple):
    """What a classifier predicts for samples that it was not fitted on.

    Attributes
    ----------
    indices, predicted
        The test samples and the predicted class of each.
    subsets
        The test samples again, in the disjoint subsets that an interval rests on: the folds, or subsets of the one test set.
    """

    indices: Array
    predicted: Array
    subsets: list[Array]


def check_split(split: Split, n: int) -> tuple[Array, Array]:
    """Return the train and test indices of a split (given as indices or masks), or refuse it where the two overlap."""
    try:
        train, test = (np.atleast_1d(np.arange(n)[np.asarray(indices)]) for indices in split)
    except (IndexError, TypeError, ValueError) as error:
        raise ValueError(
            f"split must be (train, test), each indices or a boolean mask of the {n} samples; these cannot be used ({error})."
        ) from None
    if not len(train) or not len(test) or len(np.intersect1d(train, test)):
        raise ValueError(
            f"split must have train samples and other samples to test on; got {len(train)} and {len(test)}, of which "
            f"{len(np.intersect1d(train, test))} are in both; take the shared ones out of one."
        )
    return train, test


def random_folds(
    n: int, folds: int, seed: int, sources: ArrayLike | None = None, strata: Array | None = None
) -> list[tuple[Array, Array]]:
    """Return (train, test) for each fold of n samples in random order; no source is in two folds.

    With sources, the samples of each of the `strata`, if given, are spread over the folds as evenly as whole sources allow.
    """
    repeated = repeated_sources(sources, n)
    if repeated is None:
        subsets = np.array_split(np.random.default_rng(seed).permutation(n), folds)
    else:
        subsets = source_folds(repeated, np.zeros(n, dtype=int) if strata is None else strata, folds, seed)
    return [(np.concatenate(subsets[:i] + subsets[i + 1 :]), subsets[i]) for i in range(folds)]


def hold_out_third(
    split: Split | None, n: int, metric: str, seed: int, sources: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Return the train and test indices of a given split, or hold out a random third, of whole sources."""
    if split is not None:
        return check_split(split, n)
    if n < 3:
        raise ValueError(f"{metric} needs at least 3 samples, of which a third is held out; got {n}; pass more.")
    return random_folds(n, 3, seed, sources)[0]


def random_subsets(indices: Array, subsets: int, seed: int, sources: ArrayLike | None = None) -> list[Array]:
    """Return the indices in disjoint random subsets whose sizes differ by at most 1; none is empty.

    With `sources`, those of the samples at `indices`, no source is in two subsets, and sizes differ as much as sources do.
    """
    repeated = repeated_sources(sources, len(indices))
    if repeated is not None:
        many = max(1, min(subsets, int(repeated.max()) + 1))
        return [indices[fold] for fold in source_folds(repeated, np.zeros(len(indices), dtype=int), many, seed)]
    return np.array_split(np.random.default_rng(seed).permutation(indices), max(1, min(subsets, len(indices))))


def classify(
    codes: Array,
    labels: Array,
    folds: int,
    seed: int = 0,
    standardise: bool = False,
    split: Split | None = None,
    sources: ArrayLike | None = None,
) -> HeldOutPredictions:
    """Return the classes that multinomial logistic regression predicts for held-out samples; labels are 0 to k - 1."""
    if split is not None:
        train, test = check_split(split, len(codes))
        check_folds(folds, len(test))
        if len(np.unique(labels[train])) < 2:
            raise ValueError(
                f"split must have at least 2 classes among the train samples; got 1 in {len(train)} samples; choose others."
            )
        predicted = _predict(codes, labels, train, test, standardise)
        return HeldOutPredictions(test, predicted, random_subsets(test, folds, seed, select_sources(sources, test)))
    pairs = stratified_folds(labels, folds, seed, sources)
    predictions = [_predict(codes, labels, train, test, standardise) for train, test in pairs]
    tests = [test for _, test in pairs]
    return HeldOutPredictions(np.concatenate(tests), np.concatenate(predictions), tests)


def stratified_folds(labels: Array, folds: int, seed: int, sources: ArrayLike | None = None) -> list[tuple[Array, Array]]:
    """Return (train, test) for each fold, with every class in the same shares as far as whole sources allow."""
    from sklearn.model_selection import StratifiedKFold

    check_folds(folds, len(labels))
    repeated = repeated_sources(sources, len(labels))
    if repeated is None:
        sizes, unit = np.bincount(labels), "samples"
    else:
        sizes, unit = np.bincount(np.unique(np.column_stack([labels, repeated]), axis=0)[:, 0]), "sources"
    if len(sizes) < 2 or sizes.min() < folds:
        raise ValueError(
            f"labels must have at least 2 classes of at least {folds} {unit}, one for every fold; got {len(sizes)} "
            f"classes, the smallest of {sizes.min()} {unit}; leave small classes out or lower folds."
        )
    if repeated is not None:
        return random_folds(len(labels), folds, seed, repeated, labels)
    return list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(labels, labels))


def select_sources(sources: ArrayLike | None, indices: Array) -> Array | None:
    """Return the sources of the samples at `indices`; None where there are none."""
    return None if sources is None else np.asarray(sources)[indices]


def column_stds(codes: Array) -> Array:
    """Return the standard deviation of each column; exactly 0 for a constant one, free of rounding."""
    std = codes.std(0)
    return np.asarray(np.where(std > 1e-9 * np.abs(codes).max(0), std, 0.0))


def _predict(codes: Array, labels: Array, train: Array, test: Array, standardise: bool) -> Array:
    from sklearn.linear_model import LogisticRegression

    std = column_stds(codes[train])
    block_std = float(np.sqrt(np.square(std).mean())) or 1.0
    scale = np.where(std > 0, std if standardise else block_std, np.inf)
    mean = codes[train].mean(0)
    with one_thread():
        # On this scale and with the penalty, a few dozen iterations are the rule; the bound only guards the exception.
        model = LogisticRegression(max_iter=10_000).fit((codes[train] - mean) / scale, labels[train])
        return np.asarray(model.predict((codes[test] - mean) / scale))
