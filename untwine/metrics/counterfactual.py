"""Whether background counterparts pass for background and backgrounds with a salient block for targets; needs no labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.directions import HIGHER, INFO
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import random_subsets
from untwine.metrics.intervals import random_halves, subset_interval
from untwine.metrics.metric import Measurement, Metric, Requirement, ScoreInfo
from untwine.metrics.requirements import GROUPS, SALIENT_BLOCK
from untwine.metrics.scored_samples import affordable

SUBSETS, MAX_SAMPLES = 5, 2_000
LOWEST = 0.5  # of the backgrounds are below a threshold at least: shares of fewer are too uncertain
LEAST = 10  # samples of each group to learn from, so that some of both are left to calibrate on


class Changed(NamedTuple):
    """Decoded samples, as they are and with a changed block, and what each was made from, if that is known."""

    decoded: ArrayLike
    changed: ArrayLike
    sources: ArrayLike | None = None


class Validity(NamedTuple):
    """How much of the step between the groups a change takes.

    Attributes
    ----------
    value
        The share, in [0, 1].
    gap
        The step: how much more probable a classifier finds the target for real targets than for real backgrounds.
    folds
        The share on five random subsets of the changed samples.
    n
        The number of changed samples.
    like_background
        The share of real targets that look like background: see `share_like_background`.
    """

    value: float
    gap: float
    folds: tuple[float, ...]
    n: int
    like_background: float = 0.0


def counterfactual_validity(
    real: tuple[ArrayLike, ArrayLike], test: tuple[ArrayLike, ArrayLike], targets: Changed, backgrounds: Changed, seed: int = 0
) -> tuple[Validity, Validity]:
    r"""Return how far counterparts of targets go towards the background, and changed backgrounds towards the target.

    A small network (that of `swap_accuracy`) is trained to separate targets from backgrounds on real samples, both
    weighted alike, and its log odds are calibrated on a fifth of them by logistic regression. With p its mean probability of
    target:

    removed = (p(decoded targets) - p(their counterparts)) / gap,   gap = p(real targets) - p(real backgrounds)
    added = (p(backgrounds with a target's salient block) - p(decoded backgrounds)) / gap

    both clipped to [0, 1], higher is better: 1 means that the change takes the whole step between the groups, 0 that the
    classifier does not see it. What decoding alone does to samples is in both terms and cancels; detail that is lost in
    decoding is missed, as it should be. Removing everything is valid too: see `minimality`. A classifier that cannot
    separate the groups (`gap` near 0) judges nothing; then both are 0.

    Parameters
    ----------
    real
        Real samples to learn from, vectors (n, d) or images (n, C, H, W), and whether each is a target (n,).
    test
        Others, for the gap.
    targets
        Decoded targets, and the same without their salient block.
    backgrounds
        Decoded backgrounds, and the same with the salient block of a target.
    """
    from untwine.metrics.classifier import network_input, train_detector

    x, is_target = network_input(real[0], "real"), np.asarray(real[1], dtype=bool).ravel()
    others, truth = network_input(test[0], "test"), np.asarray(test[1], dtype=bool).ravel()
    for name, some, mask in (("real", x, is_target), ("test", others, truth)):
        if len(mask) != len(some) or not 0 < mask.sum() < len(mask):
            raise ValueError(
                f"{name} must be samples of both groups with one mark each; got {len(some)} samples and {len(mask)} marks, "
                f"{int(mask.sum())} of them targets."
            )
    if min(is_target.sum(), (~is_target).sum()) < LEAST:
        raise ValueError(f"real must have {LEAST} samples of each group; got {is_target.sum()} targets of {len(x)}; pass more.")
    probability = train_detector(x, is_target, seed)
    p = probability(others)
    gap, alike = float(p[truth].mean() - p[~truth].mean()), share_like_background(p[truth], p[~truth])

    def share(change: Changed, sign: int) -> Validity:
        step = sign * (
            probability(network_input(change.changed, "changed")) - probability(network_input(change.decoded, "decoded"))
        )
        subsets = random_subsets(np.arange(len(step)), SUBSETS, seed, change.sources)
        return Validity(_share(step, gap), gap, tuple(_share(step[one], gap) for one in subsets), len(step), alike)

    return share(targets, -1), share(backgrounds, 1)


def share_like_background(targets: ArrayLike, backgrounds: ArrayLike) -> float:
    r"""Return the largest share of targets that could be backgrounds, by the probabilities (n,) and (m,) that each is a target.

    $\min_c P(p < c \mid target) / P(p < c \mid background)$ over thresholds c below which at least `LOWEST` of the backgrounds
    are: of targets that are backgrounds in truth, as many as of the backgrounds lie below any threshold. In [0, 1]: 0 means
    that no target looks like a background, 1 that all do. It is an upper bound of the mislabelled share: targets in which
    what is salient is weak look like background too.
    """
    t, b = (np.sort(np.asarray(one, dtype=np.float64).ravel()) for one in (targets, backgrounds))
    if not len(t) or not len(b):
        raise ValueError(f"probabilities must be of both groups; got {len(t)} targets and {len(b)} backgrounds.")
    thresholds = b[np.arange(len(b)) >= LOWEST * len(b) - 1]
    below = [np.searchsorted(one, thresholds, side="right") / len(one) for one in (t, b)]
    return float(np.clip((below[0] / below[1]).min(), 0, 1))


def _least(data: Encoded) -> int:
    """Return how many samples of the smaller group the network could learn from."""
    if data.train is not None:
        return int(min(data.train.is_target.sum(), (~data.train.is_target).sum()))
    return int(min(data.is_target.sum(), (~data.is_target).sum())) // 2


def _share(step: Array, gap: float) -> float:
    return float(np.clip(step.mean() / gap, 0, 1)) if gap > 0 else 0.0


def _measure(data: Encoded) -> Iterator[Measurement]:
    rng, every = np.random.default_rng(0), np.arange(len(data.samples))
    if data.train is not None:
        train, half, scored = data.train, np.arange(len(data.train.samples)), every
    else:  # the network is trained on one half of the scored samples, and judges the other half
        half = next(random_halves(data.is_target.astype(int), 1, sources=data.sources_of(every)))
        train, scored = data, np.delete(every, half)
    real, held_out = affordable(train.samples, half), affordable(data.samples, scored)
    targets, backgrounds = (rng.permutation(scored[data.is_target[scored] == side])[:MAX_SAMPLES] for side in (True, False))
    own, other = data.latents.take(targets), data.latents.take(backgrounds)
    removed = Changed(data.decode(own), data.decode(own.remove("salient")), data.sources_of(targets))
    given = other.swap(own.take(rng.integers(0, len(targets), len(backgrounds))), "salient")
    added = Changed(data.decode(other), data.decode(given), data.sources_of(backgrounds))
    both = counterfactual_validity(
        (train.samples.dense(real), train.is_target[real]),
        (data.samples.dense(held_out), data.is_target[held_out]),
        removed,
        added,
    )
    for name, result in zip(("removed", "added"), both, strict=True):
        yield Measurement(f"counterfactual_{name}.x", result.value, subset_interval(result.value, result.folds), result.n)
    gap = both[0].gap
    yield Measurement("counterfactual_gap.x", gap, (gap, gap), len(scored))
    alike = both[0].like_background
    yield Measurement("targets_like_background.x", alike, (alike, alike), len(targets))


METRIC = Metric(
    name="counterfactual",
    function=_measure,
    description="Whether counterparts without the salient block pass for background, and the reverse, by a network; no labels.",
    scores={
        "counterfactual_removed": ScoreInfo(
            "Does a target without its salient block pass for background? The share of the step between the groups, by a "
            "network trained on real samples: 1 is all of it, 0 is none.",
            HIGHER,
        ),
        "counterfactual_added": ScoreInfo(
            "Does a background with the salient block of a target pass for a target? The same share.", HIGHER
        ),
        "counterfactual_gap": ScoreInfo(
            "How well that network separates real targets from real backgrounds: the difference of its mean probabilities. "
            "Near 0 nothing salient was seen, and the two other scores say nothing.",
            INFO,
        ),
        "targets_like_background": ScoreInfo(
            "Which share of the real targets looks like background to that network, at most? Mislabelled targets are "
            "among them.",
            INFO,
        ),
    },
    requires=(
        GROUPS,
        SALIENT_BLOCK,
        Requirement(
            "groups to learn from",
            lambda data: _least(data) >= LEAST,
            f"{2 * LEAST} samples each of target and background, or {LEAST} of each to train on",
            "fewer",
            "pass more samples",
        ),
    ),
    default=True,
)
