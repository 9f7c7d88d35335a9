"""Error of samples that got the content of another sample, against the true sample of that class and content."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.directions import INFO, LOWER
from untwine.metrics.encoded import Encoded
from untwine.metrics.intervals import subset_interval
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.metrics.requirements import CLASS_AND_CONTENT, TRANSFERS
from untwine.samples import unit_range

MAX_PAIRS = 1_000


def transfer_errors(transferred: ArrayLike, truth: ArrayLike) -> Array:
    """Return the mean absolute error (n,) of samples with transferred content; images on [0, 1], 0 is perfect."""
    a, b = (unit_range(np.asarray(x), np.float64) for x in (transferred, truth))
    if a.shape != b.shape:
        raise ValueError(f"transferred and truth must have one shape; got {a.shape} and {b.shape}.")
    return np.asarray(np.abs(a - b).reshape(len(a), -1).mean(1))


def transferred_samples(data: Encoded, most: int) -> tuple[Array, Array, Array]:
    """Return samples that give the class, the same decoded with the content of others, and the true samples."""
    i, j, truth = data.transfers(most)
    x, latents = data.samples.dense, data.latents
    return x(i), data.method.decode(latents.take(i).swap(latents.take(j), "content")), x(truth)


def measure_errors(name: str, errors: Array, unchanged: Array) -> Iterator[Measurement]:
    """Yield the mean error of samples with transferred content and that of unchanged samples, with intervals over samples."""
    for score, each in ((name, errors), (f"{name}_unmoved", unchanged)):
        value = float(each.mean())
        yield Measurement(f"{score}.x", value, subset_interval(value, each.tolist(), (0, np.inf)), len(each))


def _measure(data: Encoded) -> Iterator[Measurement]:
    before, transferred, truth = transferred_samples(data, MAX_PAIRS)
    yield from measure_errors("transfer", transfer_errors(transferred, truth), transfer_errors(before, truth))


METRIC = Metric(
    name="transfer",
    function=_measure,
    description="Mean absolute error of samples with another's content, against the true sample, and of unchanged samples.",
    scores={
        "transfer": ScoreInfo("How far is a sample that got another's content from the true one? Mean absolute error.", LOWER),
        "transfer_unmoved": ScoreInfo("Baseline: the same error for unchanged samples.", INFO),
    },
    requires=(CLASS_AND_CONTENT, TRANSFERS),
    default=True,
)
