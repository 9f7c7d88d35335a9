"""Samples to fit on and samples to test on: folds, or a given split."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
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


def random_folds(n: int, folds: int, seed: int) -> list[tuple[Array, Array]]:
    """Return (train, test) for each fold of n samples in random order."""
    subsets = np.array_split(np.random.default_rng(seed).permutation(n), folds)
    return [(np.concatenate(subsets[:i] + subsets[i + 1 :]), subsets[i]) for i in range(folds)]


def hold_out_third(split: Split | None, n: int, metric: str, seed: int) -> tuple[Array, Array]:
    """Return the train and test indices of a given split, or hold out a random third."""
    if split is not None:
        return check_split(split, n)
    if n < 3:
        raise ValueError(f"{metric} needs at least 3 samples, of which a third is held out; got {n}; pass more.")
    return random_folds(n, 3, seed)[0]


def random_subsets(indices: Array, subsets: int, seed: int) -> list[Array]:
    """Return the indices in disjoint random subsets whose sizes differ by at most 1; none is empty."""
    return np.array_split(np.random.default_rng(seed).permutation(indices), max(1, min(subsets, len(indices))))


def classify(
    codes: Array, labels: Array, folds: int, seed: int = 0, standardise: bool = False, split: Split | None = None
) -> HeldOutPredictions:
    """Return the classes that multinomial logistic regression predicts for held-out samples; labels are 0 to k - 1."""
    from sklearn.model_selection import StratifiedKFold

    if split is not None:
        train, test = check_split(split, len(codes))
        check_folds(folds, len(test))
        if len(np.unique(labels[train])) < 2:
            raise ValueError(
                f"split must have at least 2 classes among the train samples; got 1 in {len(train)} samples; choose others."
            )
        predicted = _predict(codes, labels, train, test, standardise)
        return HeldOutPredictions(test, predicted, random_subsets(test, folds, seed))
    check_folds(folds, len(codes))
    sizes = np.bincount(labels)
    if len(sizes) < 2 or sizes.min() < folds:
        raise ValueError(
            f"labels must have at least 2 classes of at least {folds} samples, one for every fold; got {len(sizes)} "
            f"classes, the smallest of {sizes.min()} samples; leave small classes out or lower folds."
        )
    pairs = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(codes, labels))
    predictions = [_predict(codes, labels, train, test, standardise) for train, test in pairs]
    tests = [test for _, test in pairs]
    return HeldOutPredictions(np.concatenate(tests), np.concatenate(predictions), tests)


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
