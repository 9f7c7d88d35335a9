"""Salient maps against masks: where an image differs from its background counterpart.

Carton et al. 2024, figure 7, show healthy counterparts of brain slices with a tumour; here they are scored by the segmentation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.method.difference import difference_map, foreground
from untwine.metrics.directions import HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import FOLDS
from untwine.metrics.intervals import subset_interval
from untwine.metrics.metric import Measurement, Metric, Requirement, ScoreInfo
from untwine.samples import unit_range


class PixelMaps(NamedTuple):
    """Maps of target samples, their masks, and the pixels that count, each (n, H, W)."""

    maps: Array
    masks: Array
    inside: Array


def map_auc(maps: ArrayLike, masks: ArrayLike, inside: ArrayLike) -> float:
    """Return the area under the ROC curve of maps (n, H, W) for masks, pooled over the pixels `inside` of all samples.

    The probability that a random pixel of the masks has a larger value than a random other pixel, ties counted half. In [0, 1],
    higher is better: 1 means that every pixel of the masks is above all others, 0.5 is the chance level and the score of a
    constant map. Pixels outside do not count, as an empty margin would be told apart by any map of where the brain is.
    """
    from scipy.stats import rankdata

    values, truth = _inside(maps, masks, inside)
    positive = int(truth.sum())
    if positive in (0, len(truth)):
        raise ValueError(f"masks must have pixels of both kinds inside; got {positive} of {len(truth)}; pass other samples.")
    ranks = rankdata(values)
    return float((ranks[truth].sum() - positive * (positive + 1) / 2) / (positive * (len(truth) - positive)))


def map_dice(maps: ArrayLike, masks: ArrayLike, inside: ArrayLike, threshold: float) -> float:
    """Return the Dice coefficient 2 |A and B| / (|A| + |B|) of the pixels A with a map of at least `threshold` and the masks B.

    Pooled over the pixels `inside` of all samples. In [0, 1], higher is better: 1 means equal, 0 disjoint; all pixels inside,
    a share p of them being in the masks, have 2 p / (1 + p).
    """
    values, truth = _inside(maps, masks, inside)
    chosen = values >= threshold
    return float(2 * (chosen & truth).sum() / max(1, chosen.sum() + truth.sum()))


def best_threshold(maps: ArrayLike, masks: ArrayLike, inside: ArrayLike) -> float:
    """Return the threshold whose Dice coefficient is largest; choose it on other samples than those that are scored.

    Midway between the smallest value that it includes and the largest that it does not.
    """
    values, truth = _inside(maps, masks, inside)
    order = np.argsort(-values, kind="stable")
    values, overlap = values[order], np.cumsum(truth[order])
    dice = 2 * overlap / (np.arange(1, len(values) + 1) + truth.sum())
    # Pixels of equal values are chosen together.
    dice[:-1][values[1:] == values[:-1]] = -1
    last = int(dice.argmax())
    return float((values[last] + values[min(last + 1, len(values) - 1)]) / 2)


def salient_maps(data: Encoded) -> dict[str, Array]:
    """Return maps (n, H, W) of the targets by the ending of their scores, from the counterpart h without the salient block.

    The first, "", is h - x: where an image x is darker than its counterpart. It is signed, as tumours are mostly darker in
    T1-weighted images, while edges that a decoder blurs are brighter as often as darker; "_absolute" is |h - x|. As both
    contain all that is lost in decoding, "_decoded" is h minus the reconstruction: what the salient block alone changes. A
    method without such a block has only its reconstruction in place of h, and no "_decoded".
    """
    latents, x = data.latents.take(data.is_target), data.samples.x[data.is_target]
    decoded = data.decode(latents)
    counterpart = data.decode(latents.remove("salient")) if "salient" in latents else decoded
    difference = difference_map(x, counterpart)
    maps = {"": -difference, "_absolute": np.abs(unit_range(x) - counterpart).mean(axis=1)}
    return {**maps, "_decoded": -difference_map(decoded, counterpart)} if "salient" in latents else maps


def pixel_maps(data: Encoded, maps: Array) -> PixelMaps:
    """Return maps of the targets with their masks and the pixels inside the brain."""
    masks = data.samples.masks
    if masks is None:
        raise ValueError("the samples must have masks, pixel by pixel, for a map to be scored; got none; pass masks=....")
    return PixelMaps(maps, masks[data.is_target], foreground(data.samples.x[data.is_target]))


def measure_maps(scored: Mapping[str, PixelMaps], train: Mapping[str, PixelMaps]) -> Iterator[Measurement]:
    """Yield for each map, by the ending of its scores, its AUC and, with its map of the training split, its Dice."""
    for ending, pixels in scored.items():
        n = len(pixels.maps)
        # Slices of one patient stand side by side, so that contiguous subsets hardly cut through one.
        subsets = [PixelMaps(*(one[i] for one in pixels)) for i in np.array_split(np.arange(n), min(FOLDS, n))]
        value = map_auc(*pixels)
        values = [map_auc(*subset) for subset in subsets if 0 < subset.masks[subset.inside].mean() < 1]
        yield Measurement(f"map_auc{ending}.x", value, subset_interval(value, values), n)
        if ending in train:
            threshold = best_threshold(*train[ending])
            value = map_dice(*pixels, threshold)
            values = [map_dice(*subset, threshold) for subset in subsets]
            yield Measurement(f"map_dice{ending}.x", value, subset_interval(value, values), n)


def _inside(maps: ArrayLike, masks: ArrayLike, inside: ArrayLike) -> tuple[Array, Array]:
    values, truth, chosen = np.asarray(maps), np.asarray(masks, dtype=bool), np.asarray(inside, dtype=bool)
    if not values.shape == truth.shape == chosen.shape or not chosen.any():
        raise ValueError(
            f"maps, masks and inside must have one shape, with a pixel inside; got {values.shape}, {truth.shape} and "
            f"{chosen.shape} with {int(chosen.sum())} inside."
        )
    return values[chosen], truth[chosen]


def _has_masks(data: Encoded) -> bool:
    if data.samples.masks is None or not data.is_target.any() or len(data.samples.shape) == 1:
        return False
    _, masks, inside = pixel_maps(data, np.empty(0))
    return bool(inside.any()) and 0 < float(masks[inside].mean()) < 1


MASKS = Requirement(
    "masks",
    _has_masks,
    "images with masks, so that inside the brain some pixels are in a mask and some are not",
    "none",
    "pass Samples(..., masks=...)",
)
TRAIN = Requirement(
    "train",
    lambda data: data.train is not None and _has_masks(data.train) and not data.train.is_target.all(),
    "samples to learn from, of target and background and with masks",
    "none",
    "pass train=...",
)


def _measure(data: Encoded) -> Iterator[Measurement]:
    scored, train = (
        {ending: pixel_maps(one, maps) for ending, maps in salient_maps(one).items()}
        if one is not None and _has_masks(one)
        else {}
        for one in (data, data.train)
    )
    yield from measure_maps(scored, train)


METRIC = Metric(
    name="salient_map",
    function=_measure,
    description="Counterpart without the salient block minus image, against masks: AUC, and Dice if there are train samples.",
    scores={
        "map_auc": ScoreInfo(
            "How well does the difference of an image and its background counterpart show where the salient change is? Area "
            "under the ROC curve over pixels inside the brain: 1 is perfectly, 0.5 is chance.",
            HIGHER,
        ),
        "map_dice": ScoreInfo(
            "How much do the pixels where this difference is large overlap with the mask? Dice coefficient, at a threshold "
            "chosen on train samples: 1 is equal, 0 is disjoint.",
            HIGHER,
        ),
        "map_auc_absolute": ScoreInfo("The AUC of the absolute difference of image and background counterpart.", HIGHER),
        "map_dice_absolute": ScoreInfo("The Dice coefficient of the absolute difference of image and counterpart.", HIGHER),
        "map_auc_decoded": ScoreInfo(
            "The AUC of the difference of background counterpart and reconstruction, which the salient block alone makes.",
            HIGHER,
        ),
        "map_dice_decoded": ScoreInfo("The Dice coefficient of the difference of counterpart and reconstruction.", HIGHER),
    },
    requires=(MASKS,),
)
