"""Rows to fit on and rows to judge on: folds, or a split that is given."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import fold_count
from untwine.training.threads import one_thread

Split = tuple[ArrayLike, ArrayLike]


class Judged(NamedTuple):
    """What a classifier said of rows that it was not fitted on.

    Attributes
    ----------
    rows, predicted
        The held-out rows and the class that each of them got.
    parts
        The held-out rows again, in the disjoint parts that an interval rests on: the folds, or parts of the one test set.
    """

    rows: Array
    predicted: Array
    parts: list[Array]


def split_rows(split: Split, rows: int) -> tuple[Array, Array]:
    """Return the training and the test rows of a split (indices or masks), or say why they are not held out."""
    try:
        train, test = (np.atleast_1d(np.arange(rows)[np.asarray(part)]) for part in split)
    except (IndexError, TypeError, ValueError) as error:
        raise ValueError(
            f"split expected two sets of rows (train, test), as indices or masks of {rows} rows; got others ({error})."
        ) from None
    if not len(train) or not len(test) or len(np.intersect1d(train, test)):
        raise ValueError(
            f"split expected training rows and other rows to test on; got {len(train)} and {len(test)} rows, "
            f"{len(np.intersect1d(train, test))} of them in both; take the shared ones out."
        )
    return train, test


def random_folds(rows: int, folds: int, seed: int) -> list[tuple[Array, Array]]:
    """Return (train, test) for each fold of rows in random order."""
    parts = np.array_split(np.random.default_rng(seed).permutation(rows), folds)
    return [(np.concatenate(parts[:i] + parts[i + 1 :]), parts[i]) for i in range(folds)]


def third_held_out(split: Split | None, rows: int, metric: str, seed: int) -> tuple[Array, Array]:
    """Return the training and the test rows of a split that is given, or hold out a random third."""
    if split is not None:
        return split_rows(split, rows)
    if rows < 3:
        raise ValueError(f"{metric} expected at least 3 rows, of which a third is held out; got {rows}; pass more.")
    return random_folds(rows, 3, seed)[0]


def random_parts(rows: Array, parts: int, seed: int) -> list[Array]:
    """Return rows in disjoint random parts of equal size, up to one; each has at least one row."""
    return np.array_split(np.random.default_rng(seed).permutation(rows), max(1, min(parts, len(rows))))


def classify(
    codes: Array, labels: Array, folds: int, seed: int = 0, standardise: bool = False, split: Split | None = None
) -> Judged:
    """Return the classes that multinomial logistic regression gives to held-out rows; labels count from 0 without gaps."""
    from sklearn.model_selection import StratifiedKFold

    if split is not None:
        train, test = split_rows(split, len(codes))
        fold_count(folds, len(test))
        if len(np.unique(labels[train])) < 2:
            raise ValueError(
                f"split expected at least 2 classes in the training rows; got 1 in {len(train)} rows; choose other rows."
            )
        return Judged(test, _fitted(codes, labels, train, test, standardise), random_parts(test, folds, seed))
    fold_count(folds, len(codes))
    sizes = np.bincount(labels)
    if len(sizes) < 2 or sizes.min() < folds:
        raise ValueError(
            f"labels expected at least 2 classes of at least {folds} rows each, one for every fold; got {len(sizes)} "
            f"classes, the smallest of {sizes.min()} rows; leave small classes out or lower folds."
        )
    pairs = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(codes, labels))
    predicted = [_fitted(codes, labels, train, test, standardise) for train, test in pairs]
    tests = [test for _, test in pairs]
    return Judged(np.concatenate(tests), np.concatenate(predicted), tests)


def spreads(codes: Array) -> Array:
    """Return the standard deviation of each column; the rounding of a constant is no spread."""
    spread = codes.std(0)
    return np.asarray(np.where(spread > 1e-9 * np.abs(codes).max(0), spread, 0.0))


def _fitted(codes: Array, labels: Array, train: Array, test: Array, standardise: bool) -> Array:
    from sklearn.linear_model import LogisticRegression

    spread = spreads(codes[train])
    one = float(np.sqrt(np.square(spread).mean())) or 1.0
    scale = np.where(spread > 0, spread if standardise else one, np.inf)
    centre = codes[train].mean(0)
    with one_thread():
        # On this scale and with the penalty, a few dozen steps are the rule; the bound only guards the exception.
        model = LogisticRegression(max_iter=10_000).fit((codes[train] - centre) / scale, labels[train])
        return np.asarray(model.predict((codes[test] - centre) / scale))
