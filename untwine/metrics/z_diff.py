"""Z-diff score: whether the factor that two samples share is predicted from the differences of their codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.method.fields import Count, Names
from untwine.metrics.directions import HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.ground_truth import Continuous
from untwine.metrics.held_out import random_subsets
from untwine.metrics.intervals import fold_interval
from untwine.metrics.metric import Measurement, Metric, Requirement, ScoreInfo
from untwine.metrics.options import Options
from untwine.metrics.requirements import TWO_BLOCK_FACTORS, named_factors, two_block_factors
from untwine.metrics.sampling import Batches, Draw, batches_from_draws, batches_from_samples
from untwine.registry.checks import check_choice
from untwine.training.threads import one_thread

Classifier = Literal["svm", "logistic"]

PAIRS, TRAIN, TEST = 64, 10_000, 5_000
SUBSETS = 5


class ZDiff(NamedTuple):
    """The accuracy on test and on train points, and on five random subsets of the test points."""

    accuracy: float
    train: float
    folds: tuple[float, ...]


def z_diff_score(
    codes: ArrayLike,
    factors: ArrayLike,
    continuous: Continuous = None,
    classifier: Classifier = "svm",
    pairs: int = PAIRS,
    train: int = TRAIN,
    test: int = TEST,
    seed: int = 0,
) -> ZDiff:
    """Return the Z-diff score of codes (n, d) for factors (n, k) (Higgins et al. 2017; Kumar et al. 2018, section 3).

    A point is mean_l |z_l - z'_l| over 64 pairs of samples, where the two of a pair share one factor, the same for all pairs
    of the point; its label is that factor. The score is the accuracy of a linear classifier of 5,000 points, trained on
    10,000 others. In [0, 1], higher is better: 1 means that fixing a factor keeps latents of its own constant (also where
    codes are duplicated), one over the number of factors that the codes do not encode them (constant ones). Rotated codes lose
    what their latents share evenly, and nothing else: two factors at 45 degrees are at chance (1/2), three in uneven mixtures
    are mostly predicted (0.9 and more). Order of latents and scale of the whole block do not matter, nor much the scales of
    single latents.

    Pairs are drawn among the samples: the value they share is that of a random one. Integer factors are classes; floats are
    continuous, and discretised into 20 bins where they have more values, unless `continuous` says otherwise; a factor that
    never varies is left out.

    Parameters
    ----------
    classifier
        "svm": one-vs-rest, hinge loss, C = 0.01 (Kumar et al. 2018); "logistic": multinomial, C = 1 (disentanglement_lib).

    Notes
    -----
    Version 1: codes divided by their root mean square standard deviation; random numbers of numpy's default generator.
    """
    varies, batches = batches_from_samples(codes, factors, continuous, "z_diff_score", paired=True)
    return _score(varies, batches, classifier, pairs, train, test, seed)


def z_diff_score_from_draws(
    draw: Draw,
    sizes: Sequence[int],
    classifier: Classifier = "svm",
    pairs: int = PAIRS,
    train: int = TRAIN,
    test: int = TEST,
    seed: int = 0,
) -> ZDiff:
    """Return the Z-diff score as `z_diff_score` does, from a function that draws codes for given factors.

    In [0, 1], higher is better, with the extremes of `z_diff_score`. It draws (train + test) x 2 x pairs codes, 1.9 million by
    default; where this is expensive, use fewer points, or encode samples once and use `z_diff_score`.

    Parameters
    ----------
    draw
        Takes factors (m, k), integers from 0, and returns codes (m, d) of samples with these factors.
    sizes
        How many values each factor has; all combinations are equally likely.

    Notes
    -----
    Version 1: codes divided by their root mean square standard deviation; random numbers of numpy's default generator.
    """
    varies, batches = batches_from_draws(draw, sizes, "z_diff_score_from_draws", paired=True)
    return _score(varies, batches, classifier, pairs, train, test, seed)


def difference_points(codes: Array) -> Array:
    """Return the mean absolute differences (m, d) of pairs of codes (m, 2 pairs, d): 0 and 1, 2 and 3, and so on."""
    differences = codes[:, 0::2] - codes[:, 1::2]
    np.abs(differences, out=differences)
    return np.asarray(np.einsum("mpd->md", differences) / differences.shape[1])


def correctly_classified(points: Array, labels: Array, train: int, classifier: Classifier, seed: int = 0) -> Array:
    """Return for each point whether a classifier fitted on the first `train` of them predicts its label."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    check_choice("classifier", classifier, ("svm", "logistic"))
    with one_thread():
        if classifier == "svm":
            model = LinearSVC(C=0.01, loss="hinge", random_state=seed, max_iter=100_000)
        else:
            model = LogisticRegression(max_iter=10_000)
        return np.asarray(model.fit(points[:train], labels[:train]).predict(points) == labels)


def _score(varies: Array, batches: Batches, classifier: Classifier, pairs: int, train: int, test: int, seed: int) -> ZDiff:
    if pairs < 1 or train < 10 or test < SUBSETS:
        raise ValueError(
            f"pairs must be at least 1, train at least 10 and test at least {SUBSETS}; got {pairs}, {train} and {test}."
        )
    rng = np.random.default_rng(seed)
    labels = rng.choice(np.flatnonzero(varies), train + test)
    labels[: varies.sum()] = np.flatnonzero(varies)  # however few points there are, each factor has one
    std = np.sqrt(np.mean([codes.var(axis=(0, 1)).mean() for codes in batches(labels[:100], 2 * pairs, rng)]))
    points = np.concatenate([difference_points(codes) for codes in batches(labels, 2 * pairs, rng)])
    correct = correctly_classified(points / (std if std > 0 else 1.0), labels, train, classifier, seed)
    folds = tuple(float(correct[subset].mean()) for subset in random_subsets(np.arange(train, train + test), SUBSETS, seed))
    return ZDiff(float(correct[train:].mean()), float(correct[:train].mean()), folds)


@dataclass(frozen=True)
class ZDiffOptions(Options):
    """Options of the metric `z_diff`.

    Parameters
    ----------
    pairs
        Pairs of samples that a point is the mean of. Scores of different numbers cannot be compared.
    leave_out
        Names of factors that are left out: with shape and without it are two protocols for sprites.
    classifier
        `svm`, as in Kumar et al. 2018, or `logistic`, as in disentanglement_lib.
    """

    pairs: Count = PAIRS
    leave_out: Names = ()
    classifier: Classifier = "svm"

    def requires(self) -> tuple[Requirement, ...]:
        """Return the factors that are left out, and two others."""
        return (named_factors(self.leave_out), two_block_factors(self.leave_out)) if self.leave_out else ()


def _measure(data: Encoded, options: ZDiffOptions) -> Iterator[Measurement]:
    for block, codes, factors, continuous in data.factors_by_block(leave_out=options.leave_out):
        if factors.shape[1] > 1:
            result = z_diff_score(codes, factors, continuous, options.classifier, options.pairs)
            interval = fold_interval(result.accuracy, result.folds, (0, 1))
            yield Measurement(f"z_diff.{block}", result.accuracy, interval, len(codes))


METRIC = Metric(
    name="z_diff",
    function=_measure,
    description="Z-diff score: whether differences of codes predict which factor two samples share.",
    scores={
        "z_diff": ScoreInfo(
            "Do differences of codes predict which factor two samples share? Accuracy of a linear classifier.", HIGHER
        )
    },
    requires=(TWO_BLOCK_FACTORS,),
    options=ZDiffOptions(),
)
