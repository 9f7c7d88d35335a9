"""MLP-probe accuracy of each target against the background, where there are several targets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.data.sources import repeated_sources
from untwine.metrics.checks import check_codes
from untwine.metrics.directions import GROUPS_HIGHER, Direction
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import FOLDS
from untwine.metrics.intervals import fold_interval
from untwine.metrics.metric import MLP, Measurement, Metric, Requirement, ScoreInfo, score_names
from untwine.metrics.probe import Probe
from untwine.metrics.probe_strong import strong_probe_accuracy
from untwine.registry.blocks import kind, salient_blocks
from untwine.samples import BACKGROUND


def per_target_accuracy(
    codes: ArrayLike, groups: ArrayLike, folds: int = 5, seed: int = 0, sources: ArrayLike | None = None
) -> dict[int, Probe]:
    """Return how well codes (n, d) separate each target from the background, by the number of its group.

    For every target g the held-out accuracy of `strong_probe_accuracy` on its samples and as many of the background, drawn
    without replacement (or as many of the target, where the background is smaller), so that the chance level is 0.5. In [0, 1]:
    1 means that the codes separate this target from the background, 0.5 that they do not (constant and random codes). Higher is
    better for the salient block, lower for the common one. Pooled targets hide one that is not separated; here each has its
    own score.

    `groups` (n,) has 0 for the background and 1 and above for targets. Targets with too few samples, or sources, for the folds
    are left out. With `sources` (n,) no source is in two folds.
    """
    codes, groups = check_codes(codes), np.asarray(groups)
    if groups.shape != (len(codes),) or groups.dtype.kind not in "ui":
        raise ValueError(
            f"groups must be one integer for each of the {len(codes)} samples; got {groups.dtype} of shape {groups.shape}."
        )
    owners = None if sources is None else np.asarray(sources)
    results = {}
    for target, indices in _balanced(groups, owners, folds, seed):
        own = None if owners is None else owners[indices]
        is_target = (groups[indices] == target).astype(int)
        results[target] = strong_probe_accuracy(codes[indices], is_target, folds, seed, sources=own)
    return results


def _balanced(groups: Array, sources: Array | None, folds: int, seed: int) -> Iterator[tuple[int, Array]]:
    """Yield each target that fills the folds, with the indices of as many of its samples as of the background."""
    background = np.flatnonzero(groups == BACKGROUND)
    for target in np.unique(groups[groups != BACKGROUND]).tolist():
        rng, sides = np.random.default_rng(seed), (background, np.flatnonzero(groups == target))
        fewest = min(map(len, sides))
        drawn = [rng.permutation(side)[:fewest] for side in sides]
        if fewest >= 2 * folds and all(_fills_folds(side, sources, folds) for side in drawn):
            yield target, np.sort(np.concatenate(drawn))


def _fills_folds(indices: Array, sources: Array | None, folds: int) -> bool:
    own = None if sources is None else repeated_sources(sources[indices], len(indices))
    return own is None or len(np.unique(own)) >= folds


def _targets(data: Encoded) -> list[int]:
    """Return the targets that can be scored; none where there are not several targets."""
    groups = data.samples.groups
    if groups is None or len(np.unique(groups[groups != BACKGROUND])) < 2:
        return []
    return [target for target, _ in _balanced(groups, data.samples.sources, FOLDS, 0)]


def _measure(data: Encoded) -> Iterator[Measurement]:
    words, own = score_names(data.samples.group_names), salient_blocks(data.samples.group_names)
    groups = np.asarray(data.samples.groups)
    for block, codes in data.latents.items():
        for target, result in per_target_accuracy(codes, groups, FOLDS, sources=data.samples.sources).items():
            interval, name = fold_interval(result.accuracy, result.folds, (0, 1)), f"per_target_{words[target]}.{block}"
            direction: Direction | None = None
            if kind(block) != block:  # the block of one target
                direction = "higher" if block == own[target - 1] else "lower"
            yield Measurement(name, result.accuracy, interval, result.n, direction)


METRIC = Metric(
    name="per_target",
    function=_measure,
    description="How well a small MLP separates each of several targets from the background, from each block.",
    scores={
        "per_target_*": ScoreInfo(
            "Is this target separated from the background? Held-out accuracy of a small MLP on as many samples of both: 0.5 is "
            "the chance level. Where every target has a salient block, its own should separate it and the others not.",
            GROUPS_HIGHER,
            MLP,
        )
    },
    requires=(
        Requirement(
            "several targets",
            lambda data: bool(_targets(data)),
            f"at least 2 targets, one of them and the background with {2 * FOLDS} samples ({FOLDS} sources) or more",
            "fewer",
            "pass Samples.contrast(target={...}, background=...)",
        ),
    ),
    default=True,
)
