"""Binary attributes along one direction each: the difference of the means, and a threshold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import code_rows, fold_count
from untwine.metrics.held_out import Split, random_folds, random_parts, split_rows


class Attributes(NamedTuple):
    """What `attributes` found.

    Attributes
    ----------
    accuracy
        The mean over the attributes, in [0, 1].
    per_attribute
        The accuracy of each attribute.
    majority
        For each attribute the accuracy of always saying what is more frequent among the training rows.
    folds
        The mean accuracy in each fold (or part).
    n
        How many rows were judged.
    """

    accuracy: float
    per_attribute: tuple[float, ...]
    majority: tuple[float, ...]
    folds: tuple[float, ...]
    n: int


def attributes(
    codes: ArrayLike,
    attributes: ArrayLike,
    folds: int = 5,
    seed: int = 0,
    split: Split | None = None,
    standardise: bool = True,
) -> Attributes:
    """Return the accuracy with which binary attributes (n, k) are read along mean-difference vectors of codes (n, d).

    w_k = mean of the codes with attribute k - mean of those without; s_i = w_k . z_i; the bias b that makes
    sum_i max(0, 1 - y_i (s_i + b)) least, y being 1 or -1; the attribute is there where s_i + b > 0 (paper 002, table 2). In
    [0, 1], higher is better: 1 means that one direction parts the attribute cleanly, `majority` that the codes tell nothing
    (constant codes get it). Order and rotation of latents do not matter, nor does doubling all of them; their scales do, for w
    is not whitened. It says nothing of disentanglement.

    Fitted on the other folds and judged on each, or fitted and judged on the two sets of rows of `split` (train, test).

    Parameters
    ----------
    attributes
        0 and 1, or booleans; an attribute that never varies is refused.
    standardise
        Divide s by its deviation, so that the units of the codes do not matter to the margin of 1; the paper does not.

    Version 1: exact minimum of the loss, the middle where it is flat.
    """
    codes = code_rows(codes)
    truth = _binary(attributes, len(codes))
    if split is None:
        pairs = random_folds(len(codes), fold_count(folds, len(codes)), seed)
        parts = [test for _, test in pairs]
    else:
        pairs = [split_rows(split, len(codes))]
        parts = random_parts(pairs[0][1], fold_count(folds, len(pairs[0][1])), seed)
    right, common = np.zeros((2, *truth.shape), dtype=bool)
    for train, test in pairs:
        for k, y in enumerate(truth.T):
            right[test, k] = _read(codes, y, train, test, standardise) == y[test]
            common[test, k] = y[test] == (y[train].mean() > 0.5)
    rows = np.concatenate([test for _, test in pairs])
    per_attribute = right[rows].mean(axis=0)
    return Attributes(
        accuracy=float(per_attribute.mean()),
        per_attribute=tuple(per_attribute.tolist()),
        majority=tuple(common[rows].mean(axis=0).tolist()),
        folds=tuple(float(right[part].mean()) for part in parts),
        n=len(rows),
    )


def hinge_bias(scores: Array, truth: Array) -> float:
    """Return the b at which sum_i max(0, 1 - y_i (s_i + b)) is least, y being 1 where truth and -1 elsewhere.

    The loss is convex and bends at y_i - s_i: its slope there rises from minus the number of true rows by one each.
    """
    bends = np.sort(np.where(truth, 1.0, -1.0) - scores)
    least = int(truth.sum())
    return float((bends[max(least - 1, 0)] + bends[min(least, len(bends) - 1)]) / 2)


def _read(codes: Array, y: Array, train: Array, test: Array, standardise: bool) -> Array:
    if y[train].all() or not y[train].any():
        return np.full(len(test), bool(y[train][0]))
    fit = codes[train]
    w = fit[y[train]].mean(axis=0) - fit[~y[train]].mean(axis=0)
    w = np.where(np.ptp(fit, axis=0) > 0, w, 0.0)
    centre = fit.mean(axis=0) if standardise else np.zeros(len(w))  # where numbers are large, digits are lost otherwise
    s = (fit - centre) @ w
    scale = float(s.std()) if standardise and np.ptp(s) > 0 else 1.0
    bias = hinge_bias(s / scale, y[train])
    return np.asarray((codes[test] - centre) @ w / scale + bias > 0)


def _binary(attributes: ArrayLike, rows: int) -> Array:
    truth = np.asarray(attributes)
    truth = truth[:, None] if truth.ndim == 1 else truth
    if truth.shape[:1] != (rows,) or truth.ndim != 2 or not truth.shape[1] or truth.dtype.kind not in "uifb":
        raise ValueError(f"attributes expected 0 and 1 of shape ({rows}, k); got {truth.dtype} of shape {truth.shape}.")
    if not np.isin(truth, (0, 1)).all() or (np.ptp(truth.astype(float), axis=0) == 0).any():
        raise ValueError("attributes expected columns of both 0 and 1 and nothing else; got others; leave those columns out.")
    return truth.astype(bool)
