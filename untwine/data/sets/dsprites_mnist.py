"""A sprite over four handwritten digits, against the digits alone.

"Double InfoGAN for contrastive analysis", section 5: the digits 1, 2, 3 and 4 form a square, each in random handwriting; a
target has a sprite of dSprites on top. Ink and sprite are both white, so that a pixel is the maximum of the two; with
`mix="authors"`, as in the authors' public code, the ink is grey, at half its brightness.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.images.blending import to_bytes
from untwine.data.images.resizing import average_pool
from untwine.data.images.sprites import SHAPES, SIDE
from untwine.data.location import data_folder
from untwine.data.options import check_pooled_size
from untwine.data.readers.mnist import MNIST, read_mnist
from untwine.data.sets.dsprites import DSPRITES, NAMES, dsprites_grid
from untwine.data.splits import Splits
from untwine.registry.checks import check_choice, check_int
from untwine.samples import Samples, unit_range

DIGITS = (1, 2, 3, 4)  # from the upper left to the lower right
MIXES = ("opaque", "authors")
FACTORS = (*(f"salient {name}" for name in NAMES), *(f"ink of {digit}" for digit in DIGITS))


CARD = DataCard(
    source="MNIST (Y. LeCun, C. Cortes, C. Burges) and dSprites, see `dsprites`.",
    licence="CC BY-SA 3.0 for MNIST, zlib for dSprites.",
    size="25,000 training images of each group, 1 x 64 x 64; 10,000 and 5,000 for testing.",
    files="`mnist/`, as in `grassy_mnist`, and `dsprites/`, as in `dsprites`; without the latter sprites are redrawn, with "
    "a warning. Checksum: SHA-256 of MNIST's arrays, in `untwine.data.readers.mnist`.",
    groups="0 digits, 1 with a sprite over them.",
    labels="the shape of the sprite, unknown without one.",
    factors="`salient shape`, `salient scale`, `salient orientation`, `salient x` and `salient y` of the sprite, as in "
    "`dsprites`, unknown without one; `ink of 1` to `ink of 4`, common, the mean grey value in [0, 1] of each digit's"
    " quarter without the sprite.",
    sources="none: each image has four digits, which recur in so many others that all are linked.",
    studies={
        "infogan_table9": "Double InfoGAN for Contrastive Analysis, table 9",
    },
)


@described(CARD)
def dsprites_mnist(
    *,
    n_target: int = 25_000,
    n_background: int = 25_000,
    n_test: int = 10_000,
    size: int = 64,
    mix: Literal["opaque", "authors"] = "opaque",
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """Sprites of dSprites over four MNIST digits, against the digits alone; needs files in a folder.

    Test digits are from MNIST's test set. Sprites are drawn from all combinations of their factors; training and test sprites
    share none. Grey.

    Parameters
    ----------
    n_target, n_background
        Number of training images with a sprite and without.
    n_test
        Number of test images with a sprite, with `n_target` at most 737,280; half as many without are added.
    size
        Side length in pixels: 64, or 32, 16 or 8 by average pooling.
    mix
        The brightness of the digits: `opaque`, that of MNIST, or `authors`, half of it in both groups, so that the sprite
        stands out, as in the authors' code.
    seed
        Decides which digits and sprites are used, and how they are paired.
    folder
        Folder that contains `mnist/` and `dsprites/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    n_target, n_background = check_int("n_target", n_target, 1), check_int("n_background", n_background, 1)
    size, seed, n_test = check_pooled_size(size, SIDE), check_int("seed", seed, 0), check_int("n_test", n_test, 2)
    check_choice("mix", mix, MIXES)
    mnist, grid = read_mnist(data_folder(folder) / "mnist"), dsprites_grid(folder=folder)
    check_int("n_target + n_test", n_target + n_test, 3, len(grid))
    indices = np.random.default_rng([seed, 0]).permutation(len(grid))[: n_target + n_test]
    splits = []
    for stream, (split, sprite_indices, n_plain) in enumerate(
        (("train", indices[n_test:], n_background), ("test", indices[:n_test], n_test // 2)), 1
    ):
        rng, mnist_split = np.random.default_rng([seed, stream]), (mnist[f"x_{split}"], mnist[f"y_{split}"])
        sprites = grid.samples(sprite_indices)
        digits, ink = draw_four_digits(*mnist_split, len(sprite_indices), rng)
        target = Samples(
            average_pool(np.maximum(_dim(digits, mix), sprites.x), size),
            labels=sprites.labels,
            factors=np.hstack([np.asarray(sprites.factors), ink]),
            label_names=SHAPES,
            factor_names=FACTORS,
        )
        digits, ink = draw_four_digits(*mnist_split, n_plain, rng)
        unknown = np.full((n_plain, len(NAMES)), np.nan)
        background = Samples(average_pool(_dim(digits, mix), size), factors=np.hstack([unknown, ink]), factor_names=FACTORS)
        splits.append(Samples.contrast(target=target, background=background))
    return Splits(*splits)


def _dim(digits: Array, mix: str) -> Array:
    """Return digits at half their brightness where they are mixed as the authors do."""
    return to_bytes(unit_range(digits) / 2) if mix == "authors" else digits


def draw_four_digits(x: Array, y: Array, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return n squares (n, 1, 64, 64) of the digits 1 to 4, and the mean ink (n, 4) in [0, 1] of each quarter."""
    squares, half = np.zeros((n, 1, SIDE, SIDE), np.uint8), SIDE // 2
    ink = np.empty((n, len(DIGITS)))
    for number, digit in enumerate(DIGITS):
        images = x[rng.choice(np.flatnonzero(y == digit), n)]
        top, left = (2 + half * position for position in divmod(number, 2))
        squares[:, 0, top : top + 28, left : left + 28] = images
        ink[:, number] = images.mean(axis=(1, 2)) * (28 / half) ** 2 / 255
    return squares, ink


ENTRIES = {"dsprites_mnist": DataSet(dsprites_mnist, downloads=(MNIST, DSPRITES))}
