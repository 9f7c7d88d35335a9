"""MNIST digits on photographs of grass against grass alone, combined linearly or by a threshold.

"Towards principled objectives for contrastive disentanglement", appendix A.1. Letters as there: y a patch of grass, t a
digit, rho the share of the grass.

Deviation: the paper crops its patches from ImageNet's grass; here they come from the user's folder of photographs, squares of
64 to 160 pixels shrunk to 28. The paper names no test part; here it has MNIST's own test digits on held-out photographs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.images.blending import blend, blend_threshold, overlay
from untwine.data.images.photographs import brightness_and_greenness, crop_squares, read_photographs
from untwine.data.location import data_folder
from untwine.data.readers.mnist import read_mnist
from untwine.data.splits import Splits
from untwine.registry.checks import check_float, check_int
from untwine.samples import Samples

Mix = Callable[[Array, Array], Array]

SIZE = 28
SHARE_FOR_TESTING = 0.2


def grassy_mnist(
    *,
    n_per_class: int = 4986,
    n_background: int = 4986,
    n_test: int = 10000,
    rho: float = 0.5,
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """MNIST digits on photographs of grass against grass alone, combined linearly; needs files in a folder.

    A target is x = rho y + (1 - rho) t (Eq. 10), with y a random patch of the background part; the pairs are not kept. A
    background image is y itself. For testing: digits of MNIST's own test part, each on a patch of its own from
    a fifth of the photographs, which training never sees; with half as many patches as background. 28 x 28, RGB.

    Source: MNIST (Y. LeCun, C. Cortes, C. Burges; CC BY-SA 3.0) from `mnist/mnist.npz` or the four IDX files in `mnist/`, plain
    or gzipped; photographs from `grass/*.jpg` or `*.png`, such as those of github.com/lewisevans2007/OpenImages (free for any
    use). Checksum: SHA-256 of MNIST's IDX files, in `untwine.data.readers.mnist`; none for photographs, which are the user's.
    Group: 0 grass, 1 digit on grass. Label: the digit, unknown for grass alone. Factors: `brightness` and `greenness` of the
    grass, measured on its patch (`untwine.data.images.photographs.brightness_and_greenness`).

    Parameters
    ----------
    n_per_class
        How many digits of each class to train on.
    n_background
        How many patches of grass to train on.
    n_test
        How many digits to test on, at most 10,000; half as many patches come with them.
    rho
        The share of the grass in a target.
    seed
        Decides which photographs are held out, which digits are used, and which patch each gets.
    folder
        The folder that holds `mnist/` and `grass/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    rho = check_float("rho", rho, 0, 1)
    return _grassy(
        partial(blend, rho=rho), n_per_class=n_per_class, n_background=n_background, n_test=n_test, seed=seed, folder=folder
    )


def grassy_mnist_nonlinear(
    *,
    n_per_class: int = 4986,
    n_background: int = 4986,
    n_test: int = 10000,
    rho: float = 0.5,
    threshold: float = 0.3,
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """MNIST digits on photographs of grass against grass alone, combined by a threshold; needs files in a folder.

    A target is x = 1[y > threshold] (rho y + (1 - rho) t), for each pixel and channel by itself (Eq. 11). All else, source,
    licence, checksum, groups, labels and factors included, is as in `grassy_mnist`; with one seed, digits and patches too.

    Parameters
    ----------
    n_per_class, n_background, n_test, rho, seed, folder
        As in `grassy_mnist`.
    threshold
        Channels of the grass that are not above it are black in the target.
    """
    rho, threshold = check_float("rho", rho, 0, 1), check_float("threshold", threshold, 0, 1)
    mix = partial(blend_threshold, rho=rho, threshold=threshold)
    return _grassy(mix, n_per_class=n_per_class, n_background=n_background, n_test=n_test, seed=seed, folder=folder)


def _grassy(mix: Mix, *, n_per_class: int, n_background: int, n_test: int, seed: int, folder: str | Path | None) -> Splits:
    n_per_class, n_background = check_int("n_per_class", n_per_class, 1), check_int("n_background", n_background, 1)
    n_test, seed = check_int("n_test", n_test, 1), check_int("seed", seed, 0)
    place = data_folder(folder)
    mnist = read_mnist(place / "mnist")
    fewest = int(np.bincount(mnist["y_train"], minlength=10).min())
    check_int("n_per_class", n_per_class, 1, fewest)
    check_int("n_test", n_test, 1, len(mnist["y_test"]))
    photographs = read_photographs(place / "grass")
    shuffled = [photographs[i] for i in np.random.default_rng([seed, 0]).permutation(len(photographs))]
    held_out = max(round(SHARE_FOR_TESTING * len(shuffled)), 1)

    rng = np.random.default_rng([seed, 1])
    grass = crop_squares(rng, shuffled[held_out:], n_background, SIZE)
    rows = rng.permutation(
        np.concatenate([rng.permutation(np.flatnonzero(mnist["y_train"] == c))[:n_per_class] for c in range(10)])
    )
    patches = rng.integers(n_background, size=len(rows))
    train = _contrast(mix, grass, patches, digits=mnist["x_train"], classes=mnist["y_train"], rows=rows, background=grass)

    rng = np.random.default_rng([seed, 2])
    grass = crop_squares(rng, shuffled[:held_out], n_test + max(n_test // 2, 1), SIZE)
    rows = np.sort(rng.permutation(len(mnist["y_test"]))[:n_test])
    digits, classes = mnist["x_test"], mnist["y_test"]
    test = _contrast(mix, grass, np.arange(n_test), digits=digits, classes=classes, rows=rows, background=grass[n_test:])
    return Splits(train, test)


def _contrast(
    mix: Mix, grass: Array, patches: Array, *, digits: Array, classes: Array, rows: Array, background: Array
) -> Samples:
    """Join `digits[rows]` laid over `grass[patches]` with the background, with labels and measured factors."""
    names = ("brightness", "greenness")
    target = Samples(
        overlay(grass, patches, digits, rows, mix),
        labels=classes[rows],
        factors=brightness_and_greenness(grass)[patches],
        label_names=tuple("0123456789"),
        factor_names=names,
    )
    return Samples.contrast(
        target=target, background=Samples(background, factors=brightness_and_greenness(background), factor_names=names)
    )
