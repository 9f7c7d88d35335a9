"""MLP-probe accuracy over folds: whether the class is predicted from the codes by a small network, however it is encoded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import check_codes, check_factors, check_folds, check_labels
from untwine.metrics.directions import LABELS_HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.factors import FactorR2
from untwine.metrics.held_out import FOLDS, Split, check_split, random_folds, random_subsets, select_sources, stratified_folds
from untwine.metrics.intervals import fold_interval
from untwine.metrics.metric import MLP, Measurement, Metric, ScoreInfo
from untwine.metrics.probe import Probe
from untwine.metrics.requirements import FOLDED_LABELS


def strong_probe_accuracy(
    codes: ArrayLike,
    labels: ArrayLike,
    folds: int = 5,
    seed: int = 0,
    split: Split | None = None,
    sources: ArrayLike | None = None,
) -> Probe:
    """Return the held-out accuracy of a small network that predicts labels (n,) from codes (n, d).

    As `probe_accuracy`, with its folds, `split` and `sources`, but each column is standardised and the classifier is an MLP
    (two hidden layers of 64 units and ReLU, beside a linear path), so that it also uses what is not linearly separable and what
    is in columns of tiny variance. A fifth of the train samples, of other sources, decides when training stops; where the
    network predicts them no better than the class shares do, the largest class is predicted. In [0, 1]: 1 means that the codes
    determine the class, the share of the largest class that they do not encode it (constant and random codes). Order, scale and
    copies of columns hardly matter. With a few hundred samples it may miss what a linear classifier predicts: compare both.
    """
    from untwine.metrics.cross_fitting import predict_classes

    codes = check_codes(codes)
    labels = check_labels(labels, len(codes))
    if split is None:
        pairs = stratified_folds(labels, folds, seed, sources)
        subsets = [test for _, test in pairs]
    else:
        train, test = check_split(split, len(codes))
        if len(np.unique(labels[train])) < 2:
            raise ValueError(
                f"split must have at least 2 classes among the train samples; got 1 in {len(train)} samples; choose others."
            )
        pairs = [(train, test)]
        subsets = random_subsets(test, check_folds(folds, len(test)), seed, select_sources(sources, test))
    indices = np.concatenate([test for _, test in pairs])
    correct = np.zeros(len(codes), dtype=bool)
    correct[indices] = predict_classes(codes, labels, pairs, seed, sources) == labels[indices]
    values = [float(correct[subset].mean()) for subset in subsets]
    return Probe(float(np.mean(values)) if split is None else float(correct[indices].mean()), tuple(values), len(indices))


def strong_factor_r2(
    codes: ArrayLike, factors: ArrayLike, folds: int = 5, seed: int = 0, sources: ArrayLike | None = None
) -> FactorR2:
    """Return how much of the variance of factors (n, k) a small network explains from codes (n, d), held out.

    As `factor_r2`, with its range and its `sources`, but with the network of `strong_probe_accuracy`, one for all factors. Its
    outputs are used for those factors alone that it predicts better than their means do on validation samples.
    """
    from untwine.metrics.cross_fitting import predict_factors

    codes = check_codes(codes)
    columns = check_factors(factors, len(codes))
    check_folds(folds, len(codes))
    scored = [
        known.sum() >= 2 * folds and np.ptp(y[known]) > 0 for y, known in zip(columns.T, ~np.isnan(columns.T), strict=True)
    ]
    if not any(scored):
        raise ValueError(
            f"strong_factor_r2 needs at least one factor that varies and is known for {2 * folds} samples; got none among "
            f"{columns.shape[1]}; pass others or lower folds."
        )
    known = np.flatnonzero(~np.isnan(columns[:, scored]).all(axis=1))
    truth, own = columns[np.ix_(known, scored)], select_sources(sources, known)
    pairs = random_folds(len(known), folds, seed, own)
    tests = np.concatenate([test for _, test in pairs])
    errors = np.empty(truth.shape)
    errors[tests] = (truth[tests] - predict_factors(codes[known], truth, pairs, seed, own)) ** 2 / np.nanvar(truth, axis=0)
    per_factor = np.full(columns.shape[1], np.nan)
    per_factor[scored] = np.maximum(0.0, 1.0 - np.nanmean(errors, axis=0))
    per_fold = [_mean_r2(errors[test]) for _, test in pairs]
    return FactorR2(float(np.nanmean(per_factor)), tuple(per_factor.tolist()), tuple(per_fold), len(known))


def _mean_r2(errors: Array) -> float:
    """Return the mean over factors of 1 minus the mean error of a fold, from 0 on; of factors that are known in it."""
    some = ~np.isnan(errors).all(axis=0)
    return float(np.maximum(0.0, 1.0 - np.nanmean(errors[:, some], axis=0)).mean()) if some.any() else 0.0


def _measure(data: Encoded) -> Iterator[Measurement]:
    blocks, labels, split, sources = data.with_train(Encoded.folded_labels)
    for block, codes in blocks.items():
        result = strong_probe_accuracy(codes, labels, FOLDS, split=split, sources=sources)
        interval = fold_interval(result.accuracy, result.folds, (0, 1))
        yield Measurement(f"probe_strong.{block}", result.accuracy, interval, result.n)


METRIC = Metric(
    name="probe_strong",
    function=_measure,
    description="Accuracy of a small MLP on standardised columns that predicts the label, held out, for each block.",
    scores={
        "probe_strong": ScoreInfo(
            "Can a small network predict the class from this block alone, linearly encoded or not? Accuracy of an MLP on "
            "standardised columns over 5 folds.",
            LABELS_HIGHER,
            MLP,
        )
    },
    requires=(FOLDED_LABELS,),
    default=True,
)
