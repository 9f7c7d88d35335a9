"""Accuracy of each binary attribute, with the classifier of `attributes`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from untwine.metrics.attributes import BINARY_FACTORS, attribute_accuracy, binary_factors
from untwine.metrics.directions import HIGHER, INFO
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import FOLDS
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.metrics.requirements import SOURCES


def _measure(data: Encoded) -> Iterator[Measurement]:
    (blocks, truth, split, sources), names = binary_factors(data)
    for number, (block, codes) in enumerate(blocks.items()):
        result = attribute_accuracy(codes, truth, FOLDS, split=split, sources=sources)
        for name, value, guess in zip(names, result.per_attribute, result.majority, strict=True):
            # The binomial standard error of n samples; accuracies by fold are not kept for each attribute.
            reach = 1.96 * float(np.sqrt(value * (1 - value) / result.n))
            interval = (max(0.0, value - reach), min(1.0, value + reach))
            yield Measurement(f"attributes_{name}.{block}", value, interval, result.n, "higher")
            if number == 0:
                yield Measurement(f"attributes_{name}_guess.x", guess, (guess, guess), result.n, "info")


METRIC = Metric(
    name="per_attribute",
    function=_measure,
    description="Accuracy of every binary factor alone, along the difference of its class means, and of the majority class.",
    scores={
        "attributes_*_guess": ScoreInfo("Chance level of this attribute: accuracy of predicting its majority class.", INFO),
        "attributes_*": ScoreInfo(
            "Can this binary attribute be predicted along the difference of its two class means? Accuracy, held out.", HIGHER
        ),
    },
    requires=(BINARY_FACTORS, SOURCES),
)
