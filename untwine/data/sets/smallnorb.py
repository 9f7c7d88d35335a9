"""SmallNORB: toys of five kinds from any side under six lights; from its public binary files.

A file begins with little-endian 32-bit numbers: a magic number that tells the type, the number of axes, and their lengths (at
least three are written). The values follow, the last axis changing first.
"""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.data.factor_grid import FactorGrid
from untwine.data.location import placed
from untwine.data.splits import Splits
from untwine.registry.checks import check_int
from untwine.samples import SIDES

NAMES = ("category", "instance", "elevation", "azimuth", "lighting")
CATEGORIES = ("animal", "human", "airplane", "truck", "car")
PARTS = ("5x46789x9x18x6x2x96x96-training", "5x01235x9x18x6x2x96x96-testing")
TYPES: dict[int, np.dtype[Any]] = {0x1E3D4C55: np.dtype("u1"), 0x1E3D4C54: np.dtype("<i4")}


CONTENTS = {"": (), "azimuth": ("azimuth",), "pose": ("azimuth", "elevation")}


def smallnorb(
    *,
    held_out: str = "instances",
    content: str = "",
    n_test: int | None = None,
    size: int = 64,
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """SmallNORB, fifty toys of five kinds with their pose and light; needs its files.

    Every combination of 5 categories, 10 instances, 9 elevations, 18 azimuths and 6 lightings is one image of the left
    camera (48,600 images), shrunk from 96 x 96, grey.

    Source: `smallnorb/smallnorb-5x46789x9x18x6x2x96x96-training-dat.mat`, `-cat.mat`, `-info.mat` and the three of
    5x01235x9x18x6x2x96x96-testing, plain or gzipped, of cs.nyu.edu/~ylclab/data/norb-v1.0-small (Y. LeCun, F. J. Huang, L.
    Bottou, 2004; for research only). Checksum: none, as the files were not at hand. Group: none. Label: the category, or as
    `content` says. Factors:
    `category`, `instance`, `elevation` (30 to 70 degrees), `azimuth` (0 to 340 degrees) and `lighting`.

    Parameters
    ----------
    held_out
        What is held out for testing: the "instances" of the files' own testing part (0, 1, 2, 3 and 5), or "images" at
        random.
    content
        What differs within a class, for methods of class and content: "azimuth" makes a class of each toy at each elevation in
        each light (the paper's SmallNorb), "pose" of each toy in each light (SmallNorb-Poses, with held_out="images").
        Without it a class is a category.
    n_test
        How many images are held out at random: a tenth where not given.
    size
        The side of the images in pixels, from 8 to 128.
    seed
        Decides which images are held out.
    folder
        The folder that holds `smallnorb/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    if held_out not in ("images", "instances"):
        raise ValueError(f"held_out expected 'instances' or 'images'; got {held_out!r}.")
    if held_out == "instances" and n_test is not None:
        raise ValueError(f"n_test goes with held_out='images'; got {n_test!r} with held_out='instances'; drop one of them.")
    if content not in CONTENTS:
        raise ValueError(f"content expected 'azimuth', 'pose' or nothing; got {content!r}.")
    seed = check_int("seed", seed, 0)
    grid, testing = _read(size, folder)
    if held_out == "instances":
        splits = grid.apart("instance", testing)
    else:
        splits = grid.split(None, max(1, len(grid) // 10) if n_test is None else n_test, seed)
    return _by_content(splits, CONTENTS[content]) if content else splits


def _by_content(splits: Splits, content: tuple[str, ...]) -> Splits:
    """Make a class of each combination of all other factors."""
    columns = [j for j, name in enumerate(NAMES) if name not in content]
    values, numbers = np.unique(
        np.concatenate([np.asarray(part.factors)[:, columns] for part in splits]), axis=0, return_inverse=True
    )
    names = tuple(", ".join(f"{NAMES[j]} {value:g}" for j, value in zip(columns, row, strict=True)) for row in values)
    labels = np.split(numbers.reshape(-1), [len(splits.train)])
    train, test = (replace(part, labels=own, label_names=names) for part, own in zip(splits, labels, strict=True))
    return Splits(train, test)


def smallnorb_grid(*, size: int = 64, folder: str | Path | None = None) -> FactorGrid:
    """Return all of SmallNORB's left images, addressed by their factors and kept in memory."""
    return _read(size, folder)[0]


def read_matrix(path: Path) -> Array:
    """Read one of SmallNORB's files, plain or gzipped."""
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path} must be a gzipped matrix, but it is damaged ({error}); fetch it again.") from None
    magic, axes = struct.unpack("<Ii", content[:8]) if len(content) >= 8 else (0, 0)
    start = 8 + 4 * max(3, axes)
    if magic not in TYPES or not 1 <= axes <= 4 or len(content) < start:
        raise ValueError(f"{path} must be a matrix of SmallNORB's, but it begins with {content[:8].hex() or 'nothing'}.")
    shape = struct.unpack(f"<{axes}i", content[8 : 8 + 4 * axes])
    kind = TYPES[magic]
    if len(content) != start + math.prod(shape) * kind.itemsize or min(shape) < 1:
        raise ValueError(
            f"{path} expected {math.prod(shape)} values by its own header, but is {len(content)} bytes long; fetch it again."
        )
    return np.frombuffer(content, kind, offset=start).reshape(shape)


def _read(size: int, folder: str | Path | None) -> tuple[FactorGrid, Array]:
    """Return the grid, and which levels of the instance are the files' own testing part."""
    size = check_int("size", size, SIDES[0], SIDES[-1])
    place = placed(folder, "SmallNORB", ("smallnorb", "small_norb"), "cs.nyu.edu/~ylclab/data/norb-v1.0-small")
    images, columns = [], []
    for part in PARTS:
        dat, cat, info = (read_matrix(_path(place, part, kind)) for kind in ("dat", "cat", "info"))
        if dat.ndim != 4 or dat.dtype != np.uint8 or cat.shape != dat.shape[:1] or info.shape != (len(dat), 4):
            raise ValueError(
                f"{place} expected dat (n, 2, 96, 96), cat (n,) and info (n, 4) for {part}, but has {dat.shape}, {cat.shape} "
                f"and {info.shape}; fetch them again."
            )
        images.append(_shrunk(dat[:, 0], size))
        columns.append(np.column_stack([cat, info]))
    features = np.concatenate(columns)
    values = tuple(np.unique(column) for column in features.T)
    levels = [np.searchsorted(column, feature) for column, feature in zip(values, features.T, strict=True)]
    order = np.argsort(np.ravel_multi_index(levels, [len(column) for column in values]), kind="stable")
    if len(order) != math.prod(map(len, values)) or len(np.unique(features, axis=0)) != len(order):
        raise ValueError(f"{place} expected every combination of {', '.join(NAMES)} once, but some are missing or come twice.")
    x = np.concatenate(images)[order][:, None]
    # The files count elevations from 30 degrees in steps of 5, and azimuths by two in steps of 20 degrees.
    category, instance, elevation, azimuth, lighting = (column.astype(np.float64) for column in values)
    units = category, instance, 30 + 5 * elevation, 10 * azimuth, lighting
    grid = FactorGrid(NAMES, units, lambda rows: x[rows], "category", CATEGORIES if len(category) == 5 else ())
    return grid, np.searchsorted(instance, np.unique(columns[1][:, 1]))


def _path(place: Path, part: str, kind: str) -> Path:
    name = f"smallnorb-{part}-{kind}.mat"
    path = next((place / n for n in (name, f"{name}.gz") if (place / n).is_file()), None)
    if path is None:
        raise ValueError(f"SmallNORB was must be in {place}, but {name} (or .gz) is not there; place all six files there.")
    return path


def _shrunk(images: Array, size: int) -> Array:
    from PIL import Image

    if images.shape[1:] == (size, size):
        return images
    return np.stack([np.asarray(Image.fromarray(one).resize((size, size), Image.Resampling.BICUBIC)) for one in images])
