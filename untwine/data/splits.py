"""What a data set is made of: a training and a test part that share no original sample."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from untwine.registry.checks import check_float, check_int
from untwine.samples import Samples


class Splits(NamedTuple):
    """The training and the test part of a data set.

    Parameters
    ----------
    train
        What a method may learn from.
    test
        What it is scored on; nothing in it was seen in training.
    """

    train: Samples
    test: Samples


def held_out(samples: Samples, test: float = 0.2, seed: int = 0) -> Splits:
    """Split rows at random, keeping the share `test` of each group (at least one row) for the test."""
    share, chance = check_float("test", test, 0.01, 0.9), np.random.default_rng(check_int("seed", seed, 0))
    groups = np.zeros(len(samples), dtype=int) if samples.groups is None else samples.groups
    kept = np.zeros(len(samples), dtype=bool)
    for group in np.unique(groups):
        rows = chance.permutation(np.flatnonzero(groups == group))
        kept[rows[: max(1, round(share * len(rows)))]] = True
    if kept.all():
        raise ValueError(f"a split expected at least 2 rows, to keep one for the test; got {len(samples)}.")
    return Splits(samples[~kept], samples[kept])


def hold_out_classes(samples: Samples, test: float = 0.2, seed: int = 0) -> Splits:
    """Split classes at random, keeping all rows of the share `test` of them (at least one class) for the test."""
    share, chance = check_float("test", test, 0.01, 0.9), np.random.default_rng(check_int("seed", seed, 0))
    labels = np.full(len(samples), -1) if samples.labels is None else samples.labels
    known = np.unique(labels[labels >= 0])
    if len(known) < 2:
        raise ValueError(f"a split by class expected at least 2 classes, to keep one for the test; got {len(known)}.")
    many = min(max(1, round(share * len(known))), len(known) - 1)
    kept = np.isin(labels, chance.permutation(known)[:many])
    return Splits(samples[~kept], samples[kept])


def validation_split(splits: Splits, share: float = 0.2, seed: int = 0, by: str = "rows") -> Splits:
    """Return splits to choose a method or its options on, made of the training part alone: the test part stays unseen.

    Parameters
    ----------
    splits
        A data set's training and test part.
    share
        Which share of each group's training rows is held out as the new test part.
    seed
        Decides which rows these are. Rows made of one original, such as the two images of a digit in `digit_style` or two of
        one person, are not kept together.
    by
        "rows" holds out rows of every class; "classes" holds out all rows of some classes, as the data sets for class and
        content do.

    Examples
    --------
    >>> from untwine.data import load
    >>> choosing = validation_split(load("toy_contrast", n_target=50, n_background=30, n_common=1, n_salient=1))
    >>> len(choosing.train), len(choosing.test)
    (64, 16)
    """
    if not isinstance(splits, Splits):
        raise TypeError(f"validation_split expected what load returned; got {type(splits).__name__}; pass the whole Splits.")
    if by not in ("rows", "classes"):
        raise ValueError(f"by expected 'rows' or 'classes'; got {by!r}.")
    return (held_out if by == "rows" else hold_out_classes)(splits.train, check_float("share", share, 0.01, 0.9), seed)
