"""Whether the class can be read off the codes by straight cuts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine.metrics.checks import class_column, code_rows, fold_count
from untwine.metrics.threads import one_thread


class Probe(NamedTuple):
    """What `probe` found: the mean accuracy, the accuracy of each fold, and how many rows were used."""

    accuracy: float
    folds: tuple[float, ...]
    n: int


def probe(codes: ArrayLike, labels: ArrayLike, folds: int = 5, seed: int = 0) -> Probe:
    """Return the accuracy of a linear classifier of labels (n,) on codes (n, d), held out.

    Multinomial logistic regression (l2 penalty, C = 1) on codes standardised by the training rows of each of `folds`
    stratified folds; the mean over folds of the share of held-out rows that get their class. In [0, 1]: 1 means that the
    classes are linearly separable, the share of the largest class that the codes tell nothing (constant codes get it).
    Higher is better where the class should be, lower where it should not. Blind to classes that are there but not linearly.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    codes = code_rows(codes)
    labels = class_column(labels, len(codes))
    folds = fold_count(folds, len(codes))
    sizes = np.bincount(labels)
    if len(sizes) < 2 or sizes.min() < folds:
        raise ValueError(
            f"probe expected at least 2 classes of at least {folds} rows each, one for every fold, but got {len(sizes)} "
            f"classes, the smallest of {sizes.min()} rows; leave small classes out or lower folds."
        )
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed).split(codes, labels)
    values = []
    with one_thread():
        for train, test in splits:
            # With standardised columns and the penalty, a few dozen steps are the rule; the bound guards the exception.
            model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=10_000)).fit(codes[train], labels[train])
            values.append(float(model.score(codes[test], labels[test])))
    return Probe(float(np.mean(values)), tuple(values), len(labels))
