"""The settings of a trained method that are chosen from its training samples: networks, width, batch and length.

Every choice is a pure function of shape, number and groups of the training samples: never of labels, nor of other splits.
Numbers of codes are chosen in `untwine.methods.shared.inferred`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from untwine.samples import BACKGROUND, Samples

LEAST_SIDE = 16  # of images from which convolutions are taken
WIDTHS = ((64, 16), (math.inf, 8))  # up to which side convolutions have which width
SHARE_OF_SAMPLES, LEAST_BATCH, LARGEST_BATCH = 10, 16, 64
USUAL_EPOCHS, LEAST_STEPS, MOST_STEPS = 50, 4000, 20_000
LEAST_SLOW_STEPS = 2000  # where a step takes long
# Multiplications a second of two cores, and the seconds that a fit may be estimated to take.
SPEED, SECONDS = 3e10, 600.0
HIDDEN = 256


class Length(NamedTuple):
    """What the length of training depends on, beside the samples.

    Parameters
    ----------
    image_networks
        The networks of images, and the shorter side from which they are taken.
    passes
        How many passes through an encoder and a decoder a step takes.
    least_epochs
        The fewest epochs, of methods that update what belongs to a sample once an epoch.
    """

    image_networks: tuple[str, int] = ("conv", LEAST_SIDE)
    passes: float = 1.0
    least_epochs: int = 1


def choose_networks(shape: tuple[int, ...], image_networks: tuple[str, int]) -> str:
    """Return the name of the networks for samples of a shape."""
    if len(shape) == 4:
        return "conv3d"
    name, least = image_networks
    return name if len(shape) == 3 and min(shape[1:]) >= least else "mlp"


def choose_width(networks: str, shape: tuple[int, ...]) -> int | None:
    """Return the width at which plain convolutions take a bearable time; None for the default of other networks."""
    if networks != "conv":
        return None
    return next(width for side, width in WIDTHS if max(shape[1:]) <= side)


def largest_pool(samples: Samples, contrastive: bool) -> int:
    """Return how many samples an epoch passes over: all, or the larger of target and background."""
    if not contrastive or samples.groups is None:
        return len(samples)
    targets = int((np.asarray(samples.groups) != BACKGROUND).sum())
    return max(targets, len(samples) - targets)


def choose_batch(pool: int) -> int:
    """Return a tenth of the samples as a power of 2, from 16 to 64."""
    tenth = max(1, pool // SHARE_OF_SAMPLES)
    return int(min(LARGEST_BATCH, max(LEAST_BATCH, 2 ** int(math.log2(tenth)))))


def choose_epochs(pool: int, batch: int, cost: float, least_epochs: int) -> int:
    """Return the epochs in which training takes its steps.

    50 epochs, but at least 4,000 and at most 20,000 steps, and no more than are estimated to take ten minutes on two cores
    unless these are fewer than 2,000.

    Parameters
    ----------
    pool, batch
        How many samples an epoch passes over, and a step.
    cost
        The multiplications of a step.
    least_epochs
        The fewest epochs.
    """
    of_epoch = math.ceil(pool / batch)
    steps = min(max(USUAL_EPOCHS * of_epoch, LEAST_STEPS), MOST_STEPS)
    steps = min(steps, max(LEAST_SLOW_STEPS, int(SPEED * SECONDS / cost)))
    return max(least_epochs, math.ceil(steps / of_epoch))


def multiplications(networks: str, width: int | None, shape: tuple[int, ...]) -> float:
    """Return about how many multiplications encoder and decoder take for one sample."""
    if len(shape) == 1 or networks == "mlp":
        hidden = width or HIDDEN
        return 2.0 * hidden * (math.prod(shape) + hidden)
    if networks == "adain":
        wide = width or 8
        return math.prod(shape[1:]) * (328.0 * wide * wide + 147.0 * wide * shape[0])
    sides, kernel = [float(side) for side in shape[1:]], 4 ** (len(shape) - 1)
    before, after, total = shape[0], width or (8 if len(shape) == 4 else 32), 0.0
    while max(sides) > 4:
        sides = [side / 2 for side in sides]
        total += 2 * kernel * before * after * math.prod(sides)
        before, after = after, min(2 * after, 8 * (width or 32))
    return total


def choose(samples: Samples, given: Mapping[str, Any], length: Length, contrastive: bool) -> dict[str, Any]:
    """Return the chosen value of every field of `given` that is "auto", and a width where networks are chosen.

    Parameters
    ----------
    samples
        The training samples.
    given
        The fields of the method.
    length
        What the method's length depends on.
    contrastive
        Whether a step has samples of target and background.
    """
    chosen: dict[str, Any] = {}
    networks, width = given["networks"], given["width"]
    if networks == "auto":
        networks = chosen["networks"] = choose_networks(samples.shape, length.image_networks)
        if width is None and (wide := choose_width(networks, samples.shape)) is not None:
            width = chosen["width"] = wide
    pool, batch = largest_pool(samples, contrastive), given["batch"]
    if batch == "auto":
        batch = chosen["batch"] = choose_batch(pool)
    cost = 3 * length.passes * batch * (2 if contrastive else 1) * multiplications(networks, width, samples.shape)
    if given["epochs"] == "auto":
        chosen["epochs"] = choose_epochs(pool, batch, cost, length.least_epochs)
    if given.get("scale") == "auto":
        chosen["scale"] = "learned"
    return chosen


def effective_rank(samples: Samples) -> float:
    r"""Return the effective rank of samples: $\exp(-\sum p_i \ln p_i)$ of the shares p of variance of principal components.

    Of at most 1,000 of them, evenly spaced; features of vectors are scaled to unit variance first.
    """
    from untwine.registry.sparse_vectors import to_dense

    x = samples.x[np.linspace(0, len(samples) - 1, min(len(samples), 1000)).astype(int)]
    x = np.asarray(to_dense(x), dtype=np.float64).reshape(x.shape[0], -1)
    x = x - x.mean(0)
    if samples.x.ndim == 2:
        spread = x.std(0)
        x = x / np.where(spread > 0, spread, 1.0)
    values = np.clip(np.linalg.eigvalsh(x @ x.T if x.shape[0] <= x.shape[1] else x.T @ x), 0, None)
    total = values.sum()
    shares = values[values > 1e-12 * total] / total if total else np.ones(1)
    return float(np.exp(-(shares * np.log(shares)).sum()))


def explain(samples: Samples, by_hand: Mapping[str, Any]) -> list[str]:
    """Return three lines: what was chosen, why, and how to give it by hand; nothing where nothing was chosen.

    Parameters
    ----------
    samples
        The training samples.
    by_hand
        The options that were chosen.
    """
    if not by_hand:
        return []
    reasons = [reason for name, reason in REASONS.items() if name in by_hand]
    counts = f"{len(samples):,} samples"
    if samples.groups is not None:
        background = int((np.asarray(samples.groups) == BACKGROUND).sum())
        counts = f"{len(samples) - background:,} target and {background:,} background samples"
    shape = " x ".join(map(str, samples.shape))
    return [
        f"chosen from {counts} of {shape}: {', '.join(f'{name} {value}' for name, value in by_hand.items())}",
        f"because: {'; '.join(reasons)}",
        f"by hand: {' '.join(f'--set {name}={value}' for name, value in by_hand.items())}",
    ]


REASONS: Mapping[str, str] = {
    "networks": "networks by shape, convolutions for images from 16 x 16 up",
    "width": "their width by the time of a step",
    "n_common": "common codes by the background's effective rank",
    "n_salient": "salient codes by the contrast test",
    "n_latent": "codes by the effective rank",
    "scale": "the scale is learned, so that weights mean the same on all data",
    "batch": "a tenth of the samples in a step",
    "epochs": "epochs for 4,000 to 20,000 steps, or about ten minutes of two cores",
}
