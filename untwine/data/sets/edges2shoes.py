"""Shoes and their outlines, from the public folder of pairs: the class is edges or shoes, the content which shoe."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.location import locate
from untwine.data.options import check_limit, check_size
from untwine.data.readers.image_files import image_paths, read_squares
from untwine.data.remote import GIGABYTE, Download, RemoteFile, require_files
from untwine.data.splits import Splits
from untwine.registry.checks import check_int
from untwine.samples import Samples

DOMAINS = ("edges", "shoes")


CARD = DataCard(
    source="edges2shoes.tar.gz (P. Isola and others, 2017, from the photographs of A. Yu and K. Grauman, 2014), "
    "efrosgans.eecs.berkeley.edu/pix2pix/datasets.",
    licence="research only.",
    size="49,825 training and 200 test pairs of images, 3 x 64 x 64.",
    files="`edges2shoes/train/*.jpg` and `edges2shoes/val/*.jpg`, 49,825 and 200 pairs. Checksum: none, as any subset is "
    "accepted.",
    groups="none.",
    labels="edges or shoes.",
    factors="`shoe`, the number of the pair by name, those of `train/` first.",
    sources="none: the shoe of a pair is the content, the factor `shoe`; no pair is in both splits.",
    papers=("Demystifying Inter-Class Disentanglement",),
)


@described(CARD)
def edges2shoes(
    *,
    n_train: int | None = None,
    n_test: int | None = None,
    size: int = 64,
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """Photographs of shoes and edges extracted from them, as two classes; needs its folder of pairs.

    Every file has the edges at the left and the photograph at the right; they become two images of `size`, RGB, so that the
    ground truth of each translation is known. The archive's own `val/` is held out.

    Parameters
    ----------
    n_train, n_test
        Maximum number of training and test pairs, drawn at random; by default all. All at 64 x 64 are 1.2 GB.
    size
        Side length of the images in pixels, from 8 to 128.
    seed
        Decides which pairs are used where there are more than the maximum.
    folder
        Folder that contains `edges2shoes/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    size, rng = check_size(size), np.random.default_rng(check_int("seed", seed, 0))
    limits = check_limit("n_train", n_train), check_limit("n_test", n_test)
    root = locate(
        folder,
        "Edges2Shoes",
        ("edges2shoes",),
        "efrosgans.eecs.berkeley.edu/pix2pix/datasets/edges2shoes.tar.gz",
        "edges2shoes",
    )
    paths = [image_paths(root / name) if (root / name).is_dir() else [] for name in ("train", "val")]
    if not all(paths):
        raise ValueError(
            f"Edges2Shoes must be in {root} as train/ and val/ with an image for each pair; got {len(paths[0])} and "
            f"{len(paths[1])} images; unpack the whole archive."
        )
    offsets = (0, len(paths[0]))
    train, test = (
        _read(some, offset, np.sort(rng.permutation(len(some))[:limit]), size)
        for some, offset, limit in zip(paths, offsets, limits, strict=True)
    )
    return Splits(train, test)


def _read(paths: list[Path], offset: int, indices: Array, size: int) -> Samples:
    """Read the pairs of a split with these indices; `offset` is the number of its first pair."""
    return Samples(
        read_squares([paths[i] for i in indices], size, halves=True),
        labels=np.tile([0, 1], len(indices)),
        factors=np.repeat(offset + indices, 2)[:, None].astype(np.float64),
        label_names=DOMAINS,
        factor_names=("shoe",),
    )


EDGES2SHOES = Download(
    name="edges2shoes",
    licence=CARD.licence,
    folder="edges2shoes",
    files=(RemoteFile(("https://efrosgans.eecs.berkeley.edu/pix2pix/datasets/edges2shoes.tar.gz",)),),
    check=lambda folder: require_files(folder, {"train/*.jpg": 49_825, "val/*.jpg": 200}),
    within="edges2shoes",
    limits=(60_000, 10 * GIGABYTE),
)
ENTRIES = {"edges2shoes": DataSet(edges2shoes, downloads=(EDGES2SHOES,))}
