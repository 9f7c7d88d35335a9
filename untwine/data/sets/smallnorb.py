"""SmallNORB: toys of five categories in many poses under six lightings; from its public binary files.

A file begins with little-endian 32-bit integers: a magic number that encodes the type, the number of axes, and their lengths
(at least three are written). The values follow in C order.
"""

from __future__ import annotations

import math
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.factor_grid import FactorGrid
from untwine.data.images.resizing import resize
from untwine.data.location import locate
from untwine.data.options import check_size
from untwine.data.readers.gzipped import read_bytes
from untwine.data.remote import Download, RemoteFile
from untwine.data.splits import Splits
from untwine.registry.checks import check_choice, check_int
from untwine.samples import Samples

NAMES = ("category", "instance", "elevation", "azimuth", "lighting")
CATEGORIES = ("animal", "human", "airplane", "truck", "car")
SPLITS = ("5x46789x9x18x6x2x96x96-training", "5x01235x9x18x6x2x96x96-testing")
TYPES: dict[int, np.dtype[Any]] = {0x1E3D4C55: np.dtype("u1"), 0x1E3D4C54: np.dtype("<i4")}
KINDS = ("dat", "cat", "info")
CONTENTS = {"": (), "azimuth": ("azimuth",), "pose": ("azimuth", "elevation")}


CARD = DataCard(
    source="cs.nyu.edu/~ylclab/data/norb-v1.0-small (Y. LeCun, F. J. Huang, L. Bottou, 2004).",
    licence="research only.",
    size="24,300 training and 24,300 test images of 50 toys, 1 x 64 x 64.",
    files="`smallnorb/smallnorb-5x46789x9x18x6x2x96x96-training-dat.mat`, `-cat.mat`, `-info.mat` and the three of "
    "5x01235x9x18x6x2x96x96-testing, plain or gzipped. Checksum: none, as the files were not available.",
    groups="none.",
    labels="the category, or as `content` says.",
    factors="`category`, `instance`, `elevation` (30 to 70 degrees), `azimuth` (0 to 340 degrees) and `lighting`.",
    sources="the toy, where the class is its category and toys are held out; else none.",
    studies={
        "lord_table1": "Demystifying Inter-Class Disentanglement, table 1",
        "lord_table2": "Demystifying Inter-Class Disentanglement, table 2",
    },
)


@described(CARD)
def smallnorb(
    *,
    held_out: str = "instances",
    content: str = "",
    n_test: int | None = None,
    size: int = 64,
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """SmallNORB, fifty toys of five categories with pose and lighting; needs its files.

    Every combination of 5 categories, 10 instances, 9 elevations, 18 azimuths and 6 lightings is one image of the left
    camera (48,600 images), resized from 96 x 96, grey.

    Parameters
    ----------
    held_out
        What is held out for testing: the "instances" of the files' own test split (0, 1, 2, 3 and 5), or "images" at random.
    content
        What varies within a class, for methods of class and content: "azimuth" makes a class of each toy at each elevation in
        each lighting (the paper's SmallNorb), "pose" of each toy in each lighting (SmallNorb-Poses, with held_out="images").
        By default a class is a category.
    n_test
        Number of images to hold out at random: by default a tenth.
    size
        Side length of the images in pixels, from 8 to 128.
    seed
        Decides which images are held out.
    folder
        Folder that contains `smallnorb/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    check_choice("held_out", held_out, ("instances", "images"))
    if held_out == "instances" and n_test is not None:
        raise ValueError(f"n_test applies to held_out='images'; got {n_test!r} with held_out='instances'; drop one of them.")
    check_choice("content", content, CONTENTS)
    seed = check_int("seed", seed, 0)
    grid, test_instances = _read(size, folder)
    by_instance = held_out == "instances"
    splits = grid.hold_out_levels("instance", test_instances) if by_instance else grid.hold_out(n_test, seed)
    if content:
        return _relabel(splits, CONTENTS[content])
    return Splits(*map(_with_toys, splits)) if by_instance else splits


def _with_toys(split: Samples) -> Samples:
    """Return samples with the toy as source."""
    category, instance = np.asarray(split.factors)[:, :2].astype(np.int64).T
    return replace(split, sources=100 * category + instance)


@described(
    replace(
        CARD,
        size="43,740 training and 4,860 test images of 300 classes, 1 x 64 x 64.",
        labels="the toy and the lighting.",
        sources="none: the class is the source.",
        studies={"lord_table1": CARD.studies["lord_table1"]},
    )
)
def smallnorb_poses(*, n_test: int | None = None, size: int = 64, seed: int = 0, folder: str | Path | None = None) -> Splits:
    """SmallNorb-Poses, a class for each of fifty toys in each of six lightings, images held out; needs SmallNORB's files.

    The images of `smallnorb`, as used in "Demystifying inter-class disentanglement" (appendix A.2): pose is the content, all
    classes are in both splits.

    Parameters
    ----------
    n_test
        Number of images to hold out at random: by default a tenth.
    size
        Side length of the images in pixels, from 8 to 128.
    seed
        Decides which images are held out.
    folder
        Folder that contains `smallnorb/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    return smallnorb(held_out="images", content="pose", n_test=n_test, size=size, seed=seed, folder=folder)


def _relabel(splits: Splits, content: tuple[str, ...]) -> Splits:
    """Make a class of each combination of all factors that are not content."""
    columns = [j for j, name in enumerate(NAMES) if name not in content]
    values, numbers = np.unique(
        np.concatenate([np.asarray(split.factors)[:, columns] for split in splits]), axis=0, return_inverse=True
    )
    names = tuple(", ".join(f"{NAMES[j]} {value:g}" for j, value in zip(columns, row, strict=True)) for row in values)
    labels = np.split(numbers.reshape(-1), [len(splits.train)])
    train, test = (replace(split, labels=own, label_names=names) for split, own in zip(splits, labels, strict=True))
    return Splits(train, test)


def smallnorb_grid(*, size: int = 64, folder: str | Path | None = None) -> FactorGrid:
    """Return all left images of SmallNORB as a grid of their factors, in memory."""
    return _read(size, folder)[0]


def read_matrix(path: Path) -> Array:
    """Read one of SmallNORB's files, plain or gzipped."""
    content = read_bytes(path, "a matrix of SmallNORB")
    magic, axes = struct.unpack("<Ii", content[:8]) if len(content) >= 8 else (0, 0)
    start = 8 + 4 * max(3, axes)
    if magic not in TYPES or not 1 <= axes <= 4 or len(content) < start:
        raise ValueError(
            f"{path} must be a matrix of SmallNORB; it begins with {content[:8].hex() or 'nothing'}; download it again."
        )
    shape = struct.unpack(f"<{axes}i", content[8 : 8 + 4 * axes])
    dtype = TYPES[magic]
    if len(content) != start + math.prod(shape) * dtype.itemsize or min(shape) < 1:
        raise ValueError(
            f"{path} must have {math.prod(shape)} values by its header; got {len(content)} bytes in all; download it again."
        )
    return np.frombuffer(content, dtype, offset=start).reshape(shape)


def _read(size: int, folder: str | Path | None) -> tuple[FactorGrid, Array]:
    """Return the grid, and the levels of the instance that are in the files' own test split."""
    size = check_size(size)
    source = "the six files of cs.nyu.edu/~ylclab/data/norb-v1.0-small"
    root = locate(folder, "SmallNORB", ("smallnorb", "small_norb"), source, "smallnorb")
    images, factors_of_splits = [], []
    for split in SPLITS:
        dat, cat, info = (read_matrix(_find(root, split, kind)) for kind in KINDS)
        if dat.ndim != 4 or dat.dtype != np.uint8 or cat.shape != dat.shape[:1] or info.shape != (len(dat), 4):
            raise ValueError(
                f"{root} must hold dat (n, 2, 96, 96), cat (n,) and info (n, 4) for {split}; got {dat.shape}, {cat.shape} "
                f"and {info.shape}; download them again."
            )
        left = dat[:, 0]
        images.append(left if left.shape[1:] == (size, size) else resize(left, size))
        factors_of_splits.append(np.column_stack([cat, info]))
    factors = np.concatenate(factors_of_splits)
    values = tuple(np.unique(column) for column in factors.T)
    levels = [np.searchsorted(column, factor) for column, factor in zip(values, factors.T, strict=True)]
    order = np.argsort(np.ravel_multi_index(levels, [len(column) for column in values]), kind="stable")
    if len(order) != math.prod(map(len, values)) or len(np.unique(factors, axis=0)) != len(order):
        raise ValueError(
            f"{root} must hold every combination of {', '.join(NAMES)} once; some are missing or repeated; download it again."
        )
    x = np.concatenate(images)[order][:, None]
    # The files count elevations from 30 degrees in steps of 5, and azimuths by two in steps of 20 degrees.
    category, instance, elevation, azimuth, lighting = (column.astype(np.float64) for column in values)
    units = category, instance, 30 + 5 * elevation, 10 * azimuth, lighting
    grid = FactorGrid(NAMES, units, lambda indices: x[indices], "category", CATEGORIES if len(category) == 5 else ())
    return grid, np.searchsorted(instance, np.unique(factors_of_splits[1][:, 1]))


def _find(root: Path, split: str, kind: str) -> Path:
    name = f"smallnorb-{split}-{kind}.mat"
    path = next((root / n for n in (name, f"{name}.gz") if (root / n).is_file()), None)
    if path is None:
        raise ValueError(f"SmallNORB must be in {root} as six files; {name} (or .gz) not found; place all six there.")
    return path


SMALLNORB = Download(
    name="smallnorb",
    licence=CARD.licence,
    folder="smallnorb",
    files=tuple(
        RemoteFile((f"https://cs.nyu.edu/~ylclab/data/norb-v1.0-small/smallnorb-{split}-{kind}.mat.gz",))
        for split in SPLITS
        for kind in KINDS
    ),
    check=lambda folder: [read_matrix(_find(folder, split, kind)) for split in SPLITS for kind in KINDS],
)
ENTRIES = {
    "smallnorb": DataSet(smallnorb, grid=smallnorb_grid, downloads=(SMALLNORB,)),
    "smallnorb_poses": DataSet(smallnorb_poses, downloads=(SMALLNORB,)),
}
