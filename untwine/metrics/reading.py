"""MLP-probe accuracy: whether class and content are predicted from the codes by a small network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.data.sources import linked_sources, repeated_sources
from untwine.metrics.checks import check_codes, check_labels
from untwine.metrics.directions import FACTORS_HIGHER, INFO, LABELS_HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import Split, check_split, random_folds, random_subsets, select_sources
from untwine.metrics.intervals import proportion_interval
from untwine.metrics.metric import MLP, Measurement, Metric, ScoreInfo
from untwine.metrics.nuisance import nuisance_folds, recurring, remove_means
from untwine.metrics.requirements import CLASS_AND_CONTENT, FOLDED_LABELS

SUBSETS = 5
FOLDS = 3  # a third of the samples is held out, each in turn where the nuisance is known


class MLPProbe(NamedTuple):
    """Accuracy of a small network.

    Attributes
    ----------
    accuracy
        The share of held-out samples that get their class; with a nuisance, the mean over classes of each one's share.
    chance
        The chance level: the share of the most frequent class among all samples; with a nuisance, 1 over the number of classes.
    subsets
        The accuracy on random subsets of the held-out samples.
    n
        The number of held-out samples.
    interval
        The 95 % interval of the accuracy (`proportion_interval`); samples of one value of the nuisance are a cluster.
    """

    accuracy: float
    chance: float
    subsets: tuple[float, ...]
    n: int
    interval: tuple[float, float]


def mlp_probe_accuracy(
    codes: ArrayLike,
    labels: ArrayLike,
    seed: int = 0,
    split: Split | None = None,
    nuisance: ArrayLike | None = None,
    sources: ArrayLike | None = None,
) -> MLPProbe:
    """Return the held-out accuracy of a small network that predicts labels (n,) from codes (n, d).

    An MLP with two hidden layers of 128 units and ReLU, trained for 400 steps of 64 samples, or 8 a class where those are more
    (since version 2), by Adam on the cross-entropy. In [0, 1]: 1 means that the codes determine the class, `chance` that they
    do not encode it. Unlike `probe_accuracy` it also detects what is not linearly separable.

    Without `nuisance` a random third of the samples is held out, of every class alike; with `split`, two sets of samples
    (train, test) as indices or masks, these are used.

    With `nuisance` (since version 3) the mean of each of its values is removed from the codes, three folds hold out whole
    values of it, and every class counts the same. Where every pair of class and content comes once, a random third holds out
    pairs that were never trained on, and a network that has memorised which classes came with a content falls below chance.
    Here it has seen no class with a held-out content: if codes depend on the content alone, any order of the labels within a
    content is as likely as another, and the expected accuracy is chance. Without the means, what a block should encode does
    not hide a small leak. Labels that occur with one value of the nuisance only are left out.

    Parameters
    ----------
    codes, labels
        The codes (n, d) and the class of each sample.
    split
        Samples to train on and to test on.
    nuisance
        What else varies and is known (n,): the content where the class is predicted, and the other way round.
    sources
        What each sample was made from or belongs to (n,): whole sources are held out.
    """
    codes = check_codes(codes)
    labels = check_labels(labels, len(codes))
    if nuisance is None:
        return _probe(codes, labels, seed, split, sources)
    if split is not None:
        raise ValueError("mlp_probe_accuracy takes a split or a nuisance; got both; pass one of them.")
    values = check_labels(nuisance, len(codes))
    kept = recurring(labels, values)
    if len(np.unique(labels[kept])) < 2:
        raise ValueError(
            "mlp_probe_accuracy needs at least 2 classes that occur with two values of the nuisance; got fewer; leave it out."
        )
    codes, labels, values = codes[kept], *(check_labels(column[kept], int(kept.sum())) for column in (labels, values))
    return _probe_with_nuisance(remove_means(codes, values), labels, values, seed, select_sources(sources, kept))


def _probe(codes: Array, labels: Array, seed: int, split: Split | None, sources: ArrayLike | None) -> MLPProbe:
    from untwine.metrics.mlp import predict_folds

    if split is None and repeated_sources(sources, len(codes)) is not None:
        split = random_folds(len(codes), FOLDS, seed, sources, labels)[0]
    train, test = check_split(_hold_out(labels, seed) if split is None else split, len(codes))
    _check_classes(labels, train)
    # Of all samples: where classes are balanced, the most frequent one of the train samples is rare in the test samples.
    shares = np.bincount(labels[np.r_[train, test]], minlength=int(labels.max()) + 1) / (len(train) + len(test))
    correct = predict_folds(codes, labels, [(train, test)], shares, seed) == labels
    own = select_sources(sources, test)
    subsets = [float(correct[subset].mean()) for subset in random_subsets(test, SUBSETS, seed, own)]
    interval = proportion_interval(correct[test], clusters=repeated_sources(own, len(test)))
    return MLPProbe(float(correct[test].mean()), float(shares.max()), tuple(subsets), len(test), interval)


def _probe_with_nuisance(codes: Array, labels: Array, values: Array, seed: int, sources: ArrayLike | None) -> MLPProbe:
    from untwine.metrics.mlp import predict_folds

    groups = _held_out_together(values, repeated_sources(sources, len(codes)))
    folds = nuisance_folds(labels, groups, FOLDS, seed)
    for train, _ in folds:
        _check_classes(labels, train)
    sizes = np.bincount(labels)
    correct = predict_folds(codes, labels, folds, np.full(len(sizes), 1 / len(sizes)), seed) == labels
    weights = 1 / sizes[labels]
    subsets = [float(np.average(correct[s], weights=weights[s])) for s in random_subsets(np.arange(len(labels)), SUBSETS, seed)]
    accuracy, interval = float(np.average(correct, weights=weights)), proportion_interval(correct, weights, groups)
    return MLPProbe(accuracy, 1 / len(sizes), tuple(subsets), len(labels), interval)


def _held_out_together(values: Array, sources: Array | None) -> Array:
    """Return the group (n,) of each sample, no two of which share a value of the nuisance or a source.

    Where a chain of shared sources joins too many values, as where every source has all contents, the sources alone.
    """
    if sources is None:
        return values
    linked = np.unique(linked_sources(values, sources), return_inverse=True)[1].reshape(-1)
    return linked if linked.max() + 1 >= FOLDS else sources


def _check_classes(labels: Array, train: Array) -> None:
    if len(np.unique(labels[train])) < 2:
        raise ValueError(
            f"mlp_probe_accuracy needs at least 2 classes to train on; got 1 in {len(train)} samples; pass more samples."
        )


def _hold_out(labels: Array, seed: int) -> Split:
    """Hold out a random third of the samples, of each class a third up to one sample."""
    order = np.random.default_rng(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    test = order[len(order) % 3 // 2 :: 3]
    return np.setdiff1d(order, test), test


def _measure_truth(
    what: str, data: Encoded, indices: Array, truth: Array, nuisance: Array | None = None
) -> Iterator[Measurement]:
    folded = data.fills_folds(indices, truth)
    indices, truth, nuisance = indices[folded], truth[folded], None if nuisance is None else nuisance[folded]
    if nuisance is not None and len(np.unique(truth[recurring(truth, nuisance)])) < 2:
        nuisance = None  # where hardly any content recurs, or hardly in two classes, samples are held out at random
    for i, (block, codes) in enumerate(data.latents.take(indices).items() if len(np.unique(truth)) > 1 else ()):
        result = mlp_probe_accuracy(codes, truth, nuisance=nuisance, sources=data.sources_of(indices))
        if i == 0:  # it does not depend on the codes, so it is the same for every block
            yield Measurement(f"{what}_chance.x", result.chance, (result.chance, result.chance), result.n)
        yield Measurement(f"{what}_read.{block}", result.accuracy, result.interval, result.n)


def _measure(data: Encoded) -> Iterator[Measurement]:
    indices, contents = data.content_labels()
    # Where content labels are not known, the class can still be predicted.
    labelled = indices if len(indices) else data.labelled_indices()
    yield from _measure_truth("class", data, labelled, data.labels_of(labelled), contents if len(indices) else None)
    if len(indices):
        yield from _measure_truth("content", data, indices, contents, data.labels_of(indices))


METRIC = Metric(
    name="reading",
    function=_measure,
    description="Accuracy of a small MLP that predicts class and content from each block, and the chance level.",
    scores={
        "class_read": ScoreInfo(
            "Can a small network predict the class from this block alone? Accuracy on held-out samples, of contents that it "
            "was not trained on where these are known.",
            LABELS_HIGHER,
            MLP,
        ),
        "content_read": ScoreInfo(
            "The same for the content, in classes that it was not trained on: which combination of the ground-truth factors "
            "that vary within a class.",
            FACTORS_HIGHER,
            MLP,
        ),
        "class_chance": ScoreInfo(
            "Chance level of the class: 1 over the number of classes, which count the same; or the share of the most frequent "
            "class, where contents are not known.",
            INFO,
        ),
        "content_chance": ScoreInfo("Chance level of the content, by the same rule: 1 over the number of contents.", INFO),
    },
    requires=(CLASS_AND_CONTENT, FOLDED_LABELS),
    version=3,
    default=True,
)
