"""Objects of CIFAR-10 with a handwritten digit over them, against objects alone.

"Double InfoGAN for contrastive analysis", section 5. Letters: y an object, t a digit, both in [0, 1].

The paper does not say how a digit is combined with an object. With `mix="opaque"` its ink is white and opaque:
x = y + t (1 - y). With `mix="authors"`, as in the authors' public code, x = y / 2 + t / 2 with the digit resized to the side of
the object, and objects alone are y / 2 too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.images.blending import blend, overlay, to_bytes
from untwine.data.images.resizing import channels_first, resize
from untwine.data.location import data_folder
from untwine.data.options import check_size
from untwine.data.readers.cifar10 import CIFAR10, SIDE, read_cifar10
from untwine.data.readers.mnist import MNIST, read_mnist
from untwine.data.sampling import sample_balanced
from untwine.data.sources import linked_sources
from untwine.data.splits import Splits
from untwine.registry.checks import check_choice, check_int
from untwine.samples import Samples, unit_range

MIXES = ("opaque", "authors")


CARD = DataCard(
    source="CIFAR-10 (A. Krizhevsky, 2009) and MNIST (Y. LeCun, C. Cortes, C. Burges).",
    licence="none is stated for CIFAR-10; CC BY-SA 3.0 for MNIST.",
    size="25,000 training images of each group, 3 x 32 x 32; 10,000 and 5,000 for testing.",
    files="`cifar10/`, see `untwine.data.readers.cifar10`, and `mnist/`, see `grassy_mnist`. Checksum: SHA-256 of the "
    "arrays of both, in the `cifar10` and `mnist` readers.",
    groups="0 an object, 1 with a digit over it.",
    labels="the digit, unknown without one.",
    factors="`object`, CIFAR-10's class from 0 to 9, common.",
    sources="the object and the digit; samples that share either, or are linked by others that do, are one source.",
    studies={
        "infogan_goals": "Double InfoGAN for Contrastive Analysis, table 2",
        "infogan_search": "Double InfoGAN for Contrastive Analysis, table 2",
        "infogan_table2": "Double InfoGAN for Contrastive Analysis, tables 2 and 8",
        "infogan_table3": "Double InfoGAN for Contrastive Analysis, table 3",
    },
)


@described(CARD)
def cifar_mnist(
    *,
    n_target: int = 25_000,
    n_background: int = 25_000,
    n_test: int = 10_000,
    size: int = 32,
    mix: Literal["opaque", "authors"] = "opaque",
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """Objects of CIFAR-10 with an MNIST digit over them, against objects alone; needs files in a folder.

    Target and background share no object, and no object is repeated. Counts of digit classes differ by at most one; digits are
    repeated where MNIST has fewer. The test split has objects and digits of both test sets: all its objects with a digit, and
    half of them again without. RGB.

    Parameters
    ----------
    n_target, n_background
        Number of training objects with a digit and without, together at most 50,000.
    n_test
        Number of test objects with a digit, at most 10,000; half as many without are added.
    size
        Side length in pixels, from 8 to 128; 32 is CIFAR-10's own, and 64 the paper's.
    mix
        How a digit is combined with an object: `opaque`, white ink over it, or `authors`, half of each, and objects alone at
        half their brightness, as in the authors' code.
    seed
        Decides which objects and digits are used, and how they are paired.
    folder
        Folder that contains `cifar10/` and `mnist/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    n_target, n_background = check_int("n_target", n_target, 1), check_int("n_background", n_background, 1)
    size, seed, n_test = check_size(size), check_int("seed", seed, 0), check_int("n_test", n_test, 2)
    check_choice("mix", mix, MIXES)
    cifar, mnist = read_cifar10(folder), read_mnist(data_folder(folder) / "mnist")
    check_int("n_target + n_background", n_target + n_background, 2, len(cifar["y_train"]))
    check_int("n_test", n_test, 2, len(cifar["y_test"]))
    rng = np.random.default_rng([seed, 0])
    objects = rng.permutation(len(cifar["y_train"]))[: n_target + n_background]
    train = _contrast(cifar, mnist, "train", objects[:n_target], objects[n_target:], size, mix, rng)
    rng = np.random.default_rng([seed, 1])
    objects = rng.permutation(len(cifar["y_test"]))[:n_test]
    test = _contrast(cifar, mnist, "test", objects, rng.permutation(objects)[: n_test // 2], size, mix, rng)
    return Splits(train, test)


def _contrast(
    cifar: dict[str, Array],
    mnist: dict[str, Array],
    split: str,
    target: Array,
    background: Array,
    size: int,
    mix: str,
    rng: np.random.Generator,
) -> Samples:
    """Return the objects with indices `target` with a digit each, and those with indices `background` without."""
    objects, classes = cifar[f"x_{split}"], cifar[f"y_{split}"]
    digit_indices = sample_balanced(rng, mnist[f"y_{split}"], len(target))
    if mix == "opaque":
        digits = np.pad(mnist[f"x_{split}"], ((0, 0), (2, 2), (2, 2)))
        with_digit = overlay(objects, target, digits, digit_indices, lambda y, t: y + t[:, None] * (1 - y))
        alone = objects[background]
    else:
        used, place = np.unique(digit_indices, return_inverse=True)
        with_digit = overlay(objects, target, resize(mnist[f"x_{split}"][used], SIDE), place, blend)
        alone = to_bytes(unit_range(objects[background]) / 2)
    both = np.concatenate([target, background])
    sources = linked_sources(both, np.concatenate([digit_indices, np.full(len(background), -1)]))
    sources += len(cifar["y_train"]) if split == "test" else 0  # those of the splits are different
    return Samples.contrast(
        target=Samples(
            _resize(with_digit, size),
            labels=mnist[f"y_{split}"][digit_indices],
            factors=classes[target, None].astype(float),
            label_names=tuple("0123456789"),
            factor_names=("object",),
            sources=sources[: len(target)],
        ),
        background=Samples(
            _resize(alone, size),
            factors=classes[background, None].astype(float),
            factor_names=("object",),
            sources=sources[len(target) :],
        ),
    )


def _resize(images: Array, size: int) -> Array:
    """Resize uint8 images (n, 3, 32, 32)."""
    return images if size == SIDE else channels_first(resize(np.ascontiguousarray(np.moveaxis(images, 1, -1)), size))


ENTRIES = {"cifar_mnist": DataSet(cifar_mnist, downloads=(CIFAR10, MNIST))}
