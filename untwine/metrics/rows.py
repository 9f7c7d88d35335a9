"""Which rows and columns are scored, and which rows are shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from untwine._typing import Array

BACKGROUND = 0
UNKNOWN = -1


def target_rows(groups: Array | None, rows: int) -> Array:
    """Return the mask (n,) of targets: all rows, where there are no groups."""
    return np.ones(rows, dtype=bool) if groups is None else groups != BACKGROUND


def labelled_rows(labels: Array | None, target: Array, least: int) -> Array:
    """Return the indices of targets whose label is known, in classes that have at least `least` of them."""
    if labels is None:
        return np.empty(0, dtype=int)
    rows = np.flatnonzero(target & (labels != UNKNOWN))
    sizes = np.bincount(labels[rows], minlength=1)
    return rows[sizes[labels[rows]] >= least]


def factor_mask(factors: Array | None, names: Sequence[str], target: Array, least: int, salient: bool) -> Array:
    """Return the indices of the factors that vary over the targets and are known in at least `least` of them.

    Those whose name starts with "salient " are truths of the salient part; all others are truths of the common part.
    """
    if factors is None:
        return np.empty(0, dtype=int)
    values = [y[~np.isnan(y)] for y in factors[target].T]
    varies = [len(known) >= least and bool(np.ptp(known) > 0) for known in values]
    return np.flatnonzero([vary and name.startswith("salient ") == salient for vary, name in zip(varies, names, strict=False)])


def varied_rows(labels: Array | None, rows: Array, rng: np.random.Generator) -> Array:
    """Return all the rows in an order that goes through the classes in turn, at random within each; unknown labels last."""
    rows = rng.permutation(rows)
    if labels is None or not len(rows):
        return rows
    classes = labels[rows]
    turn = np.empty(len(rows), dtype=int)
    for c in np.unique(classes):
        turn[classes == c] = np.arange((classes == c).sum())
    return rows[np.lexsort((classes, turn, classes == UNKNOWN))]
