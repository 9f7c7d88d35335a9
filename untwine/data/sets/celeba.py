"""CelebA's faces with their forty attributes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import described
from untwine.data.data_set import DataSet
from untwine.data.options import check_limit, check_size, check_test_share
from untwine.data.readers.celeba import TEST, read_celeba
from untwine.data.sets.celeba_accessories import CARD as ACCESSORIES
from untwine.data.splits import Splits
from untwine.registry.checks import check_int
from untwine.samples import Samples

CARD = replace(
    ACCESSORIES,
    size="all images of the files, 3 x 64 x 64.",
    groups="none.",
    labels="none.",
    factors="CelebA's attributes under its own names, `5_o_Clock_Shadow` to `Young`, 0 or 1.",
    sources="none: people are not told apart; see `celeba_identity`.",
    studies={
        "dip_figure2": "Variational Inference of Disentangled Latent Concepts from Unlabeled Observations, figure 2",
        "dip_table1": "Variational Inference of Disentangled Latent Concepts from Unlabeled Observations, table 1",
        "dip_table2": "Variational Inference of Disentangled Latent Concepts from Unlabeled Observations, table 2",
        "dip_z_diff": "Variational Inference of Disentangled Latent Concepts from Unlabeled Observations, table 1",
    },
)


@described(CARD)
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

    Each image is the central square of an aligned face, resized to `size`, RGB. If CelebA's own partition is available, its
    test split is held out; otherwise a random share of the faces is, and a person may be in both splits.

    Parameters
    ----------
    size
        Side length of the images in pixels, from 8 to 128.
    n_train, n_test
        Maximum number of training and test faces, drawn at random; by default all. All of CelebA at 64 x 64 is 2.5 GB.
    test
        Share of the faces that is held out, if CelebA's own partition is not available.
    seed
        Decides which faces are held out, and which are used where there are more than `n_train` or `n_test`.
    folder
        Folder that contains `celeba/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    size, seed, test = check_size(size), check_int("seed", seed, 0), check_test_share(test)
    n_train, n_test = check_limit("n_train", n_train), check_limit("n_test", n_test)
    faces = read_celeba(folder)
    order = np.random.default_rng(seed).permutation(len(faces.attributes))
    n_held_out = max(1, round(test * len(order)))
    held_out, others = order[:n_held_out], order[n_held_out:]
    if faces.partition is not None:
        held_out, others = order[faces.partition[order] == TEST], order[faces.partition[order] != TEST]
    if not len(held_out) or not len(others):
        raise ValueError(
            f"{faces.source} must list training and test faces; got {len(others)} and {len(held_out)}; use more of CelebA."
        )

    def samples(indices: Array) -> Samples:
        factors = faces.attributes[indices].astype(np.float64)
        return Samples(faces.images(indices, size), factors=factors, factor_names=faces.attribute_names)

    return Splits(samples(np.sort(others[:n_train])), samples(np.sort(held_out[:n_test])))


ENTRIES = {"celeba": DataSet(celeba)}
