"""Z-diff score: whether the factor that two rows share can be told from the differences of their codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.held_out import random_parts
from untwine.metrics.sampling import Batches, Draw, from_draws, from_rows
from untwine.metrics.truths import Continuous
from untwine.training.threads import one_thread

Classifier = Literal["svm", "logistic"]

PAIRS, TRAIN, TEST = 64, 10_000, 5_000
PARTS = 5


class ZDiff(NamedTuple):
    """What `z_diff` found: the accuracy on test and on training points, and on five random parts of the test points."""

    accuracy: float
    train: float
    folds: tuple[float, ...]


def z_diff(
    codes: ArrayLike,
    factors: ArrayLike,
    continuous: Continuous = None,
    classifier: Classifier = "svm",
    pairs: int = PAIRS,
    train: int = TRAIN,
    test: int = TEST,
    seed: int = 0,
) -> ZDiff:
    """Return the Z-diff score of codes (n, d) for factors (n, k) (Higgins et al. 2017; paper 002, section 3).

    A point is mean_l |z_l - z'_l| over 64 pairs of rows, where the two of a pair share one factor, the same for all pairs
    of the point; its label is that factor. The score is the accuracy of a linear classifier of 5,000 points, trained on
    10,000 others. In [0, 1], higher is better: 1 means that each factor silences latents of its own (also where codes are
    duplicated), one over the number of factors that the codes tell nothing (constant ones). Rotated codes lose what their
    latents share evenly, and nothing else: two factors at 45 degrees are guessed (1/2), three in uneven mixtures are mostly
    told (0.9 and more). Order of latents and scale of the whole block do not matter, nor much the scales of single latents.

    Pairs are drawn among the rows: the value they share is that of a random row. Integer factors are classes; floats are
    continuous, and cut into 20 bins where they have more values, unless `continuous` says otherwise; a factor that never
    varies is left out.

    Parameters
    ----------
    classifier
        "svm": one-vs-rest, hinge loss, C = 0.01 (paper 002); "logistic": multinomial, C = 1 (the best-known library).

    Version 1: codes divided by their root mean square deviation; random numbers of numpy's default generator.
    """
    varies, batches = from_rows(codes, factors, continuous, "z_diff", paired=True)
    return _score(varies, batches, classifier, pairs, train, test, seed)


def z_diff_drawn(
    draw: Draw,
    sizes: Sequence[int],
    classifier: Classifier = "svm",
    pairs: int = PAIRS,
    train: int = TRAIN,
    test: int = TEST,
    seed: int = 0,
) -> ZDiff:
    """Return the Z-diff score as `z_diff` does, from a function that draws codes for given factors.

    In [0, 1], higher is better, with the extremes of `z_diff`. It is asked for (train + test) x 2 x pairs codes, 1.9 million
    of them as it is; where they are dear, ask for fewer points, or encode rows once and use `z_diff`.

    Parameters
    ----------
    draw
        Takes factors (m, k), integers from 0, and returns codes (m, d) of rows with these factors.
    sizes
        How many values each factor has; all combinations are equally likely.

    Version 1: codes divided by their root mean square deviation; random numbers of numpy's default generator.
    """
    varies, batches = from_draws(draw, sizes, "z_diff", paired=True)
    return _score(varies, batches, classifier, pairs, train, test, seed)


def difference_points(codes: Array) -> Array:
    """Return the mean absolute differences (m, d) of pairs of codes (m, 2 pairs, d): rows 0 and 1, 2 and 3, and so on."""
    differences = codes[:, 0::2] - codes[:, 1::2]
    np.abs(differences, out=differences)
    return np.asarray(np.einsum("mpd->md", differences) / differences.shape[1])


def told_apart(points: Array, labels: Array, train: int, classifier: Classifier, seed: int = 0) -> Array:
    """Return for each point whether a classifier fitted on the first `train` of them gives it its label."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    if classifier not in ("svm", "logistic"):
        raise ValueError(f"z_diff expected classifier 'svm' or 'logistic'; got {classifier!r}.")
    with one_thread():
        if classifier == "svm":
            model = LinearSVC(C=0.01, loss="hinge", random_state=seed, max_iter=100_000)
        else:
            model = LogisticRegression(max_iter=10_000)
        return np.asarray(model.fit(points[:train], labels[:train]).predict(points) == labels)


def _score(varies: Array, batches: Batches, classifier: Classifier, pairs: int, train: int, test: int, seed: int) -> ZDiff:
    if pairs < 1 or train < 10 or test < PARTS:
        raise ValueError(f"z_diff expected pairs, 10 training and {PARTS} test points; got {pairs}, {train} and {test}.")
    rng = np.random.default_rng(seed)
    labels = rng.choice(np.flatnonzero(varies), train + test)
    labels[: varies.sum()] = np.flatnonzero(varies)  # however few points there are, each factor has one
    spread = np.sqrt(np.mean([codes.var(axis=(0, 1)).mean() for codes in batches(labels[:100], 2 * pairs, rng)]))
    points = np.concatenate([difference_points(codes) for codes in batches(labels, 2 * pairs, rng)])
    right = told_apart(points / (spread if spread > 0 else 1.0), labels, train, classifier, seed)
    folds = tuple(float(right[part].mean()) for part in random_parts(np.arange(train, train + test), PARTS, seed))
    return ZDiff(float(right[train:].mean()), float(right[:train].mean()), folds)
