"""MLP-probe accuracy: whether class and content are predicted from the codes by a small network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.data.sources import repeated_sources
from untwine.metrics.checks import check_codes, check_labels
from untwine.metrics.directions import FACTORS_HIGHER, INFO, LABELS_HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import Split, check_split, random_folds, random_subsets, select_sources
from untwine.metrics.intervals import subset_interval
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.metrics.requirements import CLASS_AND_CONTENT, FOLDED_LABELS

SUBSETS = 5
HELD_OUT = 1 / 3


class MLPProbe(NamedTuple):
    """Accuracy of a small network.

    Attributes
    ----------
    accuracy
        The share of held-out samples that get their class.
    chance
        The share of the most frequent class among all samples: the chance level.
    subsets
        The accuracy on random subsets of the held-out samples.
    n
        The number of held-out samples.
    """

    accuracy: float
    chance: float
    subsets: tuple[float, ...]
    n: int


def mlp_probe_accuracy(
    codes: ArrayLike,
    labels: ArrayLike,
    seed: int = 0,
    split: Split | None = None,
    sources: ArrayLike | None = None,
) -> MLPProbe:
    """Return the held-out accuracy of a small network that predicts labels (n,) from codes (n, d).

    An MLP with two hidden layers of 128 units and ReLU, trained for 400 steps of 64 samples, or 8 a class where those are more
    (version 2; 400 in version 1), by Adam on the cross-entropy; a random third of the samples is held out. In [0, 1]: 1 means
    that the codes determine the class, `chance` that they do not encode it. Unlike `probe_accuracy` it also detects what is not
    linearly separable. With `split`, two sets of samples (train, test) as indices or masks, these are used;
    with `sources` (n,), what each sample was made from or belongs to, whole sources are held out.
    """
    from untwine.metrics.classifier import network_input, train_classifier

    codes = check_codes(codes)
    labels = check_labels(labels, len(codes))
    if split is None and repeated_sources(sources, len(codes)) is not None:
        split = random_folds(len(codes), round(1 / HELD_OUT), seed, sources, labels)[0]
    elif split is None:
        order = np.random.default_rng(seed).permutation(len(codes))
        many = max(1, round(HELD_OUT * len(codes)))
        split = order[many:], order[:many]
    train, test = check_split(split, len(codes))
    if len(np.unique(labels[train])) < 2:
        raise ValueError(
            f"mlp_probe_accuracy needs at least 2 classes to train on; got 1 in {len(train)} samples; pass more samples."
        )
    predict = train_classifier(network_input(codes[train], "codes"), labels[train], int(labels.max()) + 1, seed)
    correct = np.zeros(len(codes), dtype=bool)
    correct[test] = predict(network_input(codes[test], "codes")) == labels[test]
    # Of all samples: where classes are balanced, the most frequent one of the train samples is rare in the test samples.
    chance = float(np.bincount(labels[np.concatenate([train, test])]).max() / (len(train) + len(test)))
    subsets = [float(correct[subset].mean()) for subset in random_subsets(test, SUBSETS, seed, select_sources(sources, test))]
    return MLPProbe(float(correct[test].mean()), chance, tuple(subsets), len(test))


def _measure_truth(what: str, data: Encoded, indices: Array, truth: Array) -> Iterator[Measurement]:
    folded = data.fills_folds(indices, truth)
    indices, truth = indices[folded], truth[folded]
    for i, (block, codes) in enumerate(data.latents.take(indices).items() if len(np.unique(truth)) > 1 else ()):
        result = mlp_probe_accuracy(codes, truth, sources=data.sources_of(indices))
        if i == 0:  # it does not depend on the codes, so it is the same for every block
            yield Measurement(f"{what}_chance.x", result.chance, (result.chance, result.chance), result.n)
        interval = subset_interval(result.accuracy, result.subsets)
        yield Measurement(f"{what}_read.{block}", result.accuracy, interval, result.n)


def _measure(data: Encoded) -> Iterator[Measurement]:
    indices, contents = data.content_labels()
    # Where content labels are not known, the class can still be predicted.
    labelled = indices if len(indices) else data.labelled_indices()
    yield from _measure_truth("class", data, labelled, data.labels_of(labelled))
    if len(indices):
        yield from _measure_truth("content", data, indices, contents)


METRIC = Metric(
    name="reading",
    function=_measure,
    description="Accuracy of a small MLP that predicts class and content from each block, and the chance level.",
    scores={
        "class_read": ScoreInfo(
            "Can a small network predict the class from this block alone? Accuracy on held-out samples.", LABELS_HIGHER
        ),
        "content_read": ScoreInfo(
            "The same for the content: which combination of the ground-truth factors that vary within a class.", FACTORS_HIGHER
        ),
        "class_chance": ScoreInfo("Chance level of the class: accuracy of predicting the most frequent class.", INFO),
        "content_chance": ScoreInfo("Chance level of the content: accuracy of predicting the most frequent one.", INFO),
    },
    requires=(CLASS_AND_CONTENT, FOLDED_LABELS),
    version=2,
    default=True,
)
