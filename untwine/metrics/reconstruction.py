"""Mean squared error of decoded samples."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.directions import LOWER
from untwine.metrics.encoded import DECODE_BATCH, Encoded
from untwine.metrics.intervals import subset_interval
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.samples import unit_range


def reconstruction_error(x: ArrayLike, decoded: ArrayLike) -> float:
    """Return the mean squared error of `decoded` for `x`, over all samples and all elements.

    (1 / n m) sum_ij (x_ij - xhat_ij)^2, m being the number of elements (pixels and channels) of a sample. Images are compared
    on [0, 1]: uint8 is divided by 255 on either side. Vectors are compared in their own units, unscaled. From 0, lower is
    better: 0 means equal; the mean of the elements' variances is the error of the mean sample; on [0, 1] it cannot exceed 1.
    """
    return float(squared_errors(x, decoded).mean())


def squared_errors(x: ArrayLike, decoded: ArrayLike) -> Array:
    """Return for each sample the mean over its elements of the squared error, as in `reconstruction_error`."""
    x, decoded = np.asarray(x), np.asarray(decoded)
    if x.shape != decoded.shape or x.ndim < 2 or 0 in x.shape:
        raise ValueError(f"x and decoded must have one shape (n, ...); got {x.shape} and {decoded.shape}.")
    errors: Array = ((unit_range(x, np.float64) - unit_range(decoded, np.float64)) ** 2).reshape(len(x), -1).mean(axis=1)
    return errors


def _measure(data: Encoded) -> Iterator[Measurement]:
    batches = (slice(i, i + DECODE_BATCH) for i in range(0, len(data.samples), DECODE_BATCH))
    errors = np.concatenate([squared_errors(data.samples.dense(b), data.method.decode(data.latents.take(b))) for b in batches])
    value = float(errors.mean())
    yield Measurement("reconstruction.x", value, subset_interval(value, errors.tolist(), (0, np.inf)), len(errors))


METRIC = Metric(
    name="reconstruction",
    function=_measure,
    description="Mean squared error of decoded samples, per element; images on [0, 1].",
    scores={
        "reconstruction": ScoreInfo(
            "How much is lost when a sample is encoded and decoded? Mean squared error per pixel or feature.", LOWER
        )
    },
    default=True,
)
