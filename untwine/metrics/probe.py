"""Linear-probe accuracy: whether the class is predicted from the codes by a linear classifier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import check_codes, check_labels
from untwine.metrics.directions import LABELS_HIGHER, Directions
from untwine.metrics.encoded import Encoded, Selected
from untwine.metrics.held_out import FOLDS, Split, classify
from untwine.metrics.intervals import fold_interval
from untwine.metrics.metric import LOGISTIC, Measurement, Metric, ScoreInfo
from untwine.metrics.requirements import FOLDED_LABELS


class Probe(NamedTuple):
    """The mean accuracy, the accuracy in each fold (or subset of the test samples), and the number of test samples."""

    accuracy: float
    folds: tuple[float, ...]
    n: int


def probe_accuracy(
    codes: ArrayLike,
    labels: ArrayLike,
    folds: int = 5,
    seed: int = 0,
    standardise: bool = False,
    split: Split | None = None,
    sources: ArrayLike | None = None,
) -> Probe:
    """Return the held-out accuracy of a linear classifier of labels (n,) on codes (n, d).

    Multinomial logistic regression (l2 penalty, C = 1) in each of `folds` stratified folds; the mean over folds of the share of
    held-out samples that get their class. In [0, 1]: 1 means that the classes are linearly separable, the share of the largest
    class that the codes do not encode them (constant codes get it). Higher is better where the class should be encoded, lower
    where it should not. Blind to classes that are encoded but not linearly separable.

    The codes are centred and the whole block is divided by one number, its root mean square standard deviation, so the units of
    the block do not matter but the relative scale of the columns does: an unused dimension of a VAE, whose mean varies by a
    hundredth of its posterior standard deviation, is as good as constant for every decoder. With `standardise` each column is
    scaled to standard deviation 1 instead, which also uses such traces.

    With `split`, two sets of samples (train, test) as indices or masks, one classifier is fitted on the first and tested on the
    second; `folds` then are the accuracies on that many random subsets of the test samples. With `sources` (n,), what each
    sample was made from or belongs to, no source is in two folds or subsets, and folds are stratified as far as that allows.
    """
    codes = check_codes(codes)
    labels = check_labels(labels, len(codes))
    result = classify(codes, labels, folds, seed, standardise, split, sources)
    correct = np.zeros(len(codes), dtype=bool)
    correct[result.indices] = labels[result.indices] == result.predicted
    values = [float(correct[subset].mean()) for subset in result.subsets]
    accuracy = float(np.mean(values)) if split is None else float(correct[result.indices].mean())
    return Probe(accuracy, tuple(values), len(result.indices))


def measure_probe(name: str, selected: Selected, labels: Array, directions: Directions) -> Iterator[Measurement]:
    """Yield the linear-probe accuracy of each block as the score `name`, with its interval over folds."""
    for block, codes in selected.codes.items():
        result = probe_accuracy(codes, labels, FOLDS, split=selected.split, sources=selected.sources)
        interval = fold_interval(result.accuracy, result.folds, (0, 1))
        yield Measurement(f"{name}.{block}", result.accuracy, interval, result.n, directions[block])


def _measure(data: Encoded) -> Iterator[Measurement]:
    selected = data.with_train(Encoded.folded_labels)
    yield from measure_probe("probe", selected, selected.truth, LABELS_HIGHER)


METRIC = Metric(
    name="probe",
    function=_measure,
    description="Accuracy of a linear classifier of the label, held out, for each block.",
    scores={
        "probe": ScoreInfo(
            "Can a linear classifier predict the class from this block alone? Accuracy of logistic regression over 5 folds, "
            "the block scaled by one number.",
            LABELS_HIGHER,
            LOGISTIC,
        )
    },
    requires=(FOLDED_LABELS,),
    default=True,
)
