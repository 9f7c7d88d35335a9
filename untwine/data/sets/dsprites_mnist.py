"""A sprite over four handwritten digits, against the digits alone.

"Double InfoGAN for contrastive analysis", section 5: the digits 1, 2, 3 and 4 stand in a square, each handwritten anew; a
target has a sprite of dSprites on top. Ink and sprite are both white, so a pixel is the larger of the two.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.factor_grid import averaged, divisor
from untwine.data.images.sprites import SHAPES, SIDE
from untwine.data.location import data_folder
from untwine.data.readers.mnist import read_mnist
from untwine.data.sets.dsprites import NAMES, dsprites_grid
from untwine.data.splits import Splits
from untwine.registry.checks import check_int
from untwine.samples import Samples

DIGITS = (1, 2, 3, 4)  # from the upper left to the lower right
FACTORS = (*(f"salient {name}" for name in NAMES), *(f"ink of {digit}" for digit in DIGITS))


def dsprites_mnist(
    *,
    n_target: int = 25_000,
    n_background: int = 25_000,
    n_test: int = 10_000,
    size: int = 64,
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """Sprites of dSprites over four MNIST digits, against the digits alone; needs files in a folder.

    Digits for testing are of MNIST's own test part; sprites are drawn from all combinations of their factors, those for testing
    from others than those for training. Grey.

    Source: MNIST (Y. LeCun, C. Cortes, C. Burges; CC BY-SA 3.0) from `mnist/`; dSprites' public file from `dsprites/` (see
    `dsprites`), redrawn where it is not there, with a warning that says so. Checksum: SHA-256 of MNIST's arrays, in
    `readers.mnist`. Group: 0 digits, 1 with a sprite over them. Label: the sprite's shape, unknown without one. Factors:
    `salient shape`, `salient scale`, `salient orientation`, `salient x` and `salient y` of the sprite, as in `dsprites`,
    unknown without one; `ink of 1` to `ink of 4`, the mean grey value in [0, 1] of each digit's quarter before the sprite, of
    the common part.

    Parameters
    ----------
    n_target, n_background
        How many images to train on with a sprite and without.
    n_test
        How many with a sprite to test on, with `n_target` at most 737,280; half as many without come with them.
    size
        The side in pixels: 64, or 32, 16 or 8, averaged over squares of pixels.
    seed
        Decides which digits and sprites are used, and which meet.
    folder
        The folder that holds `mnist/` and `dsprites/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    n_target, n_background = check_int("n_target", n_target, 1), check_int("n_background", n_background, 1)
    size, seed, n_test = divisor(size, SIDE), check_int("seed", seed, 0), check_int("n_test", n_test, 2)
    mnist, grid = read_mnist(data_folder(folder) / "mnist"), dsprites_grid(folder=folder)
    check_int("n_target + n_test", n_target + n_test, 3, len(grid))
    rows = np.random.default_rng([seed, 0]).permutation(len(grid))[: n_target + n_test]
    parts = []
    for stream, (part, sprites, plain) in enumerate(
        (("train", rows[n_test:], n_background), ("test", rows[:n_test], n_test // 2)), 1
    ):
        chance, squares = np.random.default_rng([seed, stream]), (mnist[f"x_{part}"], mnist[f"y_{part}"])
        drawn = grid.samples(sprites)
        digits, ink = four_digits(*squares, len(sprites), chance)
        target = Samples(
            averaged(np.maximum(digits, drawn.x), size),
            labels=drawn.labels,
            factors=np.hstack([np.asarray(drawn.factors), ink]),
            label_names=SHAPES,
            factor_names=FACTORS,
        )
        digits, ink = four_digits(*squares, plain, chance)
        unknown = np.full((plain, len(NAMES)), np.nan)
        background = Samples(averaged(digits, size), factors=np.hstack([unknown, ink]), factor_names=FACTORS)
        parts.append(Samples.contrast(target=target, background=background))
    return Splits(*parts)


def four_digits(x: Array, y: Array, n: int, chance: np.random.Generator) -> tuple[Array, Array]:
    """Return n squares (n, 1, 64, 64) of the digits 1 to 4, and the mean ink (n, 4) in [0, 1] of each quarter."""
    squares, half = np.zeros((n, 1, SIDE, SIDE), np.uint8), SIDE // 2
    ink = np.empty((n, len(DIGITS)))
    for number, digit in enumerate(DIGITS):
        one = x[chance.choice(np.flatnonzero(y == digit), n)]
        top, left = (2 + half * place for place in divmod(number, 2))
        squares[:, 0, top : top + 28, left : left + 28] = one
        ink[:, number] = one.mean(axis=(1, 2)) * (28 / half) ** 2 / 255
    return squares, ink
