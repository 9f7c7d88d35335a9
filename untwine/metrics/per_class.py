"""Which of the classes can be read off the codes: the accuracy of a linear classifier, class by class."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine.metrics.checks import class_column, code_rows
from untwine.metrics.held_out import Split, classify


class PerClass(NamedTuple):
    """What `per_class` found.

    Attributes
    ----------
    mean
        The mean of the accuracies, every class counted once, in [0, 1].
    accuracy
        The accuracy of each class, by the class as it was given, in [0, 1].
    folds
        For each class the accuracy in each fold (or part) that holds rows of it.
    n
        How many rows of each class were judged.
    """

    mean: float
    accuracy: dict[int | str, float]
    folds: dict[int | str, tuple[float, ...]]
    n: dict[int | str, int]


def per_class(
    codes: ArrayLike,
    labels: ArrayLike,
    folds: int = 5,
    seed: int = 0,
    standardise: bool = False,
    split: Split | None = None,
) -> PerClass:
    """Return for each class of labels (n,) the share of its held-out rows that a linear classifier on codes (n, d) gives to it.

    The classifier of `probe`, with its folds, its scaling and its `split`. Accuracy of c = #{i: label_i = c, predicted_i = c} /
    #{i: label_i = c} over the held-out rows of all folds together; `mean` is their unweighted mean, known as balanced
    accuracy. In [0, 1], higher is better where the class should be: 1 means that no row of the class is taken for another, 0
    that all are. Codes that tell nothing give the largest class 1 and all others 0 where one class is larger than the rest, so
    the mean is 1 over the number of classes. A class of which no row is held out is left out.
    """
    codes = code_rows(codes)
    given = np.asarray(labels)
    labels = class_column(given, len(codes))
    names = [name.item() for name in np.unique(given)]
    found = classify(codes, labels, folds, seed, standardise, split)
    right = np.zeros(len(codes), dtype=bool)
    right[found.rows] = labels[found.rows] == found.predicted
    rows = {name: found.rows[labels[found.rows] == c] for c, name in enumerate(names)}
    parts = {name: [part[labels[part] == c] for part in found.parts] for c, name in enumerate(names)}
    accuracy = {name: float(right[own].mean()) for name, own in rows.items() if len(own)}
    return PerClass(
        mean=float(np.mean(list(accuracy.values()))),
        accuracy=accuracy,
        folds={name: tuple(float(right[own].mean()) for own in parts[name] if len(own)) for name in accuracy},
        n={name: len(rows[name]) for name in accuracy},
    )
