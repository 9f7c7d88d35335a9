"""Linear-probe accuracy of every discrete factor."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from untwine._typing import Array
from untwine.metrics.directions import FACTORS_HIGHER, LABELS_HIGHER, Directions
from untwine.metrics.encoded import Encoded, Selected
from untwine.metrics.held_out import FOLDS
from untwine.metrics.metric import LOGISTIC, Measurement, Metric, Requirement, ScoreInfo, score_names
from untwine.metrics.probe import measure_probe


def discrete_factors(data: Encoded) -> list[int]:
    """Return the indices of the discrete factors: few integer values, two of which have a sample or source a fold."""
    columns = np.concatenate([data.factor_columns(salient) for salient in (False, True)]).astype(int)
    return [j for j in sorted(columns.tolist()) if len(np.unique(data.with_classes(j)[1])) > 1]


def factor_classes(data: Encoded) -> Iterator[tuple[str, Selected, Array, Directions]]:
    """Yield each discrete factor: its name in scores, the samples with codes, their classes, and the directions of blocks."""
    names, columns = data.samples.factor_names, discrete_factors(data)
    for column, word in zip(columns, score_names([names[j] for j in columns]), strict=True):
        directions = LABELS_HIGHER if names[column].startswith("salient") else FACTORS_HIGHER
        selected = data.with_train(partial(Encoded.with_classes, column=column))
        # An angle may be negative, a class may not.
        yield word, selected, selected.truth - min(selected.truth.min(), 0), directions


def _measure(data: Encoded) -> Iterator[Measurement]:
    for word, selected, classes, directions in factor_classes(data):
        yield from measure_probe(f"probe_{word}", selected, classes, directions)


DISCRETE_FACTORS = Requirement(
    "discrete factors",
    lambda data: bool(discrete_factors(data)),
    f"a factor with at least 2 classes of {FOLDS} known target samples each",
    "none",
    "pass samples with such factors",
)
METRIC = Metric(
    name="probe_factors",
    function=_measure,
    description="Accuracy of a linear classifier of every discrete factor, held out, for each block.",
    scores={
        # Factors named "salient ..." have the directions of labels instead.
        "probe_*": ScoreInfo(
            "Can a linear classifier predict the value of this factor from this block alone? Accuracy over 5 folds.",
            FACTORS_HIGHER,
            LOGISTIC,
        )
    },
    requires=(DISCRETE_FACTORS,),
)
