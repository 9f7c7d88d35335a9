"""Objects of CIFAR-10 with a handwritten digit laid over them, against objects alone.

"Double InfoGAN for contrastive analysis", section 5. Letters: y an object, t a digit, both in [0, 1].

The paper does not say how a digit is laid over an object. Here its ink is white and opaque: x = y + t (1 - y).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.images.blending import overlay
from untwine.data.location import data_folder
from untwine.data.readers.cifar10 import SIDE, read_cifar10
from untwine.data.readers.mnist import read_mnist
from untwine.data.splits import Splits
from untwine.registry.checks import check_int
from untwine.samples import SIDES, Samples


def cifar_mnist(
    *,
    n_target: int = 25_000,
    n_background: int = 25_000,
    n_test: int = 10_000,
    size: int = 32,
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """Objects of CIFAR-10 with an MNIST digit laid over them, against objects alone; needs files in a folder.

    Target and background have no object in common, and each object comes once. Digits of all classes are equally many, up to
    one, and come again where MNIST has fewer. For testing: objects and digits of both sets' own test parts, all of them with a
    digit and half as many of them again without. RGB.

    Source: CIFAR-10 from `cifar10/`, see `readers.cifar10`; MNIST (Y. LeCun, C. Cortes, C. Burges; CC BY-SA 3.0) from
    `mnist/`. Checksum: SHA-256 of the arrays of both, in the `cifar10` and `mnist` readers. Group: 0 an object,
    1 with a digit over it. Label: the digit, unknown without one. Factor: `object`, CIFAR-10's class from 0 to 9, of the
    common part.

    Parameters
    ----------
    n_target, n_background
        How many objects to train on with a digit and without, together at most 50,000.
    n_test
        How many with a digit to test on, at most 10,000; half as many without come with them.
    size
        The side in pixels, from 8 to 128; 32 is CIFAR-10's own, and 64 the paper's.
    seed
        Decides which objects and digits are used, and which meet.
    folder
        The folder that holds `cifar10/` and `mnist/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    n_target, n_background = check_int("n_target", n_target, 1), check_int("n_background", n_background, 1)
    size, seed, n_test = (
        check_int("size", size, SIDES[0], SIDES[-1]),
        check_int("seed", seed, 0),
        check_int("n_test", n_test, 2),
    )
    cifar, mnist = read_cifar10(folder), read_mnist(data_folder(folder) / "mnist")
    check_int("n_target + n_background", n_target + n_background, 2, len(cifar["y_train"]))
    check_int("n_test", n_test, 2, len(cifar["y_test"]))
    chance = np.random.default_rng([seed, 0])
    rows = chance.permutation(len(cifar["y_train"]))[: n_target + n_background]
    train = _contrast(cifar, mnist, "train", rows[:n_target], rows[n_target:], size, chance)
    chance = np.random.default_rng([seed, 1])
    rows = chance.permutation(len(cifar["y_test"]))[:n_test]
    test = _contrast(cifar, mnist, "test", rows, chance.permutation(rows)[: n_test // 2], size, chance)
    return Splits(train, test)


def _contrast(
    cifar: dict[str, Array],
    mnist: dict[str, Array],
    part: str,
    target: Array,
    background: Array,
    size: int,
    chance: np.random.Generator,
) -> Samples:
    objects, classes = cifar[f"x_{part}"], cifar[f"y_{part}"]
    digits = np.pad(mnist[f"x_{part}"], ((0, 0), (2, 2), (2, 2)))
    chosen = balanced(mnist[f"y_{part}"], len(target), chance)
    over = overlay(objects, target, digits, chosen, lambda y, t: y + t[:, None] * (1 - y))
    with_digit = Samples(
        sized(over, size),
        labels=mnist[f"y_{part}"][chosen],
        factors=classes[target, None].astype(float),
        label_names=tuple("0123456789"),
        factor_names=("object",),
    )
    alone = Samples(sized(objects[background], size), factors=classes[background, None].astype(float), factor_names=("object",))
    return Samples.contrast(target=with_digit, background=alone)


def balanced(classes: Array, n: int, chance: np.random.Generator) -> Array:
    """Return n rows in random order, equally many of each class up to one; those of a class come again when all were used."""
    names = np.unique(classes)
    counts = np.full(len(names), n // len(names))
    counts[chance.permutation(len(names))[: n % len(names)]] += 1
    rows = [np.resize(chance.permutation(np.flatnonzero(classes == c)), k) for c, k in zip(names, counts, strict=True)]
    return chance.permutation(np.concatenate(rows))


def sized(images: Array, size: int) -> Array:
    """Bring uint8 images (n, 3, 32, 32) to another side."""
    if size == SIDE:
        return images
    from PIL import Image

    last = np.ascontiguousarray(np.moveaxis(images, 1, -1))
    drawn = [np.asarray(Image.fromarray(one).resize((size, size), Image.Resampling.BICUBIC)) for one in last]
    return np.ascontiguousarray(np.moveaxis(np.stack(drawn), -1, 1))
