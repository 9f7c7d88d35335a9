"""Handwritten digits on synthetic grass against grass alone: embedded, without download.

The digits are scikit-learn's, see `untwine.data.readers.sklearn_digits`; the grass is drawn, see
`untwine.data.images.drawn_grass`.
"""

from __future__ import annotations

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.images.blending import BATCH, blend, to_bytes
from untwine.data.images.drawn_grass import Meadow
from untwine.data.options import check_size
from untwine.data.readers.sklearn_digits import read_digits, split_digits, upsample_digits
from untwine.data.sampling import sample_in_rounds
from untwine.data.splits import Splits
from untwine.registry.checks import check_float, check_int
from untwine.samples import Samples

BRIGHTNESS = (0.25, 0.62)
HUE = (70.0, 150.0)
TEXTURES = {"train": 160, "test": 80}


CARD = DataCard(
    source="`sklearn.datasets.load_digits` (UCI, E. Alpaydin and C. Kaynak, 1998) and drawn grass.",
    licence="CC BY 4.0 for the digits.",
    size="6,000 training images of each group, 3 x 28 x 28; 2,000 and 1,000 for testing.",
    files="none. Checksum: none.",
    groups="0 grass, 1 digit on grass.",
    labels="the digit, unknown for grass alone.",
    factors="`brightness` of the grass (mean HSV value, uniform in 0.25 to 0.62) and `hue` of the grass (degrees, uniform in "
    "70 to 150), independent of the digit and of each other.",
    sources="the digit, which is on several images; each image of grass alone is a source of its own.",
    studies={
        "ranking": "Ranking of runs without labels, beside their labelled scores",
        "untuned": "Data that nobody tuned for: contrastive methods with their defaults",
    },
)


@described(CARD)
def grassy_digits(
    *, n_target: int = 6000, n_background: int = 6000, n_test: int = 2000, size: int = 28, rho: float = 0.5, seed: int = 0
) -> Splits:
    """Digits of scikit-learn on synthetic grass against grass alone; embedded, no download.

    A target is x = rho y + (1 - rho) t with grass y and digit t, as in Grassy MNIST (Eq. 10 of "Towards principled
    objectives for contrastive disentanglement"). A background image is grass y alone, at full strength. Each image has its own
    grass. Digits are repeated, on different grass; 70 % of each class's digits are for training and the others for testing, and
    the grass of the two splits is cropped from different textures.

    Parameters
    ----------
    n_target, n_background
        Number of training images of each group.
    n_test
        Number of test targets; half as many background images are added.
    size
        Side length of the images in pixels, from 8 to 128.
    rho
        Weight of the grass in a target, from 0 (digit alone) to 1 (grass alone).
    seed
        Decides everything: the split, the grass and the digit on it.
    """
    n_target, n_background = check_int("n_target", n_target, 1), check_int("n_background", n_background, 1)
    n_test, size = check_int("n_test", n_test, 1), check_size(size)
    rho, seed = check_float("rho", rho, 0, 1), check_int("seed", seed, 0)
    images, classes = read_digits()
    digits = upsample_digits(images, size)
    train, test = split_digits(classes, seed)

    def contrast(stream: int, split: str, indices: Array, n_target: int, n_background: int) -> Samples:
        rng = np.random.default_rng([seed, stream])
        meadow = Meadow(rng, min(TEXTURES[split], n_target + n_background), size)
        chosen = sample_in_rounds(rng, indices, n_target)
        on_grass, factors = _draw(rng, meadow, n_target, digits[chosen], rho)
        target = Samples(
            on_grass,
            labels=classes[chosen],
            factors=factors,
            label_names=tuple("0123456789"),
            factor_names=("brightness", "hue"),
            sources=chosen,
        )
        grass, factors = _draw(rng, meadow, n_background)
        return Samples.contrast(target=target, background=Samples(grass, factors=factors, factor_names=("brightness", "hue")))

    return Splits(contrast(1, "train", train, n_target, n_background), contrast(2, "test", test, n_test, max(n_test // 2, 1)))


def _draw(
    rng: np.random.Generator, meadow: Meadow, n: int, digits: Array | None = None, rho: float = 1.0
) -> tuple[Array, Array]:
    """Draw n images of grass, with `digits` over it if given, as uint8; and its brightness and hue (n, 2)."""
    factors = np.stack([rng.uniform(*BRIGHTNESS, n), rng.uniform(*HUE, n)], axis=1)
    x = np.empty((n, 3, meadow.size, meadow.size), np.uint8)
    for start in range(0, n, BATCH):
        batch = slice(start, start + BATCH)
        y = meadow.images(rng, *factors[batch].T)
        x[batch] = to_bytes(y if digits is None else blend(y, digits[batch], rho))
    return x, factors


ENTRIES = {"grassy_digits": DataSet(grassy_digits)}
