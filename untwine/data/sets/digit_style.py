"""Outlined digits of varying width, scale and colour against plain ones, to separate style from digit.

"Learning disentangled representations with reference-based variational autoencoders", section 5.1 and appendix C.1. Letters as
there: c is a colour, drawn uniformly in [0, 1]^3, and the image is multiplied by c / |c|_1.

Left open by the paper, and fixed here: the edge detection is the inner boundary of the upsampled digit
(`untwine.data.images.outlines`); down-scaling averages over areas; reference digits are white; and the factors are scaled as
in `digit_style`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.images.outlines import DRAWN, outlines, restyle
from untwine.data.location import data_folder
from untwine.data.options import check_size
from untwine.data.readers.mnist import MNIST, read_mnist
from untwine.data.readers.sklearn_digits import read_digits, split_digits, upsample_digits
from untwine.data.sampling import sample_in_rounds
from untwine.data.splits import Splits
from untwine.registry.checks import check_choice, check_int
from untwine.samples import Samples

WIDTHS, SCALES = (1, 10), (0.5, 1.0)
STYLE = ("salient red", "salient green", "salient blue", "salient scale", "salient width")
DIGIT = tuple(f"digit {i}" for i in range(10))


CARD = DataCard(
    source="MNIST (Y. LeCun, C. Cortes, C. Burges), or scikit-learn's digits of 8 x 8 pixels (UCI), which are not MNIST.",
    licence="CC BY-SA 3.0 for MNIST, CC BY 4.0 for scikit-learn's digits.",
    size="30,000 plain and 60,000 styled training images of MNIST, 3 x 64 x 64; 5,000 and 10,000 for testing.",
    files="`mnist/`, as in `grassy_mnist`. Checksum: SHA-256 of MNIST's files, in `untwine.data.readers.mnist`.",
    groups="0 plain, 1 styled.",
    labels="none, as labels are salient by convention and the digit is common.",
    factors="`digit 0`, ..., `digit 9` (one-hot); `salient red`, `salient green`, `salient blue` (c / |c|_1, which sum to 1; "
    "all 1 for plain ones), `salient scale` (2 s - 1) and `salient width` ((w - 1) / 9), both from 0 to 1.",
    sources="the digit, by its index in the digits of both splits.",
    studies={
        "contrast_search": "Contrastive methods: settings, chosen on a validation split",
        "ranking": "Ranking of runs without labels, beside their labelled scores",
        "reference_search": "Learning Disentangled Representations with Reference-Based Variational Autoencoders, table 1",
        "reference_table1": "Learning Disentangled Representations with Reference-Based Variational Autoencoders, table 1",
    },
)


@described(CARD)
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
    """Outlined digits of varying width, scale and colour against plain ones; MNIST's files, or digits="embedded".

    A plain digit is a white outline of one pixel, 64 x 64. A target is another outline dilated by a square of w pixels, w
    uniform in 1, ..., 10, then multiplied by c / |c|_1 with c uniform in [0, 1]^3, then scaled about its centre by s uniform
    in 0.5 to 1, all three independent. A random half of the training digits are plain (30,000 of MNIST's), each once; each of
    the others is a target twice (60,000). Each of the test digits is a target once (10,000); half of them are plain ones too.

    **For regressors of the style**: the first half of `test.target` is their training set and the second half their test set
    (5,000 and 5,000, as in the paper); the halves share no digit.

    Parameters
    ----------
    digits
        "mnist", or "embedded" for scikit-learn's 1,797 digits, which need no download: by default 629 plain ones, 1,258
        targets and 539 test targets.
    size
        Side length of the images in pixels, from 8 to 128: they are drawn at 64 and then resized, lines included.
    n_background, n_target, n_test
        Number of plain training digits, training targets and test targets. Plain digits are never repeated; targets are
        repeated, in a new style, once all have been used.
    seed
        Decides which digits are plain, and every style.
    folder
        Folder that contains `mnist/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.

    Notes
    -----
    The constant-predictor baseline (median) has a mean absolute error of 0.144 on each colour, 0.250 on the scale and 0.278 on
    the width, 0.192 on average. The paper states no scaling; with this one, its errors from the common block (0.189 and 0.195)
    equal that baseline.
    """
    size, seed = check_size(size), check_int("seed", seed, 0)
    ink, classes, train, test = _read_ink(digits, seed, folder)
    rng = np.random.default_rng([seed, 1])
    train, test = rng.permutation(train), rng.permutation(test)
    plain, other = np.split(train, [len(train) // 2])
    n_background = len(plain) if n_background is None else check_int("n_background", n_background, 1, len(plain))
    n_target = 2 * len(other) if n_target is None else check_int("n_target", n_target, 1)
    n_test = len(test) if n_test is None else check_int("n_test", n_test, 2)
    first, second = np.split(test, [len(test) // 2])
    test_targets = np.concatenate(
        [sample_in_rounds(rng, first, n_test // 2), sample_in_rounds(rng, second, n_test - n_test // 2)]
    )

    def contrast(stream: int, backgrounds: Array, targets: Array) -> Samples:
        rng = np.random.default_rng([seed, stream])
        return Samples.contrast(
            target=_draw(ink, classes, targets, _draw_styles(rng, len(targets)), size),
            background=_draw(ink, classes, backgrounds, np.ones((len(backgrounds), 5)), size),
        )

    return Splits(
        contrast(2, plain[:n_background], sample_in_rounds(rng, other, n_target)),
        contrast(3, rng.permutation(test)[: max(n_test // 2, 1)], test_targets),
    )


def _read_ink(digits: str, seed: int, folder: str | Path | None) -> tuple[Array, Array, Array, Array]:
    """Return all digits as uint8 images, their classes, and the indices of training and test digits."""
    if check_choice("digits", digits, ("mnist", "embedded")) == "embedded":
        images, classes = read_digits()
        return np.round(255 * upsample_digits(images, DRAWN)).astype(np.uint8), classes, *split_digits(classes, seed)
    try:
        mnist = read_mnist(data_folder(folder) / "mnist")
    except ValueError as error:
        raise ValueError(f"{str(error).rstrip('.')}, or pass digits='embedded' for scikit-learn's digits.") from None
    ink, classes = (np.concatenate([mnist[f"{name}_train"], mnist[f"{name}_test"]]) for name in "xy")
    n_train = len(mnist["y_train"])
    return ink, classes, np.arange(n_train), np.arange(n_train, len(classes))


def _draw_styles(rng: np.random.Generator, n: int) -> Array:
    """Draw red, green, blue, scale s and width w of n targets: (n, 5)."""
    width = rng.integers(WIDTHS[0], WIDTHS[1] + 1, n)
    colour = rng.random((n, 3))
    return np.column_stack([colour / colour.sum(axis=1, keepdims=True), rng.uniform(*SCALES, n), width])


def _draw(ink: Array, classes: Array, indices: Array, styles: Array, size: int) -> Samples:
    """Draw the digits with these indices in these styles."""
    unique, inverse = np.unique(indices, return_inverse=True)
    colour, scale, width = styles[:, :3], styles[:, 3], styles[:, 4]
    factors = np.column_stack(
        [
            np.eye(10)[classes[indices]],
            colour,
            (scale - SCALES[0]) / (SCALES[1] - SCALES[0]),
            (width - WIDTHS[0]) / (WIDTHS[1] - WIDTHS[0]),
        ]
    )
    x = restyle(outlines(ink[unique])[inverse], width, scale, colour, size)
    return Samples(x, factors=factors, factor_names=DIGIT + STYLE, sources=indices)


ENTRIES = {"digit_style": DataSet(digit_style, downloads=(replace(MNIST, unless={"digits": "embedded"}),))}
