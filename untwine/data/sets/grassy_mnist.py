"""MNIST digits on photographs of grass against grass alone, combined linearly or with a threshold.

"Towards principled objectives for contrastive disentanglement", appendix A.1. Letters as there: y a patch of grass, t a
digit, rho the weight of the grass.

Deviation: the paper crops its patches from ImageNet's grass; here they come from the user's folder of photographs, squares of
64 to 160 pixels resized to 28. The paper names no test split; here it has MNIST's test digits on held-out photographs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.images.blending import blend, blend_threshold, overlay
from untwine.data.images.photographs import brightness_and_greenness, crop_squares, list_photographs, read_photographs
from untwine.data.location import data_folder
from untwine.data.readers.mnist import MNIST, read_mnist
from untwine.data.remote import Download
from untwine.data.splits import Splits
from untwine.registry.checks import check_float, check_int
from untwine.samples import Samples

Mix = Callable[[Array, Array], Array]

SIZE = 28
TEST_SHARE = 0.2


CARD = DataCard(
    source="MNIST (Y. LeCun, C. Cortes, C. Burges); photographs of grass, such as those of "
    "github.com/lewisevans2007/OpenImages.",
    licence="CC BY-SA 3.0 for MNIST; the photographs named above are free for any use.",
    size="49,860 training images with a digit and 4,986 without, 3 x 28 x 28; 10,000 and 5,000 for testing.",
    files="`mnist/mnist.npz` or the four IDX files in `mnist/`, plain or gzipped; `grass/*.jpg` or `*.png`. Checksum: "
    "SHA-256 of MNIST's IDX files, in `untwine.data.readers.mnist`; none for photographs, which are the user's.",
    groups="0 grass, 1 digit on grass.",
    labels="the digit, unknown for grass alone.",
    factors="`brightness` and `greenness` of the grass, measured on its patch "
    "(`untwine.data.images.photographs.brightness_and_greenness`).",
    sources="the patch of grass, which training targets share with the background.",
    studies={
        "full_size": "Towards Principled Objectives for Contrastive Disentanglement, table 1",
        "principled_figure6": "Towards Principled Objectives for Contrastive Disentanglement, figure 6",
        "principled_goals": "Towards Principled Objectives for Contrastive Disentanglement, table 1",
        "principled_table1": "Towards Principled Objectives for Contrastive Disentanglement, table 1",
        "principled_table2": "Towards Principled Objectives for Contrastive Disentanglement, table 2",
    },
)


@described(CARD)
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

    A target is x = rho y + (1 - rho) t (Eq. 10), with y a random patch of the background group; the pairing is not recorded. A
    background image is y itself. The test split has digits of MNIST's test set, each on its own patch from a fifth of the
    photographs, which are not used for training, and half as many patches as background. 28 x 28, RGB.

    Parameters
    ----------
    n_per_class
        Number of training digits of each class.
    n_background
        Number of training patches of grass.
    n_test
        Number of test digits, at most 10,000; half as many patches are added.
    rho
        Weight of the grass in a target.
    seed
        Decides which photographs are held out, which digits are used, and the patch of each.
    folder
        Folder that contains `mnist/` and `grass/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    rho = check_float("rho", rho, 0, 1)
    return _grassy(
        partial(blend, rho=rho), n_per_class=n_per_class, n_background=n_background, n_test=n_test, seed=seed, folder=folder
    )


CARD_NONLINEAR = replace(
    CARD,
    studies={
        "principled_goals": "Towards Principled Objectives for Contrastive Disentanglement, table 1",
        "principled_table1": "Towards Principled Objectives for Contrastive Disentanglement, table 1",
        "untuned": "Data that nobody tuned for: contrastive methods with their defaults",
    },
)


@described(CARD_NONLINEAR)
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
    """MNIST digits on photographs of grass against grass alone, combined with a threshold; needs files in a folder.

    A target is x = 1[y > threshold] (rho y + (1 - rho) t), for each pixel and channel separately (Eq. 11). All else is as in
    `grassy_mnist`; with the same seed, digits and patches too.

    Parameters
    ----------
    n_per_class, n_background, n_test, rho, seed, folder
        As in `grassy_mnist`.
    threshold
        Channels of the grass that do not exceed it are black in the target.
    """
    rho, threshold = check_float("rho", rho, 0, 1), check_float("threshold", threshold, 0, 1)
    mix = partial(blend_threshold, rho=rho, threshold=threshold)
    return _grassy(mix, n_per_class=n_per_class, n_background=n_background, n_test=n_test, seed=seed, folder=folder)


def _grassy(mix: Mix, *, n_per_class: int, n_background: int, n_test: int, seed: int, folder: str | Path | None) -> Splits:
    n_per_class, n_background = check_int("n_per_class", n_per_class, 1), check_int("n_background", n_background, 1)
    n_test, seed = check_int("n_test", n_test, 1), check_int("seed", seed, 0)
    root = data_folder(folder)
    mnist = read_mnist(root / "mnist")
    smallest_class = int(np.bincount(mnist["y_train"], minlength=10).min())
    check_int("n_per_class", n_per_class, 1, smallest_class)
    check_int("n_test", n_test, 1, len(mnist["y_test"]))
    photographs = read_photographs(root / "grass")
    shuffled = [photographs[i] for i in np.random.default_rng([seed, 0]).permutation(len(photographs))]
    n_held_out = max(round(TEST_SHARE * len(shuffled)), 1)

    rng = np.random.default_rng([seed, 1])
    grass = crop_squares(rng, shuffled[n_held_out:], n_background, SIZE)
    digits = rng.permutation(
        np.concatenate([rng.permutation(np.flatnonzero(mnist["y_train"] == c))[:n_per_class] for c in range(10)])
    )
    patches = rng.integers(n_background, size=len(digits))
    own = np.arange(n_background)
    train = _contrast(mix, mnist["x_train"], mnist["y_train"], digits, grass, patches, own)

    rng = np.random.default_rng([seed, 2])
    grass = crop_squares(rng, shuffled[:n_held_out], n_test + max(n_test // 2, 1), SIZE)
    digits = np.sort(rng.permutation(len(mnist["y_test"]))[:n_test])
    patches = np.arange(n_test)
    own = np.arange(n_test, len(grass))
    test = _contrast(mix, mnist["x_test"], mnist["y_test"], digits, grass, patches, own, first=n_background)
    return Splits(train, test)


def _contrast(
    mix: Mix, images: Array, classes: Array, digits: Array, grass: Array, patches: Array, background: Array, first: int = 0
) -> Samples:
    """Combine `images[digits]` and `grass[patches]` as target, with labels and measured factors, against `grass[background]`.

    The source of a sample is its patch, numbered from `first`; no digit is used twice.
    """
    names, factors = ("brightness", "greenness"), brightness_and_greenness(grass)
    target = Samples(
        overlay(grass, patches, images, digits, mix),
        labels=classes[digits],
        factors=factors[patches],
        label_names=tuple("0123456789"),
        factor_names=names,
        sources=first + patches,
    )
    own = Samples(grass[background], factors=factors[background], factor_names=names, sources=first + background)
    return Samples.contrast(target=target, background=own)


GRASS = Download(
    name="grass",
    licence="that of the photographs.",
    folder="grass",
    files=(),
    check=list_photographs,
    by_hand="photographs of grass, as .jpg or .png, such as those of github.com/lewisevans2007/OpenImages.",
)
ENTRIES = {load.__name__: DataSet(load, downloads=(MNIST, GRASS)) for load in (grassy_mnist, grassy_mnist_nonlinear)}
