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


def probe(codes: ArrayLike, labels: ArrayLike, folds: int = 5, seed: int = 0, standardise: bool = False) -> Probe:
    """Return the accuracy of a linear classifier of labels (n,) on codes (n, d), held out.

    Multinomial logistic regression (l2 penalty, C = 1) in each of `folds` stratified folds; the mean over folds of the share of
    held-out rows that get their class. In [0, 1]: 1 means that the classes are linearly separable, the share of the largest
    class that the codes tell nothing (constant codes get it). Higher is better where the class should be, lower where it should
    not. Blind to classes that are there but not linearly.

    The codes are centred and the whole block is divided by one number, its root mean square spread, so the units of the block
    do not matter but the spread of each column does: an unused dimension of a VAE, whose mean moves by a hundredth of its
    posterior deviation, is as good as constant for every decoder. With `standardise` each column is brought to deviation 1
    instead, which finds such traces as well.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

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
            spread = codes[train].std(0)
            spread = np.where(spread > 1e-9 * np.abs(codes[train]).max(0), spread, 0.0)  # rounding of a constant is no spread
            one = float(np.sqrt(np.square(spread).mean())) or 1.0
            scale = np.where(spread > 0, spread, np.inf) if standardise else np.where(spread > 0, one, np.inf)
            scaled = (codes - codes[train].mean(0)) / scale
            # On this scale and with the penalty, a few dozen steps are the rule; the bound only guards the exception.
            model = LogisticRegression(max_iter=10_000).fit(scaled[train], labels[train])
            values.append(float(model.score(scaled[test], labels[test])))
    return Probe(float(np.mean(values)), tuple(values), len(labels))
