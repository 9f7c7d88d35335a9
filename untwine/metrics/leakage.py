"""How much of what one part should hold can be read from another part."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import class_column, code_rows
from untwine.metrics.factors import factors
from untwine.metrics.intervals import over_folds
from untwine.metrics.probe import probe


class Leakage(NamedTuple):
    """What `leakage` found.

    Attributes
    ----------
    leakage
        The share, in [0, 1].
    other, own
        How much can be read from each part: 0 is what guessing gives, 1 is everything.
    folds
        The share in each fold.
    n
        How many rows were used.
    """

    leakage: float
    other: float
    own: float
    folds: tuple[float, ...]
    n: int


def leakage(other: ArrayLike, own: ArrayLike, truth: ArrayLike, folds: int = 5, seed: int = 0) -> Leakage:
    """Return how much of a truth leaks into codes `other` (n, d), as a share of what its `own` part (n, e) holds.

    r(other) / r(own), cut to [0, 1], where r is how much a linear map reads, held out: for classes (n,), integers or strings,
    (accuracy - g) / (1 - g) of `probe`, g being the share of the largest class; for factors (n, k), floats, the R2 of
    `factors`.
    Lower is better: 0 means that nothing leaks, 1 that the other part tells as much as the part that should hold it, or more.
    Where the own part holds nothing (no more than its folds scatter around 0), there is nothing to compare with: then 1 if the
    other part holds the truth, and 0 if neither does. Blind to what is there but not linearly.
    """
    other, own = code_rows(other), code_rows(own)
    if len(other) != len(own):
        raise ValueError(f"leakage expected both parts of the same rows; got {len(other)} and {len(own)} rows.")
    (a, folds_a, n), (b, folds_b, _) = (_readable(codes, np.asarray(truth), folds, seed) for codes in (other, own))
    held = _beyond_chance(b, folds_b)
    nothing = float(_beyond_chance(a, folds_a))
    shares = tuple(_share(x, y) if held else nothing for x, y in zip(folds_a, folds_b, strict=True))
    return Leakage(_share(a, b) if held else nothing, a, b, shares, n)


def _readable(codes: Array, truth: Array, folds: int, seed: int) -> tuple[float, tuple[float, ...], int]:
    """Return how much a linear map reads: altogether, in each fold, and from how many rows."""
    if truth.dtype.kind == "f":
        found = factors(codes, truth, folds, seed)
        return found.r2, found.folds, found.n
    sizes = np.bincount(class_column(truth, len(codes)))
    guess = float(sizes.max() / sizes.sum())
    probed = probe(codes, truth, folds, seed)
    # One class alone is refused by the probe, so guessing is never perfect here.
    accuracies = (probed.accuracy, *probed.folds)
    value, *each = (max(0.0, (accuracy - guess) / (1.0 - guess)) for accuracy in accuracies)
    return value, tuple(each), probed.n


def _beyond_chance(value: float, folds: tuple[float, ...]) -> bool:
    return over_folds(value, folds)[0] > 0


def _share(a: float, b: float) -> float:
    return float(np.clip(a / b, 0.0, 1.0)) if b > 0 else float(a > 0)
