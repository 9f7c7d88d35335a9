"""How well codes separate target and background: the groups should be predicted from the salient block, and from no other."""

from __future__ import annotations

import numpy as np

from untwine._typing import Array
from untwine.latents import Latents
from untwine.samples import BACKGROUND, Samples
from untwine.training.threads import one_thread

FOLDS = 5
LEAST_VARIANCE = 1e-6  # of codes with standard deviation 1: a block may be constant in the background


def group_separation(z: Latents, samples: Samples) -> float:
    r"""Return how much better the group is predicted from the salient than from the common block.

    .. math:: a(salient) - a(common), \quad a = \max(0, 2 \cdot \text{balanced accuracy} - 1)

    of a cross-validated quadratic discriminant analysis: a Gaussian for each group, with a Ledoit-Wolf covariance, since groups
    may differ in variance alone. Samples of one source are in one fold. In [-1, 1], higher is better: 1 if the salient block
    predicts the group without error and the common block at chance level, 0 if both do equally well, -1 the other way round.
    """
    target = np.asarray(samples.groups) != BACKGROUND
    least = int(min(target.sum(), (~target).sum()))
    if least < 2:
        raise ValueError(
            f"score needs at least 2 samples of target and of background; got {int(target.sum())} and {int((~target).sum())}; "
            "stratify the folds, as StratifiedKFold does."
        )
    return _advantage(z["salient"], target, samples.sources) - _advantage(z["common"], target, samples.sources)


def _advantage(codes: Array, target: Array, sources: Array | None) -> float:
    """Return how much better than by chance the group of held-out samples is predicted: 0 at chance, 1 without error."""
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    units = np.arange(len(target)) if sources is None else sources
    least = min(len(np.unique(units[side])) for side in (target, ~target))
    kind = StratifiedKFold if sources is None else StratifiedGroupKFold
    folds = kind(max(2, min(FOLDS, least)), shuffle=True, random_state=0)
    white, right = _whiten(codes), np.zeros(len(target), dtype=bool)
    with one_thread():
        for train, test in folds.split(white, target, sources):
            of_target, of_background = (
                _log_density(white[train][target[train] == side], white[test]) for side in (True, False)
            )
            right[test] = (of_target > of_background) == target[test]
    return max(0.0, float(right[target].mean() + right[~target].mean()) - 1)


def _whiten(codes: Array) -> Array:
    """Return codes whose covariance is the identity: scale and rotation of a block do not count, constants are left out."""
    centred = codes.astype(np.float64) - codes.mean(0, dtype=np.float64)
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(centred.T, bias=True)))
    varying = values > 1e-10 * max(values.max(), 1e-30)
    white: Array = centred @ vectors[:, varying] / np.sqrt(values[varying])
    return white


def _log_density(codes: Array, at: Array) -> Array:
    """Return the log-density (m,) of a Gaussian that is fitted to codes (n, d), up to a constant, at others (m, d)."""
    from sklearn.covariance import ledoit_wolf

    mean = codes.mean(0)
    if not codes.shape[1]:
        return np.zeros(len(at))
    covariance = ledoit_wolf(codes - mean, assume_centered=True)[0] if len(codes) > 1 else np.zeros((codes.shape[1],) * 2)
    values, vectors = np.linalg.eigh(covariance)
    values = np.maximum(values, LEAST_VARIANCE)
    density: Array = -0.5 * (np.square((at - mean) @ vectors) / values).sum(1) - 0.5 * np.log(values).sum()
    return density
