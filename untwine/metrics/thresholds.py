"""The best accuracy of thresholds on one latent for classes."""

from __future__ import annotations

import numpy as np

from untwine._typing import Array

WHOLE = 1 << 62


def balanced_accuracies(codes: Array, classes: Array) -> Array:
    """Return the best balanced accuracy (d, k) of thresholds on each latent (n, d) for each column of classes (n, k).

    C - 1 thresholds cut the line into C intervals, each of which is given the class that helps most (a class may take
    several, or none). Balanced accuracy is the mean over classes of the share of their samples that fall into an interval of
    their own. In [1/C, 1]: 1/C for a constant latent, 1 for one that sorts the classes.
    """
    scores = np.empty((codes.shape[1], classes.shape[1]))
    for i, z in enumerate(codes.T):
        order = np.argsort(z)
        apart = np.diff(z[order]) > 0
        for j, y in enumerate(classes.T):
            scores[i, j] = _best(y[order], apart)
    return scores


def _best(y: Array, apart: Array) -> float:
    """Return the best balanced accuracy for classes in the order of the latent; `apart` is where a threshold fits.

    With W_c(t) the weight of class c among the first t samples, the best with m intervals up to t whose last one is c is
    f_m(t, c) = W_c(t) + max_{s <= t} (g_{m-1}(s) - W_c(s)), where g_m(t) = max_c f_m(t, c) and g_0(0) = 0: a running maximum.
    """
    sizes = np.bincount(y)
    classes = len(sizes)
    # Between two samples of one class no threshold is ever needed, unless samples of other classes have the same value.
    cut = y[1:] != y[:-1] if apart.all() else apart
    segment = np.concatenate([[0], np.cumsum(cut)])
    segments = int(segment[-1]) + 1
    # Weights as integers over WHOLE: a running maximum of integers is five times as fast, and exact.
    unit = WHOLE // (classes * np.maximum(sizes, 1))
    counts = np.bincount(y * segments + segment, minlength=classes * segments).reshape(classes, segments)
    weights = np.cumsum(counts * unit[:, None], axis=1)
    whole, weights = weights[:, -1], np.ascontiguousarray(weights[:, :-1])
    if segments == 1:
        return float(whole.max() / WHOLE)
    gain, best = weights.max(axis=0), np.empty_like(weights)
    for _ in range(classes - 2):
        np.subtract(gain, weights, out=best)
        np.maximum.accumulate(best, axis=1, out=best)
        best += weights
        more = best.max(axis=0)
        if np.array_equal(more, gain):
            break
        gain = more
    return float((whole + (gain - weights).max(axis=1)).max() / WHOLE)
