"""Explicitness: whether every value of a factor can be told from the codes by a linear classifier."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import code_rows
from untwine.metrics.held_out import Split, spreads, third_held_out
from untwine.metrics.truths import Continuous, class_columns, varying
from untwine.training.threads import one_thread

BINS = 10


class Explicitness(NamedTuple):
    """What `explicitness` found: the score on test rows, that on training rows, and both for each factor that varies."""

    explicitness: float
    train: float
    per_factor: tuple[float, ...]
    per_factor_train: tuple[float, ...]


def explicitness(
    codes: ArrayLike,
    factors: ArrayLike,
    continuous: Continuous = None,
    split: Split | None = None,
    seed: int = 0,
) -> Explicitness:
    """Return the explicitness of codes (n, d) for factors (n, k) (Ridgeway and Mozer 2018).

    mean over factors and their values v of the area under the ROC curve of P(y = v | z), by multinomial logistic regression
    (C = 1) on all latents, each brought to mean 0 and deviation 1, for held-out rows. In [0, 1], higher is better: 1 means that
    every value can be told from all others, 0.5 that the codes tell nothing (constant or random ones). Not rescaled to start
    at 0, as in the original paper. Order, scale and copies of latents do not matter, and rotation hardly: it says nothing of
    disentanglement.

    Integer factors are classes; floats are continuous, and cut into 10 bins where they have more values, unless `continuous`
    says otherwise; a factor that never varies is left out, and so is a value that test rows lack. `split` gives two sets of
    rows (train, test); a random third is held out by `seed` where it is not given.

    Version 1.
    """
    table = code_rows(codes)
    classes = class_columns(factors, len(table), continuous, BINS)
    train, test = third_held_out(split, len(table), "explicitness", seed)
    varies = varying(classes[train], "explicitness")
    spread = spreads(table[train])
    scaled = (table - table[train].mean(axis=0)) / np.where(spread > 0, spread, np.inf)
    areas = [_areas(scaled, y, train, test) for y in classes[:, varies].T]
    held_out, fitted = zip(*areas, strict=True)
    return Explicitness(float(np.mean(held_out)), float(np.mean(fitted)), held_out, fitted)


def _areas(codes: Array, y: Array, train: Array, test: Array) -> tuple[float, float]:
    """Return the mean area over the values of one factor, on test and on training rows."""
    from sklearn.linear_model import LogisticRegression

    with one_thread():
        model = LogisticRegression(max_iter=10_000).fit(codes[train], y[train])
        found = []
        for rows in (test, train):
            p = model.predict_proba(codes[rows])
            each = [_area(p[:, i], y[rows] == value) for i, value in enumerate(model.classes_)]
            known = [area for area in each if area is not None]
            if not known:
                raise ValueError("explicitness expected test rows of two values of a factor; got one; split other rows.")
            found.append(float(np.mean(known)))
    return found[0], found[1]


def _area(score: Array, own: Array) -> float | None:
    """Return the share of pairs (own row, other row) that the score puts in order, ties counting half."""
    from scipy.stats import rankdata

    many = int(own.sum())
    if not 0 < many < len(own):
        return None
    ranks = rankdata(score)[own].sum()
    return float((ranks - many * (many + 1) / 2) / (many * (len(own) - many)))
