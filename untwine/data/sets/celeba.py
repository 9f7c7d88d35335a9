"""CelebA's faces with their forty attributes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.readers.celeba import TEST, read_celeba
from untwine.data.splits import Splits
from untwine.registry.checks import check_float, check_int
from untwine.samples import SIDES, Samples


def celeba(
    *,
    size: int = 64,
    n_train: int | None = None,
    n_test: int | None = None,
    test: float = 0.1,
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """CelebA's faces with their forty attributes; needs its files in a folder.

    Each image is the central square of an aligned face, brought to `size`, RGB. Where CelebA's own partition is there, its
    test part is held out; otherwise a share of the faces is, at random, and one person may be in both parts.

    Source, licence and checksum: as in `celeba_accessories`. Group: none. Label: none. Factors: CelebA's attributes under its
    own names, `5_o_Clock_Shadow` to `Young`, 0 or 1.

    Parameters
    ----------
    size
        The side of the images in pixels, from 8 to 128.
    n_train, n_test
        At most how many faces to train and to test on, drawn by the seed; all where not given. All of CelebA at 64 x 64 is 2.5
        GB.
    test
        Which share of the faces is held out; CelebA's own partition, where it is there, decides instead.
    seed
        Decides which faces are held out, and which are used where there are more than asked for.
    folder
        The folder that holds `celeba/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    size, seed, test = (
        check_int("size", size, SIDES[0], SIDES[-1]),
        check_int("seed", seed, 0),
        check_float("test", test, 0.01, 0.9),
    )
    n_train = None if n_train is None else check_int("n_train", n_train, 1)
    n_test = None if n_test is None else check_int("n_test", n_test, 1)
    faces = read_celeba(folder)
    rows = np.random.default_rng(seed).permutation(len(faces.attributes))
    many = max(1, round(test * len(rows)))
    held_out, others = (rows[:many], rows[many:])
    if faces.partition is not None:
        held_out, others = rows[faces.partition[rows] == TEST], rows[faces.partition[rows] != TEST]
    if not len(held_out) or not len(others):
        raise ValueError(
            f"{faces.source} expected faces for training and for testing, but has only one kind; use more of CelebA."
        )

    def part(rows: Array) -> Samples:
        factors = faces.attributes[rows].astype(np.float64)
        return Samples(faces.images(rows, size), factors=factors, factor_names=faces.attribute_names)

    return Splits(part(np.sort(others[:n_train])), part(np.sort(held_out[:n_test])))
