"""Whether samples that are translated to another class of training show it, by networks trained on real samples."""

from __future__ import annotations

from collections.abc import Iterator

from untwine.metrics.directions import HIGHER, INFO
from untwine.metrics.encoded import Encoded
from untwine.metrics.metric import Measurement, Metric, Requirement, ScoreInfo
from untwine.metrics.requirements import CLASS_AND_CONTENT, FOLDED_LABELS
from untwine.metrics.swap import measure_changed


def _measure(data: Encoded) -> Iterator[Measurement]:
    yield from measure_changed(data, "translation", lambda own, _, labels: own.swap(data.class_codes(labels), "class"))


METRIC = Metric(
    name="translation",
    function=_measure,
    description="Whether samples translated to another class of training show it, by networks as in `swap`.",
    scores={
        "translation_accuracy": ScoreInfo(
            "Do samples show the training class that they are translated to? How often a classifier trained on real samples "
            "predicts it.",
            HIGHER,
        ),
        "translation_accuracy_ceiling": ScoreInfo(
            "Accuracy of that classifier on real samples: hardly any translation scores more.", INFO
        ),
        "translation_preservation": ScoreInfo(
            "Is the content preserved in another class? R² of its ground-truth factors, by a network trained on real samples.",
            HIGHER,
        ),
        "translation_preservation_ceiling": ScoreInfo(
            "R² of that network on real samples: hardly any translation scores more.", INFO
        ),
    },
    requires=(
        CLASS_AND_CONTENT,
        FOLDED_LABELS,
        Requirement(
            "class codes",
            Encoded.has_class_codes,
            "a method with a code for every class of these samples",
            "classes without a code",
            "use the metric 'swap'",
        ),
    ),
    version=2,
)
