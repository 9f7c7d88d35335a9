"""Class and content are predicted from each other's codes: the nuisance is the one that is not predicted."""

from __future__ import annotations

import warnings

import numpy as np

from untwine._typing import Array

ROUNDING = 1e-6  # of a column's largest value; codes are float32


def remove_means(codes: Array, nuisance: Array) -> Array:
    """Return codes (n, d) without the mean of each value of the nuisance (n,), numbered from 0 without gaps.

    For each column, the mean of a value with n_v samples is shrunk to that of all samples by b / (b + w / n_v), with the
    variances b between and w within the values (one-way analysis of variance): what does not depend on the nuisance is
    only centred, even where a value has few samples. Columns of which only rounding errors are left are 0.
    """
    n, sizes = len(codes), np.bincount(nuisance)
    if len(sizes) in (1, n):
        return codes
    mean = codes.mean(0)
    means = np.stack([np.bincount(nuisance, weights=column) for column in codes.T], axis=1) / sizes[:, None]
    within = np.square(codes - means[nuisance]).sum(0) / (n - len(sizes))
    between = (sizes[:, None] * np.square(means - mean)).sum(0) / (len(sizes) - 1)
    typical_size = (n - np.square(sizes).sum() / n) / (len(sizes) - 1)
    b = np.maximum(between - within, 0.0) / typical_size
    noise = b + within / sizes[:, None]
    weights = np.divide(np.broadcast_to(b, noise.shape), noise, out=np.zeros_like(noise), where=noise > 0)
    left = codes - (mean + weights * (means - mean))[nuisance]
    left[:, np.abs(left).max(0) <= ROUNDING * np.abs(codes).max(0)] = 0.0
    return np.asarray(left)


def recurring(labels: Array, nuisance: Array) -> Array:
    """Return the mask (n,) of the samples whose label occurs with at least two values of the nuisance."""
    pairs = np.unique(np.column_stack([labels, nuisance]), axis=0)
    return np.asarray((np.bincount(pairs[:, 0]) > 1)[labels])


def nuisance_folds(labels: Array, nuisance: Array, folds: int, seed: int) -> list[tuple[Array, Array]]:
    """Return (train, test) for each fold: a value of the nuisance is in one fold only, and the folds' labels are alike."""
    from sklearn.model_selection import StratifiedGroupKFold

    # No more folds than values, nor than the most frequent label has samples, as the splitter requires.
    folds = min(folds, int(nuisance.max()) + 1, int(np.bincount(labels).max()))
    splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a label with fewer samples than folds is in fewer of them
        pairs = list(splitter.split(np.zeros((len(labels), 1)), labels, nuisance))
    return [(train, test) for train, test in pairs if len(test)]
