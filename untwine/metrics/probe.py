"""Whether the class can be read off the codes by straight cuts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine.metrics.checks import class_column, code_rows
from untwine.metrics.held_out import Split, classify


class Probe(NamedTuple):
    """What `probe` found: the mean accuracy, the accuracy of each fold (or part), and how many rows were judged."""

    accuracy: float
    folds: tuple[float, ...]
    n: int


def probe(
    codes: ArrayLike,
    labels: ArrayLike,
    folds: int = 5,
    seed: int = 0,
    standardise: bool = False,
    split: Split | None = None,
) -> Probe:
    """Return the accuracy of a linear classifier of labels (n,) on codes (n, d), held out.

    Multinomial logistic regression (l2 penalty, C = 1) in each of `folds` stratified folds; the mean over folds of the share of
    held-out rows that get their class. In [0, 1]: 1 means that the classes are linearly separable, the share of the largest
    class that the codes tell nothing (constant codes get it). Higher is better where the class should be, lower where it should
    not. Blind to classes that are there but not linearly.

    The codes are centred and the whole block is divided by one number, its root mean square spread, so the units of the block
    do not matter but the spread of each column does: an unused dimension of a VAE, whose mean moves by a hundredth of its
    posterior deviation, is as good as constant for every decoder. With `standardise` each column is brought to deviation 1
    instead, which finds such traces as well.

    With `split`, two sets of rows (train, test) as indices or masks, one classifier is fitted on the first and judged on the
    second; `folds` then are the accuracies on that many random parts of the test rows.
    """
    codes = code_rows(codes)
    labels = class_column(labels, len(codes))
    found = classify(codes, labels, folds, seed, standardise, split)
    right = np.zeros(len(codes), dtype=bool)
    right[found.rows] = labels[found.rows] == found.predicted
    values = [float(right[part].mean()) for part in found.parts]
    accuracy = float(np.mean(values)) if split is None else float(right[found.rows].mean())
    return Probe(accuracy, tuple(values), len(found.rows))
