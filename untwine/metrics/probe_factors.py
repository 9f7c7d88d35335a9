"""Linear-probe accuracy of every discrete factor."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from untwine.metrics.directions import FACTORS_HIGHER, LABELS_HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import FOLDS
from untwine.metrics.metric import LOGISTIC, Measurement, Metric, Requirement, ScoreInfo, score_names
from untwine.metrics.probe import measure_probe


def _discrete_factors(data: Encoded) -> list[int]:
    """Return the indices of the discrete factors: few integer values, two of which have a sample or source a fold."""
    columns = np.concatenate([data.factor_columns(salient) for salient in (False, True)]).astype(int)
    return [j for j in sorted(columns.tolist()) if len(np.unique(data.with_classes(j)[1])) > 1]


def _measure(data: Encoded) -> Iterator[Measurement]:
    names, columns = data.samples.factor_names, _discrete_factors(data)
    for column, word in zip(columns, score_names([names[j] for j in columns]), strict=True):
        directions = LABELS_HIGHER if names[column].startswith("salient") else FACTORS_HIGHER
        selected = data.with_train(partial(Encoded.with_classes, column=column))
        classes = selected.truth - min(selected.truth.min(), 0)  # an angle may be negative, a class may not
        yield from measure_probe(f"probe_{word}", selected, classes, directions)


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
    requires=(
        Requirement(
            "discrete factors",
            lambda data: bool(_discrete_factors(data)),
            f"a factor with at least 2 classes of {FOLDS} known target samples each",
            "none",
            "pass samples with such factors",
        ),
    ),
)
