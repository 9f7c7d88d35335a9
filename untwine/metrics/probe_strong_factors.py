"""Accuracy of a small network that predicts every discrete factor, also where it is not linearly encoded."""

from __future__ import annotations

from collections.abc import Iterator

from untwine.metrics.directions import FACTORS_HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import FOLDS
from untwine.metrics.intervals import fold_interval
from untwine.metrics.metric import MLP, Measurement, Metric, ScoreInfo
from untwine.metrics.probe_factors import DISCRETE_FACTORS, factor_classes
from untwine.metrics.probe_strong import strong_probe_accuracy


def _measure(data: Encoded) -> Iterator[Measurement]:
    for word, selected, classes, directions in factor_classes(data):
        for block, codes in selected.codes.items():
            result = strong_probe_accuracy(codes, classes, FOLDS, split=selected.split, sources=selected.sources)
            interval = fold_interval(result.accuracy, result.folds, (0, 1))
            yield Measurement(f"probe_strong_{word}.{block}", result.accuracy, interval, result.n, directions[block])


METRIC = Metric(
    name="probe_strong_factors",
    function=_measure,
    description="Accuracy of a small MLP on standardised columns for every discrete factor, held out, for each block.",
    scores={
        # Factors named "salient ..." have the directions of labels instead.
        "probe_strong_*": ScoreInfo(
            "Can a small network predict the value of this factor from this block alone, linearly encoded or not? Accuracy of "
            "an MLP on standardised columns over 5 folds.",
            FACTORS_HIGHER,
            MLP,
        )
    },
    requires=(DISCRETE_FACTORS,),
)
