"""Shoes and their outlines, from the public folder of pairs: the class is which of both it is, the content which shoe."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.location import placed
from untwine.data.readers.image_files import image_paths, read_squares
from untwine.data.splits import Splits
from untwine.registry.checks import check_int
from untwine.samples import SIDES, Samples

DOMAINS = ("edges", "shoes")


def edges2shoes(
    *,
    n_train: int | None = None,
    n_test: int | None = None,
    size: int = 64,
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """Photographs of shoes and outlines drawn from them, as two classes; needs its folder of pairs.

    Every file holds the outline at the left and the photograph at the right; they become two images of `size`, RGB, so the
    truth of each translation is known. The archive's own `val/` is held out.

    Source: `edges2shoes/train/*.jpg` and `edges2shoes/val/*.jpg` of edges2shoes.tar.gz (P. Isola and others, 2017, from the
    photographs of A. Yu and K. Grauman, 2014; for research), 49,825 and 200 pairs. Checksum: none, as any part of it will do.
    Group: none. Label: edges or shoes. Factor: `shoe`, the number of the pair by name, those of `train/` first.

    Parameters
    ----------
    n_train, n_test
        At most how many pairs to train and to test on, drawn by the seed; all where not given. All at 64 x 64 are 1.2 GB.
    size
        The side of the images in pixels, from 8 to 128.
    seed
        Decides which pairs are used where there are more than asked for.
    folder
        The folder that holds `edges2shoes/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    size, chance = check_int("size", size, SIDES[0], SIDES[-1]), np.random.default_rng(check_int("seed", seed, 0))
    most = [None if many is None else check_int(name, many, 1) for name, many in (("n_train", n_train), ("n_test", n_test))]
    place = placed(folder, "Edges2Shoes", ("edges2shoes",), "efrosgans.eecs.berkeley.edu/pix2pix/datasets/edges2shoes.tar.gz")
    paths = [image_paths(place / part) if (place / part).is_dir() else [] for part in ("train", "val")]
    if not all(paths):
        raise ValueError(
            f"Edges2Shoes was must be in {place} as train/ and val/ with an image for each pair, but they hold "
            f"{len(paths[0])} and {len(paths[1])}; unpack the whole archive."
        )
    firsts = (0, len(paths[0]))
    train, test = (
        _read(some, first, np.sort(chance.permutation(len(some))[:many]), size)
        for some, first, many in zip(paths, firsts, most, strict=True)
    )
    return Splits(train, test)


def _read(paths: list[Path], first: int, rows: Array, size: int) -> Samples:
    """Read some pairs of a part whose first pair has a number."""
    return Samples(
        read_squares([paths[row] for row in rows], size, halves=True),
        labels=np.tile([0, 1], len(rows)),
        factors=np.repeat(first + rows, 2)[:, None].astype(np.float64),
        label_names=DOMAINS,
        factor_names=("shoe",),
    )
