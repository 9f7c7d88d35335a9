"""Training and test splits of a data set, and random splits of samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from untwine._typing import Array
from untwine.data.options import check_test_share
from untwine.data.sources import assign_sources, linked_sources, repeated_sources
from untwine.registry.checks import check_choice, check_float, check_int
from untwine.samples import Samples


class Splits(NamedTuple):
    """Training and test split of a data set.

    Attributes
    ----------
    train
        Samples to fit a method on.
    test
        Samples to score it on; none of them is in the training split.
    """

    train: Samples
    test: Samples


def hold_out(samples: Samples, test: float = 0.2, seed: int = 0) -> Splits:
    """Split samples at random, holding out the share `test` of each group (at least one sample) as test split.

    Where samples have sources, all samples of a source are in one split, and the shares are as near as whole sources allow.
    """
    share, rng = check_test_share(test), np.random.default_rng(check_int("seed", seed, 0))
    groups = np.zeros(len(samples), dtype=int) if samples.groups is None else samples.groups
    sources = repeated_sources(samples.sources, len(samples))
    if sources is not None:
        is_test = _hold_out_sources(sources, groups, share, rng)
        return Splits(samples[~is_test], samples[is_test])
    is_test = np.zeros(len(samples), dtype=bool)
    for group in np.unique(groups):
        members = rng.permutation(np.flatnonzero(groups == group))
        is_test[members[: max(1, round(share * len(members)))]] = True
    if is_test.all():
        raise ValueError(f"samples to split must leave some for training; got {len(samples)}; pass more samples.")
    return Splits(samples[~is_test], samples[is_test])


def _hold_out_sources(sources: Array, groups: Array, share: float, rng: np.random.Generator) -> Array:
    """Return the mask of test samples: whole sources, with samples of every group in both splits."""
    is_test: Array = assign_sources(sources, groups, (1 - share, share), rng) == 1
    for split in (True, False):
        for group in np.unique(groups):
            if not (groups[is_test == split] == group).any():  # its smallest source moves here
                own, counts = np.unique(sources[groups == group], return_counts=True)
                is_test[sources == own[counts.argmin()]] = split
    for group in np.unique(groups):
        if len(np.unique(is_test[groups == group])) < 2:
            many = len(np.unique(sources[groups == group]))
            raise ValueError(
                f"samples to split must have sources of every group for both splits; group {group} has {many}, which cannot "
                "be divided; add samples of other sources, or leave the sources out."
            )
    return is_test


def hold_out_classes(samples: Samples, test: float = 0.2, seed: int = 0) -> Splits:
    """Split classes at random, holding out all samples of the share `test` of the classes (at least one class).

    Where samples have sources, classes that share one are held out together.
    """
    share, rng = check_test_share(test), np.random.default_rng(check_int("seed", seed, 0))
    labels = np.full(len(samples), -1) if samples.labels is None else samples.labels
    classes = np.unique(labels[labels >= 0])
    if len(classes) < 2:
        raise ValueError(f"samples to split by class must have at least 2 classes; got {len(classes)}; pass by='samples'.")
    sources = repeated_sources(samples.sources, len(samples))
    if sources is not None:
        known, labels = labels >= 0, linked_sources(labels, sources)
        classes = np.unique(labels[known])
        if len(classes) < 2:
            raise ValueError("classes to hold out must not share sources; all of them are linked by some; pass by='samples'.")
    is_test = np.isin(labels, rng.permutation(classes)[: count_held_out(len(classes), share)])
    return Splits(samples[~is_test], samples[is_test])


def hold_out_at_random(samples: Samples, n_test: int, rng: np.random.Generator) -> Splits:
    """Hold out `n_test` random samples, or nearly so many of whole sources; both splits keep the order of the samples."""
    sources = repeated_sources(samples.sources, len(samples))
    if sources is not None:
        is_test = _hold_out_sources(sources, np.zeros(len(samples), dtype=int), n_test / len(samples), rng)
        return Splits(samples[~is_test], samples[is_test])
    order = rng.permutation(len(samples))
    return Splits(samples[np.sort(order[n_test:])], samples[np.sort(order[:n_test])])


def count_held_out(n: int, share: float) -> int:
    """Return how many of n are held out for a share: at least one, and at least one is left."""
    return min(max(1, round(share * n)), n - 1)


def validation_split(splits: Splits, share: float = 0.2, seed: int = 0, by: str = "samples") -> Splits:
    """Return splits for model selection, both taken from the training split: the test split stays unseen.

    Parameters
    ----------
    splits
        Training and test split of a data set.
    share
        Share of each group's training samples that is held out as validation split (the `test` of what is returned).
    seed
        Decides which samples are held out. Samples of one source, such as the two images of a digit in `digit_style`, are held
        out together.
    by
        "samples" holds out samples of every class; "classes" holds out all samples of some classes, as the data sets with
        class and content do.

    Examples
    --------
    >>> from untwine.data import load
    >>> selection = validation_split(load("toy_contrast", n_target=50, n_background=30, n_common=1, n_salient=1))
    >>> len(selection.train), len(selection.test)
    (64, 16)
    """
    if not isinstance(splits, Splits):
        raise TypeError(f"splits must be the Splits that load returns; got {type(splits).__name__}; pass both splits.")
    check_choice("by", by, ("samples", "classes"))
    return (hold_out if by == "samples" else hold_out_classes)(splits.train, check_float("share", share, 0.01, 0.9), seed)
