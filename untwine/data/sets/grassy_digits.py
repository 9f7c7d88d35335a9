"""Handwritten digits on drawn grass against grass alone: embedded, so that nothing is downloaded.

The digits are the 1,797 of 8 x 8 pixels that come with scikit-learn (the test part of "Optical Recognition of Handwritten
Digits", UCI repository, E. Alpaydin and C. Kaynak, 1998, CC BY 4.0). The grass is drawn here, see `drawn_grass`.
"""

from __future__ import annotations

import numpy as np

from untwine._typing import Array
from untwine.data.images.blending import ROWS_AT_ONCE, blend, to_bytes
from untwine.data.images.drawn_grass import Meadow
from untwine.data.splits import Splits
from untwine.registry.checks import check_float, check_int
from untwine.samples import SIDES, Samples

BRIGHTNESS = (0.25, 0.62)
HUE = (70.0, 150.0)
SHARE_FOR_TRAINING = 0.7
TEXTURES = {"train": 160, "test": 80}


def grassy_digits(
    *, n_target: int = 6000, n_background: int = 6000, n_test: int = 2000, size: int = 28, rho: float = 0.5, seed: int = 0
) -> Splits:
    """Digits of scikit-learn on drawn grass against grass alone; embedded, nothing to download.

    Each target is x = rho y + (1 - rho) t: grass y and digit t, as Grassy MNIST is made (Eq. 10 of "Towards principled
    objectives for contrastive disentanglement"). A background image is grass y alone, at full strength. Each image
    has grass of its own. A digit serves several times, on different grass; 70 % of each class's digits serve for training
    and the others for testing, and the two parts are cut from different drawings.

    Source: `sklearn.datasets.load_digits` (UCI, CC BY 4.0), drawn grass. Checksum: none, as nothing is read from outside.
    Group: 0 grass, 1 digit on grass. Label: the digit, unknown for grass alone. Factors: `brightness` of the grass (mean of
    HSV's value, uniform in 0.25 to 0.62) and `hue` of the grass (degrees, uniform in 70 to 150), both independent of the
    digit and of each other.

    Parameters
    ----------
    n_target, n_background
        How many images of each group to train on.
    n_test
        How many targets to test on; half as many background images come with them.
    size
        The side of the images in pixels, from 8 to 128.
    rho
        The share of the grass in a target, from 0 (digit alone) to 1 (grass alone).
    seed
        Decides everything: the split, the grass and which digit stands on it.
    """
    n_target, n_background = check_int("n_target", n_target, 1), check_int("n_background", n_background, 1)
    n_test, size = check_int("n_test", n_test, 1), check_int("size", size, SIDES[0], SIDES[-1])
    rho, seed = check_float("rho", rho, 0, 1), check_int("seed", seed, 0)
    images, classes = originals()
    digits = enlarge(images, size)
    train, test = split_digits(classes, seed)

    def part(stream: int, name: str, rows: Array, targets: int, backgrounds: int) -> Samples:
        rng = np.random.default_rng([seed, stream])
        meadow = Meadow(rng, min(TEXTURES[name], targets + backgrounds), size)
        turns = in_turn(rng, rows, targets)
        on_grass, factors = _grass(rng, meadow, targets, digits[turns], rho)
        target = Samples(
            on_grass,
            labels=classes[turns],
            factors=factors,
            label_names=tuple("0123456789"),
            factor_names=("brightness", "hue"),
        )
        alone, factors = _grass(rng, meadow, backgrounds)
        return Samples.contrast(target=target, background=Samples(alone, factors=factors, factor_names=("brightness", "hue")))

    return Splits(part(1, "train", train, n_target, n_background), part(2, "test", test, n_test, max(n_test // 2, 1)))


def split_digits(classes: Array, seed: int) -> tuple[Array, Array]:
    """Split the originals, 70 % of each class for training: their row numbers for training and for testing."""
    rng = np.random.default_rng([seed, 0])
    train, test = [], []
    for label in np.unique(classes):
        rows = rng.permutation(np.flatnonzero(classes == label))
        many = round(SHARE_FOR_TRAINING * len(rows))
        train.append(rows[:many])
        test.append(rows[many:])
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(test))


def enlarge(images: Array, size: int) -> Array:
    """Enlarge digits (n, 8, 8) in [0, 1] smoothly to (n, size, size), within a margin of a tenth."""
    from PIL import Image

    # Digits reach the border of their 8 x 8 pixels; with one more of black around them their strokes end softly.
    framed = np.pad(images.astype(np.float32), ((0, 0), (1, 1), (1, 1)))
    large = [Image.fromarray(image).resize((size, size), Image.Resampling.BICUBIC) for image in framed]
    digits: Array = np.clip(np.stack([np.asarray(image) for image in large]), 0, 1)
    return digits


def originals() -> tuple[Array, Array]:
    """Return the 1,797 digits (n, 8, 8) in [0, 1] and their classes."""
    from sklearn.datasets import load_digits

    source = load_digits()
    return np.asarray(source.images) / 16, np.asarray(source.target)


def in_turn(rng: np.random.Generator, rows: Array, many: int) -> Array:
    """Choose `many` of the rows in random order, none a second time before all have had their turn."""
    rounds = -(-many // len(rows))
    return np.concatenate([rng.permutation(rows) for _ in range(rounds)])[:many]


def _grass(
    rng: np.random.Generator, meadow: Meadow, many: int, digits: Array | None = None, rho: float = 1.0
) -> tuple[Array, Array]:
    """Draw grass, with `digits` over it where given, as uint8; and its brightness and hue (many, 2)."""
    factors = np.stack([rng.uniform(*BRIGHTNESS, many), rng.uniform(*HUE, many)], axis=1)
    x = np.empty((many, 3, meadow.size, meadow.size), np.uint8)
    for start in range(0, many, ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        y = meadow.images(rng, *factors[part].T)
        x[part] = to_bytes(y if digits is None else blend(y, digits[part], rho))
    return x, factors
