"""The 1,797 handwritten digits of 8 x 8 pixels that come with scikit-learn.

Source: the test set of "Optical Recognition of Handwritten Digits", UCI repository (E. Alpaydin and C. Kaynak, 1998). Licence:
CC BY 4.0.
"""

from __future__ import annotations

import numpy as np

from untwine._typing import Array

TRAIN_SHARE = 0.7


def read_digits() -> tuple[Array, Array]:
    """Return the 1,797 digits (n, 8, 8) in [0, 1] and their classes (n,)."""
    from sklearn.datasets import load_digits

    source = load_digits()
    return np.asarray(source.images) / 16, np.asarray(source.target)


def split_digits(classes: Array, seed: int) -> tuple[Array, Array]:
    """Return the indices of the training digits, 70 % of each class, and of the test digits."""
    rng = np.random.default_rng([seed, 0])
    train, test = [], []
    for label in np.unique(classes):
        indices = rng.permutation(np.flatnonzero(classes == label))
        n_train = round(TRAIN_SHARE * len(indices))
        train.append(indices[:n_train])
        test.append(indices[n_train:])
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(test))


def upsample_digits(images: Array, size: int) -> Array:
    """Upsample digits (n, 8, 8) in [0, 1] by bicubic interpolation to (n, size, size), with a margin of a tenth."""
    from PIL import Image

    # Strokes reach the border of the 8 x 8 pixels; a black border of one pixel lets them fade out.
    padded = np.pad(images.astype(np.float32), ((0, 0), (1, 1), (1, 1)))
    large = [Image.fromarray(image).resize((size, size), Image.Resampling.BICUBIC) for image in padded]
    digits: Array = np.clip(np.stack([np.asarray(image) for image in large]), 0, 1)
    return digits
