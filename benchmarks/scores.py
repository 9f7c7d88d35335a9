"""Metrics of single latents, against what the best-known library took, brought to this machine by scikit-learn.

The library's figures, and those of scikit-learn's boosted trees, are seconds on two cores of another machine, for 10,000 x 10
codes with 5 factors of 10 values. A few of the same boosted trees are timed here, in every round: how much longer or
shorter they take than there is how much longer or shorter the library would. Those trees are fitted on all of these samples,
and so are ours of `dci`, which by default would hold out a third of them: it is given half as many more to score on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter

import numpy as np

from untwine import metrics
from untwine._typing import Array

SAMPLES, LATENTS, FACTORS, VALUES = 10_000, 10, 5, 10
FUNCTIONS: dict[str, Callable[..., object]] = {
    "z_diff": metrics.z_diff_score,
    "factor_vae_score": metrics.factor_vae_score,
    "sap": metrics.sap_score,
    "mig": metrics.mig_score,
}
LIBRARY = {"z_diff": 2.0, "factor_vae_score": 1.4, "sap": 0.64, "mig": 0.16}  # seconds
TREES, ALL_TREES, ALL_SECONDS = 4, 100, 181.0  # boosted trees for each factor: timed here, and in the known seconds of all
CALIBRATION = ALL_SECONDS / FACTORS * TREES / ALL_TREES  # seconds there of what is timed here: one factor, a few trees


def noisy_codes(n: int) -> tuple[Array, Array]:
    """Return codes (n, 10), a noisy function of factors (n, 5) of 10 values each."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, VALUES, (n, FACTORS))
    mixed = (factors / VALUES - 0.5) @ rng.normal(size=(FACTORS, LATENTS))
    return np.tanh(mixed) + 0.1 * rng.normal(size=(n, LATENTS)), factors


def calibration(codes: Array, factors: Array) -> float:
    """Return the seconds of scikit-learn's boosted trees for one factor, with few trees."""
    from sklearn.ensemble import GradientBoostingClassifier

    start = perf_counter()
    GradientBoostingClassifier(n_estimators=TREES, random_state=0).fit(codes, factors[:, 0])
    return perf_counter() - start


def sides(n: int) -> dict[str, Callable[[], float]]:
    """Return the sides of a round: the calibration, and each metric with its defaults; `dci` has the calibration's samples."""
    more = n + n // 2
    codes, factors = noisy_codes(more)
    known = codes[:n], factors[:n]
    timed = {name: partial(_seconds, FUNCTIONS[name], *known) for name in LIBRARY}
    fitting = partial(metrics.dci_scores, split=(np.arange(n), np.arange(n, more)))
    return {"scikit-learn": partial(calibration, *known), **timed, "dci": partial(_seconds, fitting, codes, factors)}


def _seconds(metric: Callable[..., object], codes: Array, factors: Array) -> float:
    start = perf_counter()
    metric(codes, factors)
    return perf_counter() - start
