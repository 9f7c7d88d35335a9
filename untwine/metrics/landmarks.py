"""How far a linear regression is off when it places landmarks by the codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import code_rows, fold_count
from untwine.metrics.held_out import random_folds
from untwine.metrics.regression import least_squares


class Landmarks(NamedTuple):
    """What `landmarks` found, in the units of the landmarks.

    Attributes
    ----------
    error, constant
        The mean distance of predicted landmarks to the true ones, and that of the mean of the training rows.
    folds, constant_folds
        Both for each fold.
    n
        How many rows were judged.
    """

    error: float
    constant: float
    folds: tuple[float, ...]
    constant_folds: tuple[float, ...]
    n: int


def landmarks(codes: ArrayLike, points: ArrayLike, folds: int = 5, seed: int = 0) -> Landmarks:
    r"""Return how far landmarks (n, k, 2) are from where a linear regression on codes (n, d) places them, held out.

    $\frac{1}{n k} \sum_{ij} \|p_{ij} - \hat p_{ij}\|$ over the held-out rows of all folds, in pixels where the landmarks are
    (paper 004, table 2). From 0: 0 means that the codes tell where every landmark is. `constant` is the error of the mean
    landmarks of the training rows, all that can be said without codes: codes that tell nothing come out near it, mostly above.
    Low is good for content codes, high for class codes.
    """
    rows = code_rows(codes)
    truth = np.asarray(points, dtype=float)
    if truth.ndim != 3 or truth.shape[2] != 2 or len(truth) != len(rows) or not truth.size or not np.isfinite(truth).all():
        raise ValueError(
            f"landmarks expected known points (n, k, 2) for the {len(rows)} rows of codes; got shape {truth.shape} or "
            "unknown ones; leave rows without landmarks out."
        )
    flat = truth.reshape(len(rows), -1)
    off, still, parts = np.empty(truth.shape[:2]), np.empty(truth.shape[:2]), []
    for train, test in random_folds(len(rows), fold_count(folds, len(rows)), seed):
        off[test] = _distances(truth[test], least_squares(rows, flat, train, test))
        still[test] = _distances(truth[test], np.broadcast_to(flat[train].mean(0), (len(test), flat.shape[1])))
        parts.append(test)
    own, constant = (tuple(float(each[part].mean()) for part in parts) for each in (off, still))
    return Landmarks(float(off.mean()), float(still.mean()), own, constant, len(rows))


def named_points(factors: Array | None, names: Sequence[str]) -> tuple[Array, Array]:
    """Return the rows whose landmarks are known, and these (n, k, 2): factors named "landmark ...", x and y in turn."""
    columns = np.flatnonzero(landmark_names(names))
    if factors is None or not len(columns) or len(columns) % 2:
        return np.arange(0), np.empty((0, 0, 2))
    points = factors[:, columns].reshape(len(factors), -1, 2)
    rows = np.flatnonzero(~np.isnan(points).any(axis=(1, 2)))
    return rows, points[rows]


def landmark_names(names: Sequence[str]) -> Array:
    """Return which factors are coordinates of landmarks, by their names (k,)."""
    return np.array([name.startswith("landmark") for name in names], dtype=bool)


def _distances(truth: Array, found: Array) -> Array:
    return np.asarray(np.linalg.norm(truth - found.reshape(truth.shape), axis=2))
