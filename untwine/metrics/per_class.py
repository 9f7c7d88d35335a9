"""Linear-probe accuracy of each class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine.metrics.checks import check_codes, check_labels
from untwine.metrics.directions import LABELS_HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import FOLDS, Split, classify
from untwine.metrics.intervals import fold_interval
from untwine.metrics.metric import LOGISTIC, Measurement, Metric, ScoreInfo, score_names
from untwine.metrics.requirements import FOLDED_LABELS


class PerClass(NamedTuple):
    """Accuracy of every class.

    Attributes
    ----------
    mean
        The mean of the accuracies, every class counted once, in [0, 1].
    accuracy
        The accuracy of each class, by the class as it was given, in [0, 1].
    folds
        For each class the accuracy in each fold (or subset of the test samples) that holds samples of it.
    n
        The number of test samples of each class.
    """

    mean: float
    accuracy: dict[int | str, float]
    folds: dict[int | str, tuple[float, ...]]
    n: dict[int | str, int]


def per_class_accuracy(
    codes: ArrayLike,
    labels: ArrayLike,
    folds: int = 5,
    seed: int = 0,
    standardise: bool = False,
    split: Split | None = None,
    sources: ArrayLike | None = None,
) -> PerClass:
    """Return for each class of labels (n,) the accuracy of a linear classifier on codes (n, d), held out.

    The classifier of `probe_accuracy`, with its folds, scaling, `split` and `sources`. Accuracy of
    c = #{i: label_i = c, predicted_i = c} / #{i: label_i = c} over the held-out samples of all folds together; `mean` is their
    unweighted mean, the balanced accuracy. In [0, 1], higher is better where the class should be encoded: 1 means that all
    samples of the class are recognised, 0 that none is. Codes that do not encode the class give the largest class 1 and all
    others 0, so the mean is 1 over the number of classes. A class without held-out samples is left out.
    """
    codes = check_codes(codes)
    given = np.asarray(labels)
    labels = check_labels(given, len(codes))
    names = [name.item() for name in np.unique(given)]
    result = classify(codes, labels, folds, seed, standardise, split, sources)
    correct = np.zeros(len(codes), dtype=bool)
    correct[result.indices] = labels[result.indices] == result.predicted
    members = {name: result.indices[labels[result.indices] == c] for c, name in enumerate(names)}
    subsets = {name: [subset[labels[subset] == c] for subset in result.subsets] for c, name in enumerate(names)}
    accuracy = {name: float(correct[own].mean()) for name, own in members.items() if len(own)}
    return PerClass(
        mean=float(np.mean(list(accuracy.values()))),
        accuracy=accuracy,
        folds={name: tuple(float(correct[own].mean()) for own in subsets[name] if len(own)) for name in accuracy},
        n={name: len(members[name]) for name in accuracy},
    )


def _measure(data: Encoded) -> Iterator[Measurement]:
    blocks, labels, split, sources = data.with_train(Encoded.folded_labels)
    words = score_names(data.samples.label_names)
    for block, codes in blocks.items():
        result = per_class_accuracy(codes, labels, FOLDS, split=split, sources=sources)
        means = np.mean([np.resize(folds, FOLDS) for folds in result.folds.values()], axis=0)
        interval = fold_interval(result.mean, means.tolist(), (0, 1))
        yield Measurement(f"per_class.{block}", result.mean, interval, sum(result.n.values()))
        for label, accuracy in result.accuracy.items():
            interval = fold_interval(accuracy, np.resize(result.folds[label], FOLDS).tolist(), (0, 1))
            yield Measurement(f"per_class_{words[int(label)]}.{block}", accuracy, interval, result.n[label])


METRIC = Metric(
    name="per_class",
    function=_measure,
    description="Accuracy of a linear classifier for each class, and their mean.",
    scores={
        "per_class": ScoreInfo(
            "How often does a linear classifier recognise a class from this block? Accuracy, mean over classes.",
            LABELS_HIGHER,
            LOGISTIC,
        ),
        "per_class_*": ScoreInfo(
            "How often does a linear classifier recognise this class from this block? Accuracy, held out.",
            LABELS_HIGHER,
            LOGISTIC,
        ),
    },
    requires=(FOLDED_LABELS,),
)
