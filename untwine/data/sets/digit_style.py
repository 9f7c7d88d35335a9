"""Outlined digits in any width, size and colour against plain ones, to tell style from digit.

"Learning disentangled representations with reference-based variational autoencoders", section 5.1 and appendix C.1. Letters as
there: c is a colour, drawn uniformly in [0, 1]^3, and c / |c|_1 what the image is multiplied by.

Left open by the paper, and fixed here: the edge detection is the inner boundary of the enlarged digit
(`untwine.data.images.outlines`); down-scaling averages over areas; reference digits are white; and the factors are scaled as
`digit_style` says.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.images.outlines import DRAWN, outlines, restyle
from untwine.data.location import data_folder
from untwine.data.readers.mnist import read_mnist
from untwine.data.sets.grassy_digits import enlarge, in_turn, originals, split_digits
from untwine.data.splits import Splits
from untwine.registry.checks import check_int
from untwine.samples import SIDES, Samples

WIDTHS, SCALES = (1, 10), (0.5, 1.0)
STYLE = ("salient red", "salient green", "salient blue", "salient scale", "salient width")
DIGIT = tuple(f"digit {i}" for i in range(10))


def digit_style(
    *,
    digits: str = "mnist",
    size: int = 64,
    n_background: int | None = None,
    n_target: int | None = None,
    n_test: int | None = None,
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """Outlined digits in any width, size and colour against plain ones; needs MNIST's files, or digits="embedded".

    A plain digit is a white outline of one pixel, 64 x 64. A target is another outline dilated by a square of w pixels, w
    uniform in 1, ..., 10, then multiplied by c / |c|_1 with c uniform in [0, 1]^3, then shrunk about its centre by s uniform
    in 0.5 to 1, all three independent. Half of the training digits, drawn by the seed, are plain (30,000 of MNIST's), each
    once; each of the others is a target twice (60,000). Each of the test digits is a target once (10,000); half of them come
    as plain ones too.

    **For regressors of the style**: the first half of `test.target` is for their training and the other half for their
    test (5,000 and 5,000, as in the paper), and the two halves have no digit in common.

    Source: MNIST (Y. LeCun, C. Cortes, C. Burges; CC BY-SA 3.0), from files as in `grassy_mnist`; or scikit-learn's digits of
    8 x 8 pixels (UCI, CC BY 4.0), which are not MNIST. Checksum: SHA-256 of MNIST's files, in `readers.mnist`. Group: 0
    plain, 1 styled. Label: none, as labels are truths of the salient part; the digit is common. Factors: `digit 0`, ...,
    `digit 9` (1 for the image's digit and 0 for the others); `salient red`, `salient green`, `salient blue` (c / |c|_1,
    which sum to 1; all 1 for plain ones), `salient scale` (2 s - 1) and `salient width` ((w - 1) / 9), both from 0 to 1.

    A regressor that always answers with the median has a mean absolute error of 0.144 on each colour, 0.250 on the scale
    and 0.278 on the width, 0.192 on average. The paper states no scaling; with this one, what it reports from its common part
    (0.189 and 0.195) is what a constant gets.

    Parameters
    ----------
    digits
        "mnist", or "embedded" for scikit-learn's 1,797 digits, with which nothing is downloaded: 629 plain ones, 1,258 targets
        and 539 for testing where no number is given.
    size
        The side of the images in pixels, from 8 to 128: they are drawn at 64 and then brought to it, lines included.
    n_background, n_target, n_test
        How many plain digits and targets to train on, and how many targets to test on. Plain digits come once each at most;
        targets come again, in new style, when all have had their turn.
    seed
        Decides which digits are plain, and every style.
    folder
        The folder that holds `mnist/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    size, seed = check_int("size", size, SIDES[0], SIDES[-1]), check_int("seed", seed, 0)
    ink, classes, train, test = _ink(digits, seed, folder)
    rng = np.random.default_rng([seed, 1])
    train, test = rng.permutation(train), rng.permutation(test)
    plain, other = np.split(train, [len(train) // 2])
    n_background = len(plain) if n_background is None else check_int("n_background", n_background, 1, len(plain))
    n_target = 2 * len(other) if n_target is None else check_int("n_target", n_target, 1)
    n_test = len(test) if n_test is None else check_int("n_test", n_test, 2)
    first, second = np.split(test, [len(test) // 2])
    scored = np.concatenate([in_turn(rng, first, n_test // 2), in_turn(rng, second, n_test - n_test // 2)])

    def part(stream: int, backgrounds: Array, targets: Array) -> Samples:
        rng = np.random.default_rng([seed, stream])
        return Samples.contrast(
            target=_styled(ink, classes, targets, _styles(rng, len(targets)), size),
            background=_styled(ink, classes, backgrounds, np.ones((len(backgrounds), 5)), size),
        )

    return Splits(
        part(2, plain[:n_background], in_turn(rng, other, n_target)),
        part(3, rng.permutation(test)[: max(n_test // 2, 1)], scored),
    )


def _ink(digits: str, seed: int, folder: str | Path | None) -> tuple[Array, Array, Array, Array]:
    """Return all digits as uint8 images, their classes, and which are for training and which for testing."""
    if digits == "embedded":
        images, classes = originals()
        return np.round(255 * enlarge(images, DRAWN)).astype(np.uint8), classes, *split_digits(classes, seed)
    if digits != "mnist":
        raise ValueError(f"digits expected 'mnist' or 'embedded'; got {digits!r}.")
    try:
        mnist = read_mnist(data_folder(folder) / "mnist")
    except ValueError as error:
        raise ValueError(f"{str(error).rstrip('.')}, or pass digits='embedded' to draw scikit-learn's digits.") from None
    ink, classes = (np.concatenate([mnist[f"{name}_train"], mnist[f"{name}_test"]]) for name in "xy")
    first = len(mnist["y_train"])
    return ink, classes, np.arange(first), np.arange(first, len(classes))


def _styles(rng: np.random.Generator, many: int) -> Array:
    """Draw red, green, blue, scale s and width w for each target: (many, 5)."""
    width = rng.integers(WIDTHS[0], WIDTHS[1] + 1, many)
    colour = rng.random((many, 3))
    return np.column_stack([colour / colour.sum(axis=1, keepdims=True), rng.uniform(*SCALES, many), width])


def _styled(ink: Array, classes: Array, rows: Array, styles: Array, size: int) -> Samples:
    """Draw the digits of these rows in these styles."""
    once, back = np.unique(rows, return_inverse=True)
    colour, scale, width = styles[:, :3], styles[:, 3], styles[:, 4]
    factors = np.column_stack(
        [
            np.eye(10)[classes[rows]],
            colour,
            (scale - SCALES[0]) / (SCALES[1] - SCALES[0]),
            (width - WIDTHS[0]) / (WIDTHS[1] - WIDTHS[0]),
        ]
    )
    x = restyle(outlines(ink[once])[back], width, scale, colour, size)
    return Samples(x, factors=factors, factor_names=DIGIT + STYLE)
