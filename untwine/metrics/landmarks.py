"""Distance of landmarks that a linear regression predicts from the codes to the true ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import check_codes, check_folds
from untwine.metrics.directions import FACTORS_LOWER, INFO
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import FOLDS, random_folds
from untwine.metrics.intervals import fold_interval
from untwine.metrics.metric import LINEAR, Measurement, Metric, Requirement, ScoreInfo
from untwine.metrics.regression import least_squares


class Landmarks(NamedTuple):
    """Distances in the units of the landmarks.

    Attributes
    ----------
    error, constant
        The mean distance of predicted landmarks to the true ones, and that of the mean landmarks of the train samples.
    folds, constant_folds
        Both for each fold.
    n
        The number of samples.
    """

    error: float
    constant: float
    folds: tuple[float, ...]
    constant_folds: tuple[float, ...]
    n: int


def landmark_error(
    codes: ArrayLike, points: ArrayLike, folds: int = 5, seed: int = 0, sources: ArrayLike | None = None
) -> Landmarks:
    r"""Return the mean distance of landmarks (n, k, 2) to those that a linear regression on codes (n, d) predicts, held out.

    $\frac{1}{n k} \sum_{ij} \|p_{ij} - \hat p_{ij}\|$ over the held-out samples of all folds, in pixels where the landmarks are
    (Gabbay and Hoshen 2020, table 2). At least 0: 0 means that the codes determine where every landmark is. `constant` is the
    error of the mean landmarks of the train samples, the constant-predictor baseline: codes that do not encode landmarks come
    out near it, mostly above. Lower is better for content codes, higher for class codes. With `sources` (n,) no source is
    in two folds.
    """
    codes = check_codes(codes)
    truth = np.asarray(points, dtype=float)
    shaped = truth.ndim == 3 and truth.shape[2] == 2 and len(truth) == len(codes) and truth.size > 0
    if not shaped or not np.isfinite(truth).all():
        raise ValueError(
            f"points must be known landmarks (n, k, 2) for the {len(codes)} samples; got shape {truth.shape} or unknown ones; "
            "leave samples without landmarks out."
        )
    flat = truth.reshape(len(codes), -1)
    errors, constants, tests = np.empty(truth.shape[:2]), np.empty(truth.shape[:2]), []
    for train, test in random_folds(len(codes), check_folds(folds, len(codes)), seed, sources):
        errors[test] = _distances(truth[test], least_squares(codes, flat, train, test))
        constants[test] = _distances(truth[test], np.broadcast_to(flat[train].mean(0), (len(test), flat.shape[1])))
        tests.append(test)
    own, constant = (tuple(float(each[test].mean()) for test in tests) for each in (errors, constants))
    return Landmarks(float(errors.mean()), float(constants.mean()), own, constant, len(codes))


def _distances(truth: Array, predicted: Array) -> Array:
    return np.asarray(np.linalg.norm(truth - predicted.reshape(truth.shape), axis=2))


def _measure(data: Encoded) -> Iterator[Measurement]:
    indices, points = data.landmarks()
    for i, (block, codes) in enumerate(data.latents.take(indices).items()):
        result = landmark_error(codes, points, FOLDS, sources=data.sources_of(indices))
        if i == 0:  # it does not depend on the codes, so it is the same for every block
            interval = fold_interval(result.constant, result.constant_folds, (0, np.inf))
            yield Measurement("landmarks_constant.x", result.constant, interval, result.n)
        interval = fold_interval(result.error, result.folds, (0, np.inf))
        yield Measurement(f"landmarks.{block}", result.error, interval, result.n)


METRIC = Metric(
    name="landmarks",
    function=_measure,
    description="Distance of landmarks predicted by a linear regression to the true ones, and of the constant predictor.",
    scores={
        "landmarks": ScoreInfo(
            "How far from the true landmarks are those that a linear regression predicts from this block? Mean distance.",
            FACTORS_LOWER,
            LINEAR,
        ),
        "landmarks_constant": ScoreInfo(
            "Constant-predictor baseline: the same distance for predicting the mean position of each landmark.", INFO
        ),
    },
    requires=(
        Requirement(
            "landmarks",
            lambda data: len(data.landmarks()[0]) >= 2 * FOLDS,
            f"factors named 'landmark ...', x and y in turn, known for {2 * FOLDS} samples",
            "none",
            "pass such samples",
        ),
    ),
)
